"""An ensemble over the engines of Nixtla: a small engine in their shape, and a real one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import blend
from normalhedge.integrations import HedgeEnsemble


class Engine:
    """Forecasts the last value and the mean, with the methods of a StatsForecast."""

    def __init__(self, **names: str) -> None:
        self.ident, self.time = names.get("ident", "unique_id"), names.get("time", "ds")
        self.target = names.get("target", "y")

    def forecast(
        self,
        h: int,
        df: Any,
        X_df: Any = None,  # noqa: ARG002
        level: Sequence[int] | None = None,
        **columns: str,  # noqa: ARG002
    ) -> Any:
        parts = []
        for name, one in df.groupby(self.ident, sort=True):
            y, last = one[self.target].to_numpy(), one[self.time].iloc[-1]
            times = [last + pd.Timedelta(days=k + 1) for k in range(h)]
            part = pd.DataFrame({self.ident: name, self.time: times})
            for model, point in (("Naive", y[-1]), ("Mean", y.mean())):
                part[model] = point
                for percent in level or ():
                    part[f"{model}-lo-{percent}"] = point - percent / 50
                    part[f"{model}-hi-{percent}"] = point + percent / 50
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def cross_validation(
        self,
        h: int,
        df: Any,
        n_windows: int = 1,
        step_size: int = 1,
        level: Sequence[int] | None = None,
        **columns: str,
    ) -> Any:
        parts = []
        for _, one in df.groupby(self.ident):  # each to its own end
            times = sorted(one[self.time].unique())
            for window in range(n_windows):
                place = len(times) - h - step_size * (n_windows - 1 - window)
                past = one[one[self.time] < times[place]]
                made = self.forecast(h, past, level=level, **columns)
                made.insert(2, "cutoff", times[place - 1])
                parts.append(made.merge(one, on=[self.ident, self.time]))
        return pd.concat(parts).sort_values([self.ident, "cutoff"]).reset_index(drop=True)


class Fitted:
    """The same forecasts, with the methods of an MLForecast."""

    def __init__(self) -> None:
        self.engine = Engine()

    def fit(self, df: Any) -> None:
        self.df = df

    def predict(self, h: int, X_df: Any = None) -> Any:  # noqa: ARG002
        return self.engine.forecast(h, self.df)

    def cross_validation(self, df: Any, n_windows: int, h: int, step_size: int = 1) -> Any:
        return self.engine.cross_validation(h, df, n_windows, step_size)


def past(count: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=count)
    parts = [
        pd.DataFrame({"unique_id": f"s{k}", "ds": days, "y": 20 + rng.normal(size=count).cumsum()})
        for k in range(3)
    ]
    return pd.concat(parts, ignore_index=True)


def test_one_call_does_what_three_do() -> None:
    df = past()
    ensemble = HedgeEnsemble(Engine(), n_windows=8)
    future = ensemble.forecast(df, 2)
    assert list(future) == ["unique_id", "ds", "Naive", "Mean", "HedgeEnsemble"]
    table = Engine().cross_validation(2, df, 8)
    found = blend(table)
    expected = found.predict(Engine().forecast(2, df))
    np.testing.assert_array_equal(future["HedgeEnsemble"], expected["blend"])
    pd.testing.assert_frame_equal(future[["unique_id", "ds"]], expected[["unique_id", "ds"]])
    past_blend = ensemble.cross_validation_
    assert list(past_blend)[:4] == ["unique_id", "ds", "cutoff", "Naive"]
    np.testing.assert_array_equal(past_blend["HedgeEnsemble"], found.frame["blend"])
    errors = (past_blend[["HedgeEnsemble", "Mean"]].sub(past_blend["y"], axis=0) ** 2).mean()
    assert errors["HedgeEnsemble"] < errors["Mean"]


def uneven(count: int = 40) -> pd.DataFrame:
    """Series that end 6 and 17 days before the first, whose last days are quite different."""
    df, last = past(count), pd.Timestamp("2024-01-01") + pd.Timedelta(days=count)
    for name, days in (("s1", 17), ("s2", 6)):
        df = df[(df.unique_id != name) | (df.ds < last - pd.Timedelta(days=days))]
    return df


def assert_each_as_alone(engine: Any, df: Any, **asked: Any) -> None:
    """With weights of its own, a series gets the same forecasts with others and by itself."""
    options: Any = {"n_windows": 5, "hedger": "squint", "pooled": False}
    whole = HedgeEnsemble(engine, **options).forecast(df, 3, **asked)
    for name, one in df.groupby("unique_id"):
        alone = HedgeEnsemble(engine, **options).forecast(one.reset_index(drop=True), 3, **asked)
        found = whole[whole.unique_id == name].reset_index(drop=True)
        assert found.ds.min() == one.ds.max() + pd.Timedelta(days=1)
        pd.testing.assert_frame_equal(found, alone)


@pytest.mark.parametrize("level", [None, [80]])
def test_series_that_end_at_different_times(level: Any) -> None:
    assert_each_as_alone(Engine(), uneven(), level=level)


def test_steps_are_counted_from_the_end_of_each_series() -> None:
    ensemble = HedgeEnsemble(Engine(), n_windows=8)
    future = ensemble.forecast(uneven(), 2)
    items = ensemble.blend_.mixture.items
    assert items == [f"s{k}|step {step}" for k in range(3) for step in (1, 2)]
    ends = uneven().groupby("unique_id").ds.max()
    table = Engine().forecast(2, uneven())
    expected = ensemble.blend_.predict(table.assign(cutoff=table.unique_id.map(ends)))
    np.testing.assert_array_equal(future["HedgeEnsemble"], expected["blend"])
    assert list(future) == ["unique_id", "ds", "Naive", "Mean", "HedgeEnsemble"]


def test_nothing_uses_later_outcomes() -> None:
    df = past()
    changed = df.copy()
    changed.loc[changed.ds >= "2024-02-06", "y"] += 50.0
    one, other = (
        HedgeEnsemble(Engine(), n_windows=10).fit(given, 2).cross_validation_
        for given in (df, changed)
    )
    early = (one.cutoff < "2024-02-06").to_numpy()
    np.testing.assert_array_equal(one["HedgeEnsemble"][early], other["HedgeEnsemble"][early])
    assert (one["HedgeEnsemble"] != other["HedgeEnsemble"])[~early].any()


def test_intervals_and_their_evaluation() -> None:
    evaluation = pytest.importorskip("utilsforecast.evaluation")
    losses = pytest.importorskip("utilsforecast.losses")
    ensemble = HedgeEnsemble(Engine(), alias="Hedge")
    future = ensemble.forecast(past(), h=2, level=[80, 90])
    ends = ["Hedge-lo-90", "Hedge-lo-80", "Hedge", "Hedge-hi-80", "Hedge-hi-90"]
    assert (np.diff(future[ends].to_numpy(), axis=1) >= 0.0).all()
    truth = past(42).merge(future, on=["unique_id", "ds"])
    metrics = [losses.mae, losses.coverage, losses.mqloss]
    for table in (truth, ensemble.cross_validation_.drop(columns="cutoff")):
        scores = evaluation.evaluate(table, metrics=metrics, level=[80, 90])
        assert list(scores)[2:] == ["Naive", "Mean", "Hedge"]
        assert np.isfinite(scores["Hedge"]).all()


def test_engines_that_are_fitted_first() -> None:
    one = HedgeEnsemble(Fitted(), hedger="squint").forecast(past(), 3)
    other = HedgeEnsemble(Engine(), hedger="squint").forecast(past(), 3)
    pd.testing.assert_frame_equal(one, other)
    with pytest.raises(ValueError, match="level is given, but cross_validation of the engine has"):
        HedgeEnsemble(Fitted()).forecast(past(), 3, level=[90])


def test_other_names_and_other_tables() -> None:
    names = {"unique_id": "shop", "ds": "day", "y": "sales"}
    engine = Engine(ident="shop", time="day", target="sales")
    ensemble = HedgeEnsemble(engine, id_col="shop", time_col="day", target_col="sales")
    future = ensemble.forecast(past().rename(columns=names), 2)
    assert list(future)[:2] == ["shop", "day"]
    same = HedgeEnsemble(Engine()).forecast(past(), 2)
    np.testing.assert_array_equal(future["HedgeEnsemble"], same["HedgeEnsemble"])


def test_wrong_engines_get_a_sentence() -> None:
    with pytest.raises(TypeError, match="engine must have cross_validation, and forecast or else"):
        HedgeEnsemble([1, 2])
    with pytest.raises(TypeError, match="DataFrame has no cross_validation"):
        HedgeEnsemble(past())
    with pytest.raises(TypeError, match="hedgehog"):
        HedgeEnsemble(Engine(), hedgehog=1).forecast(past(), 2)


@pytest.mark.slow
def test_statsforecast() -> None:
    """It wants an older pandas, so it is not among the libraries of development."""
    forecasting = pytest.importorskip("statsforecast")
    models = pytest.importorskip("statsforecast.models")
    evaluation = pytest.importorskip("utilsforecast.evaluation")
    losses = pytest.importorskip("utilsforecast.losses")
    engine = forecasting.StatsForecast(models=[models.Theta(), models.Naive()], freq="D")
    ensemble = HedgeEnsemble(engine, n_windows=5)
    df = past(80)
    future = ensemble.forecast(df, 3, level=[50, 90])
    assert set(future) >= {"unique_id", "ds", "Theta", "Naive", "HedgeEnsemble-lo-90"}
    assert len(future) == 9
    scores = evaluation.evaluate(
        ensemble.cross_validation_.drop(columns="cutoff"),
        metrics=[losses.mae, losses.coverage],
        level=[50, 90],
    )
    assert np.isfinite(scores["HedgeEnsemble"]).all()


@pytest.mark.slow
def test_statsforecast_with_series_that_end_at_different_times() -> None:
    forecasting = pytest.importorskip("statsforecast")
    models = pytest.importorskip("statsforecast.models")
    engine = forecasting.StatsForecast(models=[models.Theta(), models.Naive()], freq="D")
    assert_each_as_alone(engine, uneven(80), level=[80])


@pytest.mark.slow
def test_statsforecast_with_polars() -> None:
    polars = pytest.importorskip("polars")
    forecasting = pytest.importorskip("statsforecast")
    models = pytest.importorskip("statsforecast.models")
    found = []
    given = uneven(60).reset_index(drop=True)
    for df, freq in ((given, "D"), (polars.from_pandas(given), "1d")):
        engine = forecasting.StatsForecast(models=[models.Theta(), models.Naive()], freq=freq)
        found.append(HedgeEnsemble(engine, n_windows=5).forecast(df, 3, level=[90]))
    assert isinstance(found[1], polars.DataFrame)
    for name in ("HedgeEnsemble", "HedgeEnsemble-lo-90"):
        np.testing.assert_allclose(found[1][name].to_numpy(), found[0][name].to_numpy())


@pytest.mark.slow
def test_mlforecast() -> None:
    engine_of = pytest.importorskip("mlforecast")
    linear = pytest.importorskip("sklearn.linear_model")
    models = {"ridge": linear.Ridge(), "line": linear.LinearRegression()}
    engine = engine_of.MLForecast(models=models, freq="D", lags=[1, 2])
    future = HedgeEnsemble(engine, n_windows=5).forecast(past(60), 3)
    assert list(future) == ["unique_id", "ds", "ridge", "line", "HedgeEnsemble"]
    between = future[["ridge", "line"]].to_numpy()
    blended = future["HedgeEnsemble"].to_numpy()
    assert ((blended >= between.min(axis=1) - 1e-9) & (blended <= between.max(axis=1) + 1e-9)).all()
