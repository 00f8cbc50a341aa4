"""Forecasts several steps ahead: the rounds of `blend`, the intervals of `Conformal`, no leaks."""

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.integrations._steps_ahead import Round, StepsAhead, play, step_item
from normalhedge.mixtures.intervals import Conformal

STEPS = (1, 2, 4)


def panel(count: int = 60) -> tuple[np.ndarray, list[Round]]:
    rng = np.random.default_rng(0)
    y = rng.normal(size=count).cumsum()
    rounds = [
        Round(
            made, step_item(step, [step]), made + step,
            {"a": y[made] + rng.normal(), "b": y[made] - 1.0 + 0.1 * rng.normal()},
        )
        for made in range(count) for step in STEPS
    ]  # fmt: skip
    return y, rounds


def outcomes(y: np.ndarray) -> list[tuple[int, int, float]]:
    return [(t, t, float(value)) for t, value in enumerate(y)]


@pytest.mark.parametrize("hedger", [None, "squint", "normal-hedge:memory=10"])
def test_the_blends_are_those_of_a_table_with_a_cutoff(hedger: Any) -> None:
    y, rounds = panel()
    ahead = StepsAhead(Mixture(hedger))
    values = play(ahead, rounds, outcomes(y))
    due: Any = [one.due for one in rounds]
    truth = [y[t] if t < len(y) else np.nan for t in due]
    table = pd.DataFrame([one.forecasts for one in rounds])
    table = table.assign(cutoff=[one.made for one in rounds], ds=due, y=truth)
    expected = blend(table, hedger=hedger, pooled=True, time="ds", cutoff="cutoff", target="y")
    np.testing.assert_array_equal(values, expected.frame["blend"])


@pytest.mark.parametrize("hedger", [None, "squint"])
def test_a_single_item_needs_no_name(hedger: Any) -> None:
    y, rounds = panel()
    some = [one for one in rounds if one.item == "step 2"]
    plain, named = (StepsAhead(Mixture(hedger), single=single) for single in (True, False))
    values = play(plain, some, outcomes(y))
    np.testing.assert_array_equal(values, play(named, some, outcomes(y)))
    row = {"a": 1.0, "b": 2.0}
    assert plain.peek([("step 2", row)]) == named.peek([("step 2", row)])
    assert plain.weights(["step 2"], row) == named.weights(["step 2"], row)
    assert repr(plain.made) == repr(named.made)  # NaN is not equal to itself
    assert plain.mixture.items == [""]


def test_no_blend_uses_a_later_outcome() -> None:
    y, rounds = panel()
    changed = y.copy()
    changed[30:] += 100.0
    one, other = (
        np.array(play(StepsAhead(Mixture()), rounds, outcomes(given))) for given in (y, changed)
    )
    early = np.array([one.made < 30 for one in rounds])
    np.testing.assert_array_equal(one[early], other[early])
    assert (one != other)[~early].mean() > 0.9


def test_the_order_of_times_does_not_matter() -> None:
    y, rounds = panel()
    backwards = sorted(range(len(rounds)), key=lambda k: -rounds[k].made)
    values = play(StepsAhead(Mixture()), rounds, outcomes(y))
    again = play(StepsAhead(Mixture()), [rounds[k] for k in backwards], outcomes(y)[::-1])
    np.testing.assert_array_equal(np.array(values)[backwards], again)


def test_intervals_are_those_of_a_loop() -> None:
    y, rounds = panel()
    ahead, item, step = StepsAhead(Mixture()), "step 4", 4
    values = play(ahead, rounds, outcomes(y))
    intervals = Conformal((0.5, 0.9))
    games, low = intervals.init(), []
    tokens: dict[int, Any] = {}
    centers = [value for one, value in zip(rounds, values, strict=True) if one.item == item]
    for t, center in enumerate(centers):
        if t >= step:  # the outcome of time t, for which the forecast was made at t - step
            games = intervals.observe(games, tokens[t - step], y[t], late=step - 1)
        told = intervals.predict(games, center, moment=t)
        tokens[t] = told.token
        low.append(told.low)
    found = ahead.past_bounds([0.9, 0.5], item, None)
    np.testing.assert_array_equal(found[:, :, 0], np.array(low)[:, ::-1])
    told = intervals.predict(games, 7.0, moment=len(y))
    np.testing.assert_array_equal(
        ahead.bounds([0.5, 0.9], [(item, 7.0)], None)[0], np.transpose([told.low, told.high])
    )
    assert np.isinf(ahead.bounds([0.5], [("step 3", 7.0)], None)).all()
    assert ahead.past_bounds([0.5], "step 3", None).shape == (0, 1, 2)


@pytest.mark.parametrize("single", [True, False])
def test_what_is_missing(single: bool) -> None:
    ahead = StepsAhead(Mixture(), single=single)
    assert np.isnan(ahead.predict("step 1", 0, {"a": np.nan, "b": None}))
    assert ahead.predict("step 1", 1, {"a": 1.0, "b": np.nan}) == 1.0
    ahead.settle(0, 3.0)
    ahead.settle(1, float("nan"))  # waits no longer
    ahead.settle(1, 2.0)
    assert np.isnan(ahead.made["step 1"].outcomes[1])
    ahead.settle(99, 2.0)
    assert ahead.peek([("step 1", {"a": 4.0})]) == [4.0]


def test_rounds_that_expired_are_not_learned() -> None:
    ahead = StepsAhead(Mixture(max_pending=1))
    for due in (5, 6):
        ahead.predict("step 5", due, {"a": 1.0, "b": 2.0})
    ahead.settle(5, 1.0)
    ahead.settle(6, 1.0)
    assert [np.isnan(one) for one in ahead.made["step 5"].outcomes] == [True, False]


def test_asking_changes_nothing() -> None:
    y, rounds = panel()
    ahead = StepsAhead(Mixture())
    play(ahead, rounds, outcomes(y))
    before = copy.deepcopy(ahead)
    row = {"a": 1.0, "b": 2.0}
    first = ahead.peek([("step 1", row), ("step 9", row)])
    assert ahead.peek([("step 9", row), ("step 1", row)]) == first[::-1]
    (weights,) = ahead.weights(["step 1"], row)
    assert sum(weights.values()) == pytest.approx(1.0)
    assert ahead == before
    ahead.predict("step 1", 99, row)
    assert ahead != before
    assert ahead != 1


def test_the_nearest_step_that_was_judged() -> None:
    assert step_item(3, [1, 2, 4]) == "step 2"
    assert step_item(9, [1, 2, 4], "b") == "b|step 4"
    assert step_item(-3, []) == "step 1"
