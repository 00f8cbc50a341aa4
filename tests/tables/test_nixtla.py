"""Tables of Nixtla's libraries are blended as they are, and their tools run on the result."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import blend
from normalhedge.tables.quantiles import pinball_losses


def cross_validation() -> pd.DataFrame:
    """Return a table as ``StatsForecast.cross_validation(h=3, level=[80, 90])`` returns it."""
    rng = np.random.default_rng(0)
    start = pd.Timestamp("2024-01-01")
    rows: list[dict[str, Any]] = []
    for series in ("H1", "H2"):
        for window in range(8):
            for step in (1, 2, 3):
                y = 10.0 + rng.normal()
                row: dict[str, Any] = {
                    "unique_id": series,
                    "ds": start + pd.Timedelta(days=window + step),
                    "cutoff": start + pd.Timedelta(days=window),
                    "y": y,
                }
                for model, bias in (("Theta", 0.2), ("AutoETS", 1.5)):
                    point = 10.0 + bias + 0.1 * rng.normal()
                    row[model] = point
                    for level, width in ((90, 1.64), (80, 1.28)):
                        row[f"{model}-lo-{level}"] = point - width
                    for level, width in ((80, 1.28), (90, 1.64)):
                        row[f"{model}-hi-{level}"] = point + width
                row["Naive"] = 9.0 + rng.normal()
                rows.append(row)
    return pd.DataFrame(rows)


def test_intervals_are_quantiles_of_one_forecaster() -> None:
    table = cross_validation()
    found = blend(table)
    assert found.mixture.names == ["Theta", "AutoETS", "Naive"]
    assert found.quantiles is not None
    assert found.quantiles.levels == (0.05, 0.1, 0.5, 0.9, 0.95)
    names = ["blend", "blend-lo-90", "blend-lo-80", "blend-hi-80", "blend-hi-90"]
    assert list(found.frame) == ["unique_id", "ds", "cutoff", "y", *names]
    assert len(found.frame) == len(table)
    ordered = found.frame[["blend-lo-90", "blend-lo-80", "blend", "blend-hi-80", "blend-hi-90"]]
    assert (np.diff(ordered.to_numpy(), axis=1) >= 0.0).all()
    pd.testing.assert_frame_equal(
        found.frame[["unique_id", "ds", "y"]], table[["unique_id", "ds", "y"]]
    )


def test_evaluate_runs_on_the_result() -> None:
    evaluation = pytest.importorskip("utilsforecast.evaluation")
    losses = pytest.importorskip("utilsforecast.losses")
    table = cross_validation()
    found = blend(table).frame
    both = table.merge(found, on=["unique_id", "ds", "cutoff", "y"])
    metrics = [losses.mae, losses.coverage, losses.mqloss, losses.scaled_crps]
    scores = evaluation.evaluate(
        both.drop(columns=["cutoff", "Naive"]), metrics=metrics, level=[80, 90]
    )
    assert list(scores)[2:] == ["Theta", "AutoETS", "blend"]
    assert len(scores) == 2 * 5
    alone = evaluation.evaluate(found.drop(columns="cutoff"), metrics=metrics, level=[80, 90])
    assert alone["blend"].tolist() == pytest.approx(scores["blend"].tolist())
    names = ["blend-lo-90", "blend-lo-80", "blend-hi-80", "blend-hi-90"]
    own = found[found.unique_id == "H1"]
    ours = pinball_losses(own[names].to_numpy(), own.y.to_numpy(), [0.05, 0.1, 0.9, 0.95]).mean()
    theirs = alone[(alone.unique_id == "H1") & (alone.metric == "mqloss")]["blend"].item()
    assert theirs == pytest.approx(ours)


@pytest.mark.slow
def test_real_forecasts_of_statsforecast() -> None:
    """Statsforecast wants an older pandas, so it is not among the libraries of development."""
    forecasting = pytest.importorskip("statsforecast")
    models = pytest.importorskip("statsforecast.models")
    evaluation = pytest.importorskip("utilsforecast.evaluation")
    losses = pytest.importorskip("utilsforecast.losses")
    rng = np.random.default_rng(0)
    days = pd.date_range("2023-01-01", periods=120)
    series = pd.concat(
        [
            pd.DataFrame(
                {"unique_id": f"s{k}", "ds": days, "y": 20 + rng.normal(size=120).cumsum()}
            )
            for k in range(2)
        ]
    )
    engine = forecasting.StatsForecast(models=[models.Theta(), models.Naive()], freq="D")
    table = engine.cross_validation(df=series, h=2, n_windows=10, step_size=1, level=[50, 90])
    found = blend(table)
    assert found.mixture.names == ["Theta", "Naive"]
    ends = ["blend-lo-90", "blend-lo-50", "blend-hi-50", "blend-hi-90"]
    assert set(found.frame) >= {"blend", *ends}
    scores = evaluation.evaluate(
        found.frame.drop(columns="cutoff"), metrics=[losses.mae, losses.coverage], level=[50, 90]
    )
    assert np.isfinite(scores["blend"]).all()
