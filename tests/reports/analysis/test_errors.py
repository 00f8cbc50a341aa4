"""Errors of the blend, of plain combinations and of the models, beside errors from pandas."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.mixtures import pinball
from normalhedge.reports.analysis._errors import Scores
from normalhedge.reports.analysis._review import review
from normalhedge.reports.analysis._rows import rows_of

MODELS = ["gam", "ar", "naive"]


def hourly(rounds: int = 24 * 120, seed: int = 0) -> pd.DataFrame:
    """Return hourly rows of two series, with models that sleep and outcomes that are missing."""
    rng = np.random.default_rng(seed)
    when = pd.date_range("2024-01-01", periods=rounds, freq="h").repeat(2)
    frame = pd.DataFrame({"ds": when, "unique_id": ["a", "b"] * rounds})
    frame["y"] = 100.0 + 10.0 * rng.normal(size=len(frame))
    for k, name in enumerate(MODELS):
        frame[name] = frame["y"] + (1.0 + when.hour / 8) * (1 + k) * rng.normal(size=len(frame))
    frame.loc[rng.random(len(frame)) < 0.2, "ar"] = np.nan
    frame.loc[rng.random(len(frame)) < 0.05, "y"] = np.nan
    return frame.sample(frac=1.0, random_state=1)  # the order of rows must not matter


def errors_of(frame: pd.DataFrame, column: str) -> pd.Series:
    return frame[column] - frame["y"]


@pytest.fixture(scope="module")
def found() -> tuple[pd.DataFrame, Any]:
    frame = hourly()
    result = blend(frame, "y", MODELS, by="unique_id", time="ds")
    assert (result.frame["ds"].to_numpy() == frame["ds"].to_numpy()).all()
    joined = frame.assign(blend=result.frame["blend"].to_numpy())
    joined["plain mean"] = joined[MODELS].mean(axis=1)
    joined["plain median"] = joined[MODELS].median(axis=1)
    return joined.dropna(subset=["y", "blend"]), review(result)


def test_errors_over_all_rows(found: tuple[pd.DataFrame, Any]) -> None:
    frame, got = found
    assert got.errors.names == ["blend", "plain mean", "plain median", *MODELS]
    assert [measure.name for measure in got.errors.measures] == ["RMSE", "MAE"]
    for k, name in enumerate(got.errors.names):
        error = errors_of(frame, name)
        beside = errors_of(frame[frame[name].notna()], "blend")
        want = [(error**2).mean() ** 0.5, error.abs().mean()]
        np.testing.assert_allclose(got.errors.values[:, 0, k], want)
        want = [(beside**2).mean() ** 0.5, beside.abs().mean()]
        np.testing.assert_allclose(got.errors.blend[:, 0, k], want)
        assert got.errors.counts[0, k] == error.notna().sum()
        np.testing.assert_allclose(got.errors.bias[0, k], error.mean())
    assert got.best == "gam"
    assert got.rows == len(frame)
    assert got.rounds == frame["ds"].nunique()


@pytest.mark.parametrize("title", ["hour of the day", "weekday", "month", "series"])
def test_errors_by_groups(found: tuple[pd.DataFrame, Any], title: str) -> None:
    frame, got = found
    errors = got.series if title == "series" else dict(got.groups)[title]
    keys: Any = {
        "hour of the day": frame["ds"].dt.strftime("%H:00"),
        "weekday": frame["ds"].dt.day_name(),
        "month": frame["ds"].dt.month_name(),
        "series": frame["unique_id"],
    }[title]
    assert errors.names == ["blend", "plain mean", "plain median", "gam"]
    assert sorted(errors.labels) == sorted(keys.unique())
    for k, name in enumerate(errors.names):
        mae = errors_of(frame, name).abs().groupby(keys).mean()
        rmse = (errors_of(frame, name) ** 2).groupby(keys).mean() ** 0.5
        np.testing.assert_allclose(errors.values[1, :, k], mae[errors.labels])
        np.testing.assert_allclose(errors.values[0, :, k], rmse[errors.labels])
    np.testing.assert_array_equal(errors.counts[:, 0], keys.value_counts()[errors.labels])
    shares = errors.values[0, :, 0] / errors.values[0, :, 1] - 1.0
    np.testing.assert_allclose(errors.excess("plain mean"), shares)


def test_errors_by_steps_ahead() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (unit, made + step, made, float(rng.normal()), *rng.normal(size=2))
        for made in range(40)
        for unit in ("a|b", "c")
        for step in (1, 2, 3)
    ]
    frame = pd.DataFrame(rows, columns=["unique_id", "ds", "cutoff", "y", "m", "n"])
    result = blend(frame)
    got = review(result)
    assert got.series is not None
    assert got.series.labels == ["a|b", "c"]
    ((title, errors),) = got.groups
    assert (title, errors.labels) == ("steps ahead", ["1", "2", "3"])
    off = (result.frame["blend"] - frame["y"]).abs().groupby(frame["ds"] - frame["cutoff"]).mean()
    np.testing.assert_allclose(errors.values[1, :, 0], off)
    assert [len(track.last.times) for track in got.tracks] == [42, 42]  # each time once


def test_they_are_those_of_the_summary() -> None:
    frame = hourly(200).drop(columns="ar")  # all are awake: the summary needs no substitutes
    result = blend(frame, "y", ["gam", "naive"], by="unique_id", time="ds", loss="absolute")
    got, told = review(result), result.summary().comparison
    lines = {line.name: line for line in told.lines}
    assert [measure.name for measure in got.errors.measures] == ["MAE", "RMSE"]
    for k, name in enumerate(["blend", "plain mean", "plain median", "best expert"]):
        assert got.errors.values[0, 0, k] == pytest.approx(lines[name].mae)
        assert got.errors.values[1, 0, k] == pytest.approx(lines[name].rmse)


def test_other_losses_have_one_measure() -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"y": np.exp(0.1 * rng.normal(size=50)), "a": np.ones(50), "b": np.ones(50)})
    got = review(blend(table, "y", loss="log-wealth"))
    assert [measure.name for measure in got.errors.measures] == ["log-wealth loss"]
    assert np.isnan(got.errors.bias).all()
    assert got.tracks == []
    mean = np.log(table["y"].to_numpy()).mean()
    np.testing.assert_allclose(got.errors.values[0, 0], mean)


def test_classes_and_labels() -> None:
    rows = [(t, t % 2, name, p, 1.0 - p) for t in range(40) for name, p in (("a", 0.3), ("b", 0.6))]
    frame = pd.DataFrame(rows, columns=["t", "y", "model", "p0", "p1"])
    got = review(blend(frame, "y", time="t", classes=["p0", "p1"], loss="l1"))
    assert got.errors.names == ["blend", "plain mean", "plain median", "a", "b"]
    np.testing.assert_allclose(got.errors.values[0, 0, 1:], 0.5)
    labels = pd.DataFrame({"y": [0.0, 1.0] * 20, "a": [0.0, 1.0] * 20, "b": [0.0] * 40})
    got = review(blend(labels, "y", loss="zero-one"))
    assert got.errors.names[:2] == ["blend", "plain vote"]
    assert got.best == "a"


def test_the_score_of_quantiles() -> None:
    rng = np.random.default_rng(5)
    levels = [0.1, 0.5, 0.9]
    y = rng.normal(size=30)
    result = blend(pa.table({"y": y, "a": y + 1.0}), "y", loss=pinball(0.5))
    rows = rows_of(result)
    quantiles = np.sort(rng.normal(size=(30, 3, 1)), axis=1)
    parts = rows.__class__(
        rows.models, quantiles, quantiles[:, :, 0], rows.outcomes, rows.items, rows.rounds,
        rows.times, rows.dated, rows.series, rows.steps, rows.places,
    )  # fmt: skip
    errors = Scores(parts, result.mixture.settings.loss, levels).overall()
    total = 0.0
    for row, x in enumerate(quantiles[:, :, 0]):
        low, middle, high, outside = x[0], x[1], x[2], 0.0
        outside += max(low - y[row], 0.0) + max(y[row] - high, 0.0)
        interval = (high - low) + 2.0 / 0.2 * outside
        total += (0.5 * abs(y[row] - middle) + 0.2 / 2.0 * interval) / 1.5
    assert errors.measures[0].name == "WIS"
    np.testing.assert_allclose(errors.values[0, 0], total / 30)  # all of them say the same
    np.testing.assert_allclose(errors.values[1, 0], np.abs(y - quantiles[:, 1, 0]).mean())


def test_a_lead_counts_rounds_that_depend_on_one_another() -> None:
    rng = np.random.default_rng(6)
    y = np.zeros(300)
    table = pa.table({"y": y, "a": np.repeat(rng.normal(size=30), 10), "b": rng.normal(size=300)})
    result = blend(table, "y")
    scores = Scores(rows_of(result), result.mixture.settings.loss)
    scores.overall()
    both = scores.table_with("a")
    lead = scores.lead(both, 3)
    gap = both[:, 0, 0] ** 2 - both[:, 0, 3] ** 2
    centred, depth = gap - gap.mean(), 7  # the cube root of 300
    variance = sum(
        (1 - abs(k) / (depth + 1)) * (centred[max(k, 0) : 300 + min(k, 0)]
        @ centred[max(-k, 0) : 300 + min(-k, 0)])
        for k in range(-depth, depth + 1)
    )  # fmt: skip
    assert lead.difference == pytest.approx(gap.mean())
    assert lead.error == pytest.approx(variance**0.5 / 300)
    assert lead.error > 1.5 * centred.std() / 300**0.5  # independent rounds would seem surer


def test_rows_of_earlier_tables_do_not_count() -> None:
    first = pa.table({"t": [1, 2, 3], "y": [1.0, 2.0, None], "a": [1.0, 2, 3], "b": [0.0, 1, 2]})
    later = pa.table({"t": [3, 4], "y": [3.0, 4.0], "a": [3.0, 4.0], "b": [2.0, 3.0]})
    result = blend(first, "y", time="t")
    got = review(result)
    assert got.rows == 2
    assert got.tracks[0].last.times.tolist() == [1, 2, 3]
    assert np.isnan(got.tracks[0].last.actual[-1])
    assert not np.isnan(got.tracks[0].last.forecast[-1])
    again = review(blend(later, "y", time="t", mixture=result.mixture))
    assert again.tracks[0].last.times.tolist() == [4]
    assert again.rows == 1


def test_the_worst_row() -> None:
    y = np.arange(50.0)
    table = pa.table({"y": y, "a": np.where(y == 40, 1e6, y), "b": y + 0.1})
    got = review(blend(table, "y", hedger="normal-hedge"))
    assert got.worst is not None
    assert (got.worst.time, got.worst.series) == (40, "")
    assert got.worst.outcome == 40.0
    assert got.worst.share > 0.99
