"""A forecaster over forecasters: the checks of sktime, and the rounds that the mixture gets."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture

pytest.importorskip("sktime", reason="sktime wants an older pandas: nox -s adapters has it")

from sklearn.linear_model import LinearRegression
from sktime.datasets import load_airline, load_longley
from sktime.forecasting.base import ForecastingHorizon
from sktime.forecasting.compose import make_reduction
from sktime.forecasting.naive import NaiveForecaster
from sktime.forecasting.trend import PolynomialTrendForecaster, TrendForecaster
from sktime.split import ExpandingWindowSplitter
from sktime.utils import check_estimator

from normalhedge.integrations import HedgeForecaster

# sktime says of each forecaster that its update is a new fit, and what will change in 1.3.
pytestmark = pytest.mark.filterwarnings("ignore")


def pair() -> list[tuple[str, Any]]:
    return [("season", NaiveForecaster("last", sp=12)), ("line", TrendForecaster())]


@pytest.mark.slow
def test_checks_of_the_library() -> None:
    found = check_estimator(HedgeForecaster, raise_exceptions=False, verbose=False)
    assert {name: told for name, told in found.items() if told != "PASSED"} == {}
    assert len(found) >= 690


def test_the_rounds_are_those_of_a_mixture() -> None:
    """The loop that `fit` and `update` stand for: cutoffs, tickets, and outcomes in their turn."""
    y, steps, split = load_airline(), [1, 3], 130
    mixture = Mixture("squint")
    tickets: dict[tuple[int, int], int] = {}
    for cutoff in range(120, len(y)):
        for step in steps[::-1]:  # the outcome of the last row known; older forecasts first
            if (cutoff - step, step) in tickets:
                ticket = tickets[cutoff - step, step]
                mixture.update(ticket, {f"step {step}": y.iloc[cutoff - 1]})
        said = {name: one.clone().fit(y.iloc[:cutoff]) for name, one in pair()}
        for step in steps:
            row = {n: {f"step {step}": float(m.predict([step]).iloc[0])} for n, m in said.items()}
            tickets[cutoff, step] = mixture.predict(row).ticket
    for step in steps[::-1]:
        mixture.update(tickets[len(y) - step, step], {f"step {step}": y.iloc[-1]})
    model = HedgeForecaster(pair(), "squint", cv=split - 120).fit(y.iloc[:split], fh=steps)
    model.update(y.iloc[split:])
    last = {name: one.clone().fit(y).predict(steps) for name, one in pair()}
    for k, step in enumerate(steps):
        row = {name: {f"step {step}": float(one.iloc[k])} for name, one in last.items()}
        made = mixture.peek(row)
        assert model.predict().iloc[k] == made.value[f"step {step}"]
        assert model.weights_.loc[step].to_dict() == {
            name: one[f"step {step}"] for name, one in made.weights.items()
        }
    assert model.mixture_.rounds == mixture.rounds


@pytest.mark.parametrize("steps", [[1], [3], [2, 5]])
def test_nothing_uses_later_outcomes(steps: list[int]) -> None:
    y = load_airline()
    changed = y.copy()
    changed.iloc[130:] += 400.0
    made = [
        HedgeForecaster(pair(), cv=20).fit(given.iloc[:125], fh=steps).update(given.iloc[125:])
        for given in (y, changed)
    ]
    for step in steps:
        one, other = (np.array(model.ahead_.made[f"step {step}"].values) for model in made)
        cutoffs = len(y) - len(one) + np.arange(len(one))  # the rows known at each
        np.testing.assert_array_equal(one[cutoffs <= 130], other[cutoffs <= 130])
        assert (one != other)[cutoffs > 130].any()


def test_an_outcome_is_learned_when_it_is_known() -> None:
    y = load_airline()
    model = HedgeForecaster(pair(), cv=1).fit(y.iloc[:100], fh=[3])
    assert model.mixture_.rounds == 1
    settled = []
    for row in range(100, 106):
        model.update(y.iloc[[row]])
        settled.append(model.mixture_.rounds - len(model.mixture_.pending))
    assert settled == [1, 1, 2, 3, 4, 5]  # of `fit`; the next was made at 100, for row 102


def test_rows_one_by_one_or_together() -> None:
    y = load_airline()
    model = HedgeForecaster(pair(), cv=5).fit(y.iloc[:120], fh=[1, 2])
    other = copy.deepcopy(model).update(y.iloc[120:])
    for row in range(120, len(y)):
        model.update(y.iloc[[row]])
    assert model.ahead_ == other.ahead_
    pd.testing.assert_series_equal(model.predict(), other.predict())
    whole = HedgeForecaster(pair(), cv=len(y) - 120 + 5).fit(y, fh=[1, 2])
    pd.testing.assert_series_equal(whole.predict(), other.predict())


def test_time_moves_on_without_learning() -> None:
    y = load_airline()
    model = HedgeForecaster(pair(), cv=5).fit(y.iloc[:120], fh=[1])
    before = copy.deepcopy(model.ahead_)
    model.update(y.iloc[120:130], update_params=False)
    assert model.ahead_ == before
    assert model.predict().index[0] == y.index[130]
    model.update(y.iloc[130:])
    assert model.predict().index[0] == y.index[-1] + 1


def test_refitting_and_updating_give_the_same_where_they_should() -> None:
    y = load_airline()
    one, other = (
        HedgeForecaster(pair(), cv=12, refit=refit, step_length=2).fit(y, fh=[1]).predict()
        for refit in (True, False)
    )
    pd.testing.assert_series_equal(one, other)


def test_splitters_of_the_library() -> None:
    y = load_airline()
    cv = ExpandingWindowSplitter(fh=[1, 2], initial_window=len(y) - 11, step_length=1)
    one = HedgeForecaster(pair(), cv=cv).fit(y, fh=[1, 2])
    assert len(one.ahead_.made["step 1"].values) == 10
    assert one.mixture_.rounds == 20


def test_intervals_and_quantiles() -> None:
    rng = np.random.default_rng(0)
    y = pd.Series(50.0 + rng.normal(size=400))
    members = [("mean", NaiveForecaster("mean")), ("last", NaiveForecaster())]
    model = HedgeForecaster(members, cv=150, step_length=1).fit(y.iloc[:300], fh=[1, 2])
    hits = []
    for row in range(300, 398):
        told = model.predict_interval(coverage=[0.5, 0.9])[0]
        truth = y.iloc[row : row + 2].to_numpy()
        hits.append((told[0.9]["lower"] <= truth) & (truth <= told[0.9]["upper"]))
        assert (told[0.9]["lower"] <= told[0.5]["lower"]).all()
        model.update(y.iloc[[row]])
    assert 0.83 < np.mean(hits) < 0.97
    quantiles = model.predict_quantiles(alpha=[0.05, 0.5, 0.95])[0]
    told = model.predict_interval(coverage=0.9)[0][0.9]
    np.testing.assert_allclose(quantiles[0.05], told["lower"])
    np.testing.assert_allclose(quantiles[0.95], told["upper"])
    assert (quantiles[0.05] < quantiles[0.5]).all()
    assert (quantiles[0.5] < quantiles[0.95]).all()


def test_features() -> None:
    y, X = load_longley()
    members = [("table", make_reduction(LinearRegression(), window_length=2)), *pair()[1:]]
    model = HedgeForecaster(members, cv=3).fit(y.iloc[:12], X=X.iloc[:12], fh=[1, 2])
    made = model.mixture_.rounds
    assert made == 4  # at two times: the features of row 13 are not known
    model.update(y.iloc[12:15], X=X.iloc[12:15])
    assert model.mixture_.rounds == made + 4
    assert np.isfinite(model.predict(X=X.iloc[15:])[:1]).all()


def test_horizons_of_other_kinds() -> None:
    y = load_airline()
    ahead = ForecastingHorizon(pd.period_range("1961-01", periods=2, freq="M"), is_relative=False)
    one = HedgeForecaster(pair(), cv=3).fit(y, fh=ahead).predict()
    other = HedgeForecaster(pair(), cv=3).fit(y, fh=[1, 2]).predict()
    pd.testing.assert_series_equal(one, other)
    past = HedgeForecaster(pair()[1:], cv=3).fit(y, fh=[-1, 0]).predict()
    assert list(past.index) == list(y.index[-2:])


def test_settings_pickles_and_clones() -> None:
    y = load_airline()
    model = HedgeForecaster([TrendForecaster(), PolynomialTrendForecaster()], options={"even": 0.5})
    model.set_params(cv=4, TrendForecaster=NaiveForecaster())
    model.fit(y, fh=[1])
    pd.testing.assert_series_equal(pickle.loads(pickle.dumps(model)).predict(), model.predict())
    fresh = model.clone()
    assert not fresh.is_fitted
    assert fresh.get_params()["cv"] == 4
    (weights,) = model.weights_.to_numpy()
    assert weights.min() >= 0.25


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "log"}, "loss must be a loss of numbers, such as 'square', got log"),
        ({"cv": 0}, "cv must be a number of times, at least 1, or a splitter: 0"),
        ({"cv": "many"}, "cv must be a number of times, at least 1, or a splitter: many"),
        ({"step_length": 0}, "step_length must be at least 1, got 0"),
    ],
)
def test_wrong_settings_get_a_sentence(settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HedgeForecaster(pair(), **settings).fit(load_airline(), fh=[1])


def test_the_horizon_is_needed_in_fit() -> None:
    with pytest.raises(ValueError, match="fh"):
        HedgeForecaster(pair()).fit(load_airline())
