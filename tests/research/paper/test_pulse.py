"""Tracking a pulse: hedged paths beside particle filters."""

import numpy as np
import pytest

from normalhedge.research.paper._part import QUICK
from normalhedge.research.paper._pulse import (
    SETTINGS,
    TRACKERS,
    draw,
    errors,
    in_window,
    measure,
    section,
)


def medians(sigma: float, outliers: float, runs: int) -> dict[str, float]:
    found = [errors(sigma, outliers, np.random.default_rng(seed)) for seed in range(runs)]
    return dict(zip(TRACKERS, np.median(found, axis=0).tolist(), strict=True))


def test_outliers_mislead_the_particles_and_not_the_hedger() -> None:
    found = medians(8.0, 0.01, 6)
    assert found["hedged paths"] < 40.0
    assert found["hedged paths"] < found["particles"] / 1.3


def test_with_good_noise_both_are_good() -> None:
    found = medians(1.0, 0.0, 4)
    assert max(found.values()) < 10.0


def test_pulses_stay_on_the_line_and_windows_count_pixels() -> None:
    places, seen = draw(0.001, 0.0, np.random.default_rng(1))
    assert np.abs(places).max() <= 450
    paths = np.column_stack([places[:3], np.zeros(3)])
    total, count = in_window(paths, seen[0])
    assert count.tolist() == [101.0 if x == int(x) else count[k] for k, x in enumerate(places[:3])]
    assert total[0] == pytest.approx(seen[0].sum(), abs=0.2)
    outside = np.array([[2000.0, 0.0]])
    assert in_window(outside, seen[0])[1].tolist() == [0.0]


FROZEN = [767.9092120422142, 157.76230535886054, 223.49102422767058]
"""Errors on the first sequence, before trackers had linear dynamics."""


def test_the_numbers_of_the_experiment_stay() -> None:
    found = errors(8.0, 0.01, np.random.default_rng(0))
    assert found == pytest.approx(FROZEN, rel=1e-9)


def test_the_table_has_a_row_for_each_noise() -> None:
    assert len(section(measure(QUICK)).rows) == len(SETTINGS) == 4
