"""Intervals beside the outcomes."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.reports.analysis._coverage import bands, bands_of_quantiles
from normalhedge.reports.analysis._review import review


def example(rows: int = 400) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a blend of shuffled rows, its forecasts, and the outcomes."""
    rng = np.random.default_rng(0)
    order = rng.permutation(rows)
    y = rng.normal(size=rows)
    table = pa.table({"t": order, "y": y, "a": y + rng.normal(size=rows), "b": np.zeros(rows)})
    result = blend(table, "y", time="t")
    return result, result.frame["blend"].to_numpy(), y


def test_coverage_width_and_score_beside_a_loop() -> None:
    result, x, y = example()
    rng = np.random.default_rng(1)
    half = {0.5: rng.uniform(0.1, 1.0, len(x)), 0.9: rng.uniform(1.0, 3.0, len(x))}
    lower, upper = ({c: x + s * h for c, h in half.items()} for s in (-1.0, 1.0))
    lower[0.5][7] = np.nan  # no interval here
    got = review(result, lower=lower, upper=upper).coverage
    assert got is not None
    kept = [k for k in range(len(x)) if k != 7]
    assert got.rows == len(kept)
    score = 0.0
    for k in kept:
        total = 0.5 * abs(y[k] - x[k])
        for c, h in half.items():
            a, low, high = 1.0 - c, x[k] - h[k], x[k] + h[k]
            missed = max(low - y[k], 0.0) + max(y[k] - high, 0.0)
            total += a / 2 * (high - low + 2 / a * missed)
        score += total / 2.5
    assert got.wis == pytest.approx(score / len(kept))
    for i, (c, h) in enumerate(half.items()):
        inside = [abs(y[k] - x[k]) <= h[k] for k in kept]
        assert got.levels[i] == c
        assert got.covered[i] == pytest.approx(np.mean(inside))
        assert got.width[i] == pytest.approx(2 * h[kept].mean())
    np.testing.assert_allclose(got.quantiles, [0.05, 0.25, 0.75, 0.95])
    below = [np.mean([y[k] <= x[k] + s * half[c][k] for k in kept])
             for c, s in ((0.9, -1), (0.5, -1), (0.5, 1), (0.9, 1))]  # fmt: skip
    np.testing.assert_allclose(got.below, below)
    np.testing.assert_allclose(got.covered_in.mean(axis=1), got.covered, atol=0.01)
    assert (np.diff(got.times) > 0).all()  # in the order of time, not of rows


def test_intervals_in_the_frame_are_found() -> None:
    result, x, _ = example()
    assert review(result).coverage is None
    for name, values in (("blend-lo-90", x - 1.0), ("blend-hi-90", x + 1.0), ("blend-lo-50", x)):
        result.frame = result.frame.append_column(name, pa.array(values))
    got = review(result).coverage
    assert got is not None
    assert got.levels.tolist() == [0.9]  # the other one has no upper end
    assert got.width[0] == pytest.approx(2.0)
    assert review(result).tracks[0].last.bands is not None


def test_intervals_that_do_not_fit() -> None:
    result, x, _ = example()
    with pytest.raises(ValueError, match="same levels"):
        review(result, lower={0.9: x}, upper={0.8: x})
    with pytest.raises(ValueError, match="between 0 and 1"):
        review(result, lower={90: x}, upper={90: x})
    with pytest.raises(ValueError, match="one number for each of the 400 rows"):
        review(result, lower={0.9: x[1:]}, upper={0.9: x})


def test_quantiles_of_opposite_levels_are_intervals() -> None:
    levels = np.array([0.9, 0.025, 0.5, 0.1, 0.975, 0.3])
    found = bands_of_quantiles(np.arange(12.0).reshape(2, 6), levels)
    assert found is not None
    np.testing.assert_allclose(found.levels, [0.8, 0.95])
    np.testing.assert_allclose(found.lower, [[3.0, 9.0], [1.0, 7.0]])
    np.testing.assert_allclose(found.upper, [[0.0, 6.0], [4.0, 10.0]])
    assert bands_of_quantiles(np.zeros((2, 1)), np.array([0.5])) is None


def test_infinite_intervals_are_no_intervals() -> None:
    lower, upper = {0.5: [-np.inf, 0.0, 1.0], 0.9: [-np.inf, -1.0, 0.0]}, {
        0.5: [np.inf, 1.0, 2.0], 0.9: [np.inf, 2.0, np.inf],
    }  # fmt: skip
    found = bands(lower, upper, 3)
    assert found is not None
    np.testing.assert_array_equal(found.lower, [[np.nan, 0.0, np.nan], [np.nan, -1.0, np.nan]])
    np.testing.assert_array_equal(found.upper, [[np.nan, 1.0, np.nan], [np.nan, 2.0, np.nan]])
