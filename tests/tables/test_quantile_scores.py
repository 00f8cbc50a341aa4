"""Scores of quantile forecasts, beside their definitions and published figures."""

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from normalhedge import blend
from normalhedge.tables.quantiles import QuantileSummary, crps_scores, pinball_losses, wis_scores
from tests.tables.quantile_examples import LEVELS, MODELS, columns, wide

PANEL = Path(__file__).parents[3] / "shared" / "data" / "flusight_quantiles_2023_24.parquet"


def interval_form(quantiles: np.ndarray, outcome: float, levels: tuple[float, ...]) -> float:
    """Return the WIS of one cell by its definition with intervals."""
    count = len(levels) // 2
    total = 0.5 * abs(outcome - quantiles[count])
    for j in range(count):
        low, high, alpha = quantiles[j], quantiles[-1 - j], 2.0 * levels[j]
        score = high - low
        score += 2.0 / alpha * (max(low - outcome, 0.0) + max(outcome - high, 0.0))
        total += alpha / 2.0 * score
    return float(total / (count + 0.5))


def test_the_wis_is_that_of_intervals() -> None:
    rng = np.random.default_rng(0)
    levels = (0.01, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.99)
    quantiles = np.sort(rng.normal(size=(200, 9)), axis=1)
    outcomes = 2.0 * rng.normal(size=200)
    slow = [interval_form(quantiles[k], outcomes[k], levels) for k in range(200)]
    np.testing.assert_allclose(wis_scores(quantiles, outcomes, levels), slow)


def test_the_crps_is_that_of_the_normal_distribution() -> None:
    normal = NormalDist()
    levels = (np.arange(400) + 0.5) / 400
    quantiles = np.array([[normal.inv_cdf(level) for level in levels]])
    for y in (-2.0, 0.0, 0.7):
        exact = y * (2 * normal.cdf(y) - 1) + 2 * normal.pdf(y) - 1 / np.sqrt(np.pi)
        assert crps_scores(quantiles, np.array([y]), levels.tolist()) == pytest.approx(
            exact, abs=1e-3
        )
    # A few levels stand for all of (0, 1), each for the part nearest to it.
    few = crps_scores(np.array([[1.0, 2.0, 4.0]]), np.array([2.5]), [0.1, 0.5, 0.8])
    assert few[0] == pytest.approx(2 * (0.3 * 0.1 * 1.5 + 0.35 * 0.5 * 0.5 + 0.35 * 0.2 * 1.5))
    # Levels that crowd on one side do not count for more.
    crowded = np.concatenate([levels[:200], levels[200::8]])
    some = np.array([[normal.inv_cdf(level) for level in crowded]])
    assert crps_scores(some, np.array([0.7]), crowded.tolist()) == pytest.approx(0.4193, abs=0.01)


def test_missing_numbers_have_no_score() -> None:
    quantiles = np.array([[1.0, np.nan], [1.0, 2.0]])
    found = pinball_losses(quantiles, np.array([1.5, np.nan]), [0.25, 0.75])
    assert np.isnan(found).tolist() == [[False, True], [True, True]]


def test_the_summary_has_the_scores_of_all() -> None:
    table = wide(rounds=60, series=2, asleep=0.2)
    table.loc[table.ds == 59, "y"] = np.nan
    found = blend(table)
    summary = found.summary()
    assert isinstance(summary, QuantileSummary)
    scores = summary.scores
    known = found.frame[found.frame.y.notna()]
    values, outcomes = known[columns()].to_numpy(), known.y.to_numpy()
    assert scores.wis[0] == pytest.approx(wis_scores(values, outcomes, LEVELS).mean())
    assert scores.crps[0] == pytest.approx(crps_scores(values, outcomes, LEVELS).mean())
    np.testing.assert_allclose(
        scores.pinball[0], pinball_losses(values, outcomes, LEVELS).mean(axis=0)
    )
    both = table.merge(known[["ds", "unique_id"]])
    for i, name in enumerate(scores.names[3:]):
        own = both[both.model == name]
        mean = wis_scores(own[columns()].to_numpy(), own.y.to_numpy(), LEVELS).mean()
        assert scores.wis[3 + i] == pytest.approx(mean)
        assert scores.cells[3 + i] == len(own)
    plain = both.groupby(["ds", "unique_id"])[[*columns(), "y"]].mean()
    mean = wis_scores(plain[columns()].to_numpy(), plain.y.to_numpy(), LEVELS).mean()
    assert scores.wis[1] == pytest.approx(mean)
    inside = (values[:, 0] < outcomes) & (outcomes <= values[:, -1])
    assert scores.coverage()[0.9] == pytest.approx(inside.mean())
    text = str(summary)
    assert "WIS" in text
    assert "CRPS" in text
    assert all(name in text for name in MODELS)
    assert "<td>plain median</td>" in summary._repr_html_()


def test_many_cells_are_scored_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    table = wide(rounds=30, series=2, asleep=0.3)
    found = blend(table)
    whole = found.summary().scores  # type: ignore[attr-defined]
    monkeypatch.setattr("normalhedge.tables.quantiles._scores.CHUNK", 70)
    pieces = found.summary().scores  # type: ignore[attr-defined]
    for name in ("pinball", "wis", "crps", "same", "cells", "below"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name))


@pytest.mark.skipif(not PANEL.exists(), reason="the panel is not part of this project")
@pytest.mark.parametrize(
    ("model", "figures"),
    [
        ("FluSight-ensemble", [33.498, 55.255, 73.370, 86.817]),
        ("FluSight-baseline", [44.224, 74.247, 100.145, 121.915]),
    ],
)
def test_reference_figures_of_a_real_hub(model: str, figures: list[float]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(PANEL, filters=[("model", "==", model)]).to_pandas()
    table = table[table.truth.notna()]
    names = [name for name in table if name.startswith("q0")]
    levels = [float(name[1:]) for name in names]
    table["wis"] = wis_scores(table[names].to_numpy(), table.truth.to_numpy(), levels)
    assert table.groupby("horizon").wis.mean().round(3).tolist() == figures
