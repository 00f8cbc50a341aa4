"""The adapters of sktime and Darts beside the ensembles of these libraries, and what they cost.

`python -m benchmarks.adapters` runs this where both are installed: in the venv of nox's `adapters`.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from darts import TimeSeries
from darts.models import (
    LinearRegressionModel,
    NaiveDrift,
    NaiveEnsembleModel,
    NaiveSeasonal,
    RegressionEnsembleModel,
)
from sklearn.metrics import mean_squared_error
from sktime.datasets import load_airline, load_lynx
from sktime.forecasting.compose import EnsembleForecaster
from sktime.forecasting.naive import NaiveForecaster
from sktime.forecasting.online_learning import (
    NNLSEnsemble,
    NormalHedgeEnsemble,
    OnlineEnsembleForecaster,
)
from sktime.forecasting.trend import PolynomialTrendForecaster, TrendForecaster

from benchmarks.timing import Row, measure
from normalhedge import Mixture
from normalhedge.integrations import HedgeEnsembleModel, HedgeForecaster, blend_forecasts

SERIES: dict[str, tuple[Callable[[], Any], int]] = {
    "airline": (load_airline, 12),
    "lynx": (load_lynx, 10),
}
"""Series that come with sktime, and their seasons."""


def sktime_errors() -> Iterator[str]:
    """Yield mean absolute errors one step ahead, with an update after each row."""
    yield "sktime, one step ahead, mean absolute error relative to the plain mean:"
    found: dict[str, list[str]] = {}
    for load, season in SERIES.values():
        y = load().astype(float)
        errors = {name: _online_error(make, y) for name, make in _sktime_models(season).items()}
        plain = errors["EnsembleForecaster, the plain mean"]
        for name, error in errors.items():
            found.setdefault(name, []).append(f"{error / plain:8.3f}")
    yield f"  {'':<44}" + "".join(f"{name:>8}" for name in SERIES)
    for name, texts in found.items():
        yield f"  {name:<44}" + "".join(texts)


def _sktime_models(season: int) -> dict[str, Callable[[], Any]]:
    def members() -> list[tuple[str, Any]]:
        return [
            ("last", NaiveForecaster()),
            ("season", NaiveForecaster("last", sp=season)),
            ("drift", NaiveForecaster("drift")),
            ("line", TrendForecaster()),
            ("curve", PolynomialTrendForecaster(degree=2)),
        ]

    def online(rule: Any) -> Any:
        return OnlineEnsembleForecaster(members(), rule)

    count = len(members())
    return {
        "EnsembleForecaster, the plain mean": lambda: EnsembleForecaster(members()),
        "EnsembleForecaster, the median": lambda: EnsembleForecaster(members(), aggfunc="median"),
        "OnlineEnsembleForecaster, NormalHedge": lambda: online(
            NormalHedgeEnsemble(n_estimators=count, loss_func=mean_squared_error)
        ),
        "OnlineEnsembleForecaster, NNLS": lambda: online(
            NNLSEnsemble(n_estimators=count, loss_func=mean_squared_error)
        ),
        "HedgeForecaster": lambda: HedgeForecaster(members()),
        'HedgeForecaster(loss="absolute")': lambda: HedgeForecaster(members(), loss="absolute"),
    }


def _online_error(make: Callable[[], Any], y: Any) -> float:
    half = len(y) // 2
    model = make().fit(y.iloc[:half], fh=[1])
    errors = []
    for row in range(half, len(y)):
        errors.append(abs(float(model.predict().iloc[0]) - float(y.iloc[row])))
        model.update(y.iloc[[row]])
    return float(np.mean(errors))


def darts_errors() -> Iterator[str]:
    """Yield mean absolute errors up to three steps ahead, each ensemble fitted at each time."""
    yield "Darts, 1 to 3 steps ahead, mean absolute error relative to the plain mean:"
    found: dict[str, list[str]] = {}
    for load, season in SERIES.values():
        series = TimeSeries.from_values(load().to_numpy(dtype=float))
        errors = {name: _past_error(one, series) for name, one in _darts_models(season).items()}
        errors["blend_forecasts"] = _blend_error(series, season)
        for name, error in errors.items():
            found.setdefault(name, []).append(f"{error / errors['NaiveEnsembleModel']:8.3f}")
    yield f"  {'':<44}" + "".join(f"{name:>8}" for name in SERIES)
    for name, texts in found.items():
        yield f"  {name:<44}" + "".join(texts)


def _members(season: int) -> list[Any]:
    lines = [LinearRegressionModel(lags=lags) for lags in (3, season)]
    return [NaiveDrift(), NaiveSeasonal(1), NaiveSeasonal(season), *lines]


def _darts_models(season: int) -> dict[str, Any]:
    return {
        "NaiveEnsembleModel": NaiveEnsembleModel(_members(season)),
        "RegressionEnsembleModel, 20 points": RegressionEnsembleModel(_members(season), 20),
        "HedgeEnsembleModel, 20 points": HedgeEnsembleModel(_members(season), 20, horizon=3),
    }


def _past(model: Any, series: TimeSeries, stride: int) -> Any:
    half = len(series) // 2
    return model.historical_forecasts(
        series, start=half, start_format="position", forecast_horizon=3, last_points_only=False,
        stride=stride, show_warnings=False,
    )  # fmt: skip


def _error(series: TimeSeries, forecasts: list[TimeSeries]) -> float:
    parts = [one.slice_intersect(series) for one in forecasts]
    gaps = [np.abs(one.values() - series.slice_intersect(one).values()) for one in parts]
    return float(np.concatenate(gaps).mean())


def _past_error(model: Any, series: TimeSeries) -> float:
    return _error(series, _past(model, series, 3))


def _blend_error(series: TimeSeries, season: int) -> float:
    """Blend forecasts made at every time, and judge those that the ensembles were judged at."""
    made = {str(k): _past(one, series, 1) for k, one in enumerate(_members(season))}
    return _error(series, blend_forecasts(series, made)[::3])


def rows() -> Iterator[Row]:
    """Yield the time of each adapter, beside the library without it and beside `Mixture`."""
    warnings.simplefilter("ignore")
    y = load_airline()
    names = [f"model {k}" for k in range(5)]

    def members() -> list[tuple[str, Any]]:
        return [(name, NaiveForecaster()) for name in names]

    def fitted(make: Callable[[], Any]) -> Any:
        return make().fit(y.iloc[:100], fh=[1])

    def ours() -> None:
        model = fitted(lambda: HedgeForecaster(members(), cv=1))
        model.update(y.iloc[100:])

    def theirs() -> None:
        for _, one in members():
            one.fit(y.iloc[:99], fh=[1]).predict()
            one.fit(y.iloc[:100], fh=[1])
            for row in range(100, len(y)):
                one.predict()
                one.update(y.iloc[[row]])

    yield measure(
        "sktime, fit, update, 44 rows of 5", ours, ("the 5 forecasters", theirs), ">= 0.83x",
        repeats=5,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    truth = rng.normal(size=2000).cumsum()
    said = truth[:, None] + rng.normal(size=(2000, 5))
    series, given = TimeSeries.from_values(truth), said.tolist()
    made = {name: TimeSeries.from_values(said[:, k]) for k, name in enumerate(names)}

    def loop() -> None:
        mixture = Mixture()
        for row, outcome in zip(given, truth.tolist(), strict=True):
            mixture.update(mixture.predict(dict(zip(names, row, strict=True))).ticket, outcome)

    yield measure(
        "Darts, blend_forecasts, 2,000 rounds of 5", lambda: blend_forecasts(series, made),
        ("Mixture", loop), ">= 0.83x", repeats=5,
    )  # fmt: skip
