"""The numbers of a summary: components, weights and classes."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures import LOSSES
from normalhedge.mixtures.rules import Automatic, levels_of
from normalhedge.mixtures.summaries import component_names
from normalhedge.mixtures.summaries._summarising import (
    component_weights,
    expert_weights,
)
from normalhedge.tables import _blending
from normalhedge.tables._playing import play_table
from tests.mixtures.summary_examples import NAMES, numbers, table_of
from tests.rules import either


@either
def test_a_summary_of_rounds_of_other_classes(hedger: str | None) -> None:
    mixture = Mixture(hedger, "log")
    for said in ([0.5, 0.5], [0.2, 0.3, 0.5], None, [0.1, 0.1, 0.8]):
        made = mixture.predict({"a": said, "b": said})
        mixture.update(made.ticket, 1)
    assert mixture.summary().convex_rows == 2
    silent = Mixture(hedger, "log")
    silent.update(silent.predict({"a": None, "b": None}).ticket, 1)
    assert silent.summary().convex_rows == 0


@pytest.mark.parametrize("series", [1, 3])
def test_components_are_those_of_the_rounds(series: int, monkeypatch: pytest.MonkeyPatch) -> None:
    y, x = numbers(240, seed=4)
    item = np.arange(240) % series
    pieces: list[np.ndarray] = []

    def observe(_: slice, new: np.ndarray) -> None:
        pieces.append(new.copy())

    monkeypatch.setattr(_blending, "play_table", partial(play_table, observe=observe))
    found = blend(
        table_of(y, x, day=np.arange(240) // series, series=item), "y", by="series", time="day"
    )
    summary, values = found.summary(), np.concatenate(pieces)
    names, first = component_names(found.mixture), Automatic().first_way(LOSSES["square"]())
    assert len(names) == (14 if series == 1 else 3 + 2 * 11)
    assert ("NormalHedge 20, separate" in names) == (series > 1)
    rows = {row.name: row for row in summary.components}
    outcomes = found.rounds.outcomes
    for k, name in enumerate(names):
        losses = [(v - t) ** 2 for v, t in zip(values[:, first + k], outcomes, strict=True)]
        assert rows[name].loss == pytest.approx(np.mean(losses))
    weights = [row.weight for row in summary.components]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1.0)
    assert summary.comparison.component_rows == 240
    # They are the weights of the next prediction.
    mixture = found.mixture
    forecasts = {
        name: {key: 1.0 + i + k for k, key in enumerate(mixture.items)}
        for i, name in enumerate(NAMES)
    }
    made = mixture.predict(forecasts)
    np.testing.assert_allclose(expert_weights(mixture), made.distribution.mean(axis=0))
    row = mixture.pending[made.ticket].values
    shares = component_weights(mixture)
    if series == 1:
        assert row[0, 4] == pytest.approx(row[0, first : first + len(names)] @ shares, rel=1e-3)
        return
    levels, choice, insured = levels_of(mixture.live)[:3]
    each = [choice[0, 0] * levels[0] + choice[0, 1] * levels[1 + k] for k in range(series)]
    ways = insured[0, first - 3 : first - 3 + len(names)]  # the others correct the base
    each = [(1.0 - ways.sum()) * one + ways for one in each]
    np.testing.assert_allclose(shares, np.mean(each, axis=0))
    for k in range(series):
        assert row[k, 4] == pytest.approx(row[k, first : first + len(names)] @ each[k], rel=1e-3)


def test_experts_have_the_weights_of_the_next_prediction() -> None:
    y, x = numbers(80)
    cases: list[dict[str, Any]] = [{"shared": False}, {"hedger": "squint"}]
    for options in (*cases, cases[0] | cases[1]):
        mixture = Mixture(**options)
        for k in range(40):
            said = {name: x[2 * k : 2 * k + 2, i].tolist() for i, name in enumerate(NAMES)}
            mixture.update(mixture.predict(said).ticket, y[2 * k : 2 * k + 2])
        now = expert_weights(mixture)
        made = mixture.predict({name: [1.0 + i, 2.0 * i] for i, name in enumerate(NAMES)})
        np.testing.assert_allclose(now, made.distribution.mean(axis=0))
        found = {row.name: row.weight for row in mixture.summary().experts}
        np.testing.assert_allclose([found[name] for name in NAMES], now)
