"""Blends of Darts's historical forecasts, and an ensemble by its rules, with its own series."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import blend

pytest.importorskip("darts", reason="darts is not among the libraries of development")

from darts import TimeSeries, concatenate
from darts.metrics import mae
from darts.models import (
    ConformalNaiveModel,
    ExponentialSmoothing,
    LinearRegressionModel,
    NaiveDrift,
    NaiveEnsembleModel,
    NaiveMean,
    NaiveSeasonal,
)

from normalhedge.integrations import HedgeEnsembleModel, blend_forecasts

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that Darts calls


def airline(count: int = 80) -> TimeSeries:
    """A season and a trend with noise; monthly dates."""
    rng, t = np.random.default_rng(0), np.arange(count)
    values = 100.0 + t + 20.0 * np.sin(t * np.pi / 6) + rng.normal(0.0, 3.0, size=count)
    times = pd.date_range("1950-01-01", periods=count, freq="MS")
    return TimeSeries.from_times_and_values(times, values, columns=["passengers"])


def models() -> dict[str, Any]:
    lines = {"drift": NaiveDrift(), "season": NaiveSeasonal(12)}
    return {**lines, "line": LinearRegressionModel(lags=12)}


def history(series: TimeSeries, **settings: Any) -> dict[str, Any]:
    asked: Any = {"start": 40, "start_format": "position", "show_warnings": False, **settings}
    return {name: one.historical_forecasts(series, **asked) for name, one in models().items()}


@pytest.mark.parametrize("hedger", [None, "squint"])
def test_lists_of_forecasts_are_blended_as_a_table(hedger: Any) -> None:
    """The same forecasts as a table with a cutoff, by `normalhedge.blend`."""
    series = airline()
    given = history(series, forecast_horizon=3, last_points_only=False)
    blended = blend_forecasts(series, given, hedger=hedger)
    rows = []
    for k, one in enumerate(given["line"]):
        for j, time in enumerate(one.time_index):
            said = {name: many[k].values()[j, 0] for name, many in given.items()}
            rows.append(
                {"cutoff": 39 + k, "ds": 40 + k + j, **said, "y": series[time].values()[0, 0]}
            )
    expected = blend(
        pd.DataFrame(rows), "y", time="ds", cutoff="cutoff", hedger=hedger, pooled=True
    ).frame["blend"]
    np.testing.assert_array_equal(np.concatenate([one.values()[:, 0] for one in blended]), expected)
    assert [one.start_time() for one in blended] == [one.start_time() for one in given["line"]]
    assert blended[0].components.tolist() == ["passengers"]
    assert blended[0].freq == series.freq


@pytest.mark.parametrize("ahead", [1, 4])
def test_last_points_are_known_late(ahead: int) -> None:
    series = airline()
    given = history(series, forecast_horizon=ahead)
    changed = TimeSeries.from_times_and_values(
        series.time_index, np.where(np.arange(80)[:, None] < 60, series.values(), 500.0)
    )
    one, other = (blend_forecasts(each, given, ahead=ahead) for each in (series, changed))
    assert one.time_index.equals(given["line"].time_index)
    places = 40 + ahead - 1 + np.arange(len(one))
    early = places - ahead < 60  # made before the change
    np.testing.assert_array_equal(one.values()[early], other.values()[early])
    assert (one.values() != other.values())[~early].all()
    assert mae(series, one) < mae(series, given["drift"])


def test_a_stride_and_forecasts_beyond_the_end() -> None:
    series = airline()
    given = history(series, forecast_horizon=2, stride=2)
    blended = blend_forecasts(series, given, ahead=2)
    assert blended.time_index.equals(given["line"].time_index)
    whole = history(series, forecast_horizon=3, last_points_only=False, overlap_end=True)
    last = blend_forecasts(series, whole)[-1]
    assert last.start_time() == series.end_time() + series.freq
    ensemble = HedgeEnsembleModel(list(models().values()), train_n_points=40, horizon=3)
    np.testing.assert_allclose(ensemble.fit(series).predict(3).values(), last.values())


def test_numbers_in_place_of_dates() -> None:
    series = TimeSeries.from_values(airline().values())
    given = history(series, forecast_horizon=2, stride=3)
    blended = blend_forecasts(series, given, ahead=2)
    assert blended.time_index.equals(given["line"].time_index)
    dated = blend_forecasts(airline(), history(airline(), forecast_horizon=2, stride=3), ahead=2)
    np.testing.assert_allclose(blended.values(), dated.values())


def test_a_model_that_starts_later_sleeps() -> None:
    series = airline()
    given = history(series)
    alone = given["line"][:10]
    given = {"line": given["line"], "drift": given["drift"][10:]}
    np.testing.assert_array_equal(blend_forecasts(series, given).values()[:10], alone.values())


def test_intervals_around_points() -> None:
    rng = np.random.default_rng(0)
    series = TimeSeries.from_values(50.0 + rng.normal(size=600))
    near = TimeSeries.from_values(50.0 + 0.1 * rng.normal(size=600))
    told = blend_forecasts(series, {"a": near, "b": near + 1.0}, quantiles=[0.95, 0.05, 0.5])
    assert told.components.tolist() == ["0_q0.050", "0_q0.500", "0_q0.950"]
    low, middle, high = told.values().T
    point = blend_forecasts(series, {"a": near, "b": near + 1.0})
    np.testing.assert_array_equal(middle, point.values()[:, 0])
    assert np.isinf(low[0])
    truth = series.values()[100:, 0]
    assert 0.87 < np.mean((low[100:] <= truth) & (truth <= high[100:])) < 0.93


def test_quantiles_of_samples() -> None:
    series = airline()
    given = {
        name: one.historical_forecasts(
            series, start=40, start_format="position", num_samples=200, random_state=1
        )
        for name, one in (
            ("smooth", ExponentialSmoothing()),
            (
                "line",
                LinearRegressionModel(lags=12, likelihood="quantile", quantiles=[0.1, 0.5, 0.9]),
            ),
        )
    }
    told = blend_forecasts(series, given, quantiles=[0.1, 0.5, 0.9])
    values = told.values()
    assert (np.diff(values, axis=1) >= 0.0).all()
    each = np.stack([one.quantile([0.1, 0.5, 0.9]).values() for one in given.values()])
    assert (values >= each.min(axis=0) - 1e-9).all()
    assert (values <= each.max(axis=0) + 1e-9).all()
    assert blend_forecasts(series, given).n_samples == 1


def test_the_ensemble_by_the_rules_of_the_library() -> None:
    series = airline()
    train = series[:-12]
    model = HedgeEnsembleModel(list(models().values()), train_n_points=24, horizon=6)
    made = model.fit(train).predict(12)
    assert made.time_index.equals(series[-12:].time_index)
    assert made.components.tolist() == ["passengers"]
    assert model.names == ["NaiveDrift", "NaiveSeasonal", "LinearRegressionModel"]
    plain = NaiveEnsembleModel(list(models().values())).fit(train).predict(12)
    assert mae(series, made) < mae(series, plain)
    assert model.predict(12) == made  # nothing changed
    assert pickle.loads(pickle.dumps(model)).predict(12) == made
    past = model.historical_forecasts(series, start=-3, start_format="position")
    assert len(past) == 3
    fresh = model.untrained_model()
    assert fresh.mixture.rounds == 0
    assert model.mixture.rounds == 6 * 25
    with pytest.raises(ValueError, match="fit"):
        fresh.predict(1)


def test_quantiles_of_the_ensemble() -> None:
    series = airline()
    model = HedgeEnsembleModel(list(models().values()), train_n_points=30, horizon=2).fit(series)
    told = model.predict_quantiles(3, [0.1, 0.5, 0.9])
    low, middle, high = told.values().T
    np.testing.assert_array_equal(middle, model.predict(3).values()[:, 0])
    assert (low[:2] < middle[:2]).all()
    assert (middle[:2] < high[:2]).all()
    assert np.isinf([low[2], high[2]]).all()  # three steps ahead were never judged


def test_samples_of_the_ensemble() -> None:
    lines = [
        LinearRegressionModel(lags=lags, likelihood="quantile", quantiles=[0.1, 0.5, 0.9])
        for lags in (12, 3)
    ]
    model = HedgeEnsembleModel(lines, train_n_points=8).fit(airline())
    assert model.names == ["LinearRegressionModel", "LinearRegressionModel 2"]
    made = model.predict(2, num_samples=50, random_state=1)
    assert made.n_samples == 50
    assert not model.supports_likelihood_parameter_prediction


def test_several_series_and_components() -> None:
    series = airline()
    both = concatenate([series, 2.0 * series], axis=1)
    both = both.with_columns_renamed(list(both.components), ["a", "b"])
    lines = [LinearRegressionModel(lags=12), LinearRegressionModel(lags=2)]
    model = HedgeEnsembleModel(lines, train_n_points=10, horizon=2, retrain=False)
    made = model.fit([both, both[5:]]).predict(3, series=[both, both[:60]])
    assert [one.shape for one in made] == [(3, 2, 1), (3, 2, 1)]
    assert sorted(model.mixture.items) == ["a|step 1", "a|step 2", "b|step 1", "b|step 2"]
    pretrained = [one.untrained_model().fit(both[:60]) for one in lines]
    ready = HedgeEnsembleModel(pretrained, train_n_points=10, train_forecasting_models=False)
    assert ready.fit(both).predict(2).shape == (2, 2, 1)


def test_covariates_and_the_conformal_models_of_the_library() -> None:
    series = airline()
    month = TimeSeries.from_times_and_values(
        pd.date_range("1950-01-01", periods=100, freq="MS"), np.arange(100.0) % 12
    )
    lines = [
        LinearRegressionModel(lags=12, lags_future_covariates=[0]),
        LinearRegressionModel(lags=2),
    ]
    model = HedgeEnsembleModel(lines, train_n_points=10, show_warnings=False)
    model.fit(series, future_covariates=month)
    assert len(model.predict(4)) == 4
    outer = ConformalNaiveModel(
        HedgeEnsembleModel([LinearRegressionModel(lags=12)], train_n_points=5).fit(series),
        quantiles=[0.1, 0.5, 0.9],
    )
    assert outer.predict(2, predict_likelihood_parameters=True).n_components == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "log"}, "loss must be a loss of numbers, such as 'square', got log"),
        ({"horizon": 0}, "train_n_points and horizon must be at least 1, got 20 and 0"),
    ],
)
def test_wrong_settings_get_a_sentence(settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HedgeEnsembleModel([NaiveMean()], **settings)


def test_wrong_forecasts_get_a_sentence() -> None:
    series = airline()
    with pytest.raises(ValueError, match="forecasts must name at least one model"):
        blend_forecasts(series, {})
    with pytest.raises(ValueError, match="forecasts must all be series, or all lists of series"):
        blend_forecasts(series, {"a": series, "b": [series]})
    with pytest.raises(TypeError, match="forecasts of a must be series of Darts, got list"):
        blend_forecasts(series, {"a": [[series]]})
    with pytest.raises(ValueError, match="forecasts of a have 2 components, the series has 1"):
        blend_forecasts(series, {"a": concatenate([series, series], axis=1)})
    with pytest.raises(ValueError, match="quantiles must lie between 0 and 1, got"):
        blend_forecasts(series, {"a": series}, quantiles=[0.5, 1.0])
    with pytest.raises(ValueError, match="ahead must be at least 1, got 0"):
        blend_forecasts(series, {"a": series}, ahead=0)
