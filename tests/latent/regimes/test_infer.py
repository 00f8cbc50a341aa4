"""The regimes of a whole series."""

import cProfile
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from benchmarks.latent.scores import agreement
from normalhedge import NormalHedge
from normalhedge.boundary import inputs
from normalhedge.latent import Inferred, Regimes, infer, resume
from normalhedge.latent.regimes._baselines import baselines
from normalhedge.latent.regimes._sequence import encode
from tests.latent.regimes.examples import switching, weather


def test_few_values_and_wrong_settings_are_sentences() -> None:
    with pytest.raises(ValueError, match=r"at least 20 values are needed .* got 5"):
        infer([1.5, 2.5, 3.5, 2.0, 4.0])
    with pytest.raises(ValueError, match=r"at least 20 values are needed .* got 2"):
        infer([1.5, 2.5, *[None] * 30])
    values = switching(40)[1].normal(size=40)
    with pytest.raises(ValueError, match="time must have one entry"):
        infer(values, time=[1, 2])
    with pytest.raises(ValueError, match="states must"):
        infer(values, states=0)
    with pytest.raises(ValueError, match="states must"):
        infer(values, states=())
    with pytest.raises(TypeError, match="hedger"):
        infer(values, hedger=3)


@pytest.fixture(scope="module")
def returns() -> tuple[np.ndarray, list[Any], Inferred]:
    state, rng = switching(900)
    values: list[Any] = rng.normal(0.0, np.where(state, 2.5, 0.6)).tolist()
    values[100], values[101], values[500] = None, float("nan"), ""
    return state, values, infer(values)


def test_regimes_of_numbers(returns: tuple[np.ndarray, list[Any], Inferred]) -> None:
    state, _, found = returns
    assert agreement(found.states[300:], state[300:]) > 0.93
    assert len(found.parameters) == 2
    deviations = [p.deviation for p in found.parameters.values()]
    np.testing.assert_allclose(sorted(deviations), [0.6, 2.5], rtol=0.25)
    assert found.probabilities.shape == (900, max(found.parameters) + 1)
    np.testing.assert_allclose(found.probabilities[10:].sum(axis=1), 1.0, atol=1e-9)
    assert found.certainty[300:].mean() > 0.9
    assert 0.9 < sum(found.support.values()) < 1.0  # breaks and levels have the rest
    assert found.history[-1][0] > 840  # reviews are counted in observations
    assert found.coverage(0.9) == pytest.approx(0.9, abs=0.05)
    assert found.pit_histogram().sum() == pytest.approx(1.0)
    assert repr(found).startswith("<Inferred: 900 rounds, 2 regimes, now ")
    assert len(repr(found)) < 120
    with pytest.raises(AttributeError):
        found.symbol_probabilities = None  # type: ignore[misc, assignment]


def test_the_table_of_rounds(returns: tuple[np.ndarray, list[Any], Inferred]) -> None:
    columns = returns[2].columns()
    assert list(columns)[:3] == ["observed", "state", "probability"]
    assert {len(column) for column in columns.values()} == {900}
    assert columns["observed"][100] is None
    assert columns["state"][0] is None
    assert columns["log score"][500] is None
    assert columns["mean"][500] is not None


def test_it_is_what_regimes_say(returns: tuple[np.ndarray, list[Any], Inferred]) -> None:
    _, values, found = returns
    regimes = Regimes("gaussian")
    course = regimes.run(encode(values).numbers)
    before = regimes.probabilities
    new = regimes.renumber()
    course = course.renumber(new)
    np.testing.assert_array_equal(course.states, found.states)
    np.testing.assert_array_equal(regimes.probabilities[new], before)
    assert regimes.parameters().keys() == found.parameters.keys() == {0, 1}
    np.testing.assert_allclose(course.log_scores, found.path.log_scores, rtol=1e-9)


def test_numbers_are_in_order() -> None:
    """By means, or deviations where the means are alike, whatever was seen first."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        wild = 1 - np.arange(640) // 80 % 2  # it begins wild
        found = infer(rng.normal(0.0, np.where(wild, 2.0, 0.5)), states=(1, 2))
        assert (found.states == wild)[300:].mean() > 0.9
        assert found.parameters[0].deviation < 1.0 < found.parameters[1].deviation
        assert found.live.regimes.state == found.states[-1]
        np.testing.assert_array_equal(found.history[-1][1][0], found.parameters[0])
    high = infer(rng.normal(np.where(wild, 0.0, 3.0), 1.0), states=(1, 2))
    assert high.parameters[0].mean < 1.0 < high.parameters[1].mean


def test_nothing_is_known_of_what_comes() -> None:
    state, rng = switching(260)
    values = rng.normal(2.0 * state, 1.0)
    other = np.concatenate([values[:200], 50.0 + values[200:]])
    one, two = infer(values, states=(1, 2)), infer(other, states=(1, 2))
    np.testing.assert_allclose(one.path.means[:200], two.path.means[:200], rtol=1e-9)
    there = one.states[:200] >= 0
    np.testing.assert_array_equal(there, two.states[:200] >= 0)
    assert (
        agreement(one.states[:200][there], two.states[:200][there]) == 1.0
    )  # but for their numbers


def test_what_came_since_continues() -> None:
    state, rng = switching(400)
    values = rng.normal(3.0 * state, 1.0)
    whole = infer(values, states=(1, 2))
    first = infer(values[:250], states=(1, 2), time=range(250))
    rest = resume(first.live, values[250:], time=range(250, 400))
    np.testing.assert_array_equal(rest.states, whole.states[250:])
    np.testing.assert_allclose(rest.path.means, whole.path.means[250:], rtol=1e-9)
    assert first.live.regimes.rounds == 250
    assert rest.columns()["time"][0] == 250
    with pytest.raises(ValueError, match="values must be numbers"):
        resume(first.live, ["a"])
    with pytest.raises(ValueError, match="no value is given"):
        resume(first.live, [])


def test_regimes_of_symbols() -> None:
    values = weather(700)
    values[7] = None
    found = infer(values, states=(1, 2))
    state = switching(700, 1, 0.03)[0]
    assert found.sequence.labels == ("dry", "wet")
    assert agreement(found.states[200:], state[200:]) > 0.85
    assert found.symbol_probabilities.shape == (700, 2)
    np.testing.assert_allclose(found.symbol_probabilities[10:].sum(axis=1), 1.0)
    said, came, count = found.reliability()
    fitted = ~np.isnan(found.symbol_probabilities[:, 0])
    fitted[7] = False
    assert count.sum() == fitted.sum()
    assert (said * count).sum() == pytest.approx(found.symbol_probabilities[fitted, 1].sum())
    assert (came * count).sum() == sum(values[t] == "wet" for t in np.flatnonzero(fitted))
    logs = np.log(
        found.symbol_probabilities[
            np.arange(700), np.nan_to_num(found.sequence.numbers).astype(int)
        ]
    )
    np.testing.assert_allclose(found.path.log_scores[fitted], logs[fitted], rtol=1e-6)
    last = found.symbol_history[-1][1]
    assert sorted(round(float(p[1]), 1) for p in last.values()) == [0.1, 0.9]
    assert list(found.columns())[-5:-3] == ["p(dry)", "p(wet)"]
    assert found.forecast(2)[1].symbols.sum() == pytest.approx(1.0)
    assert math.isnan(found.coverage())


def test_regimes_of_counts_and_of_several_columns() -> None:
    state, rng = switching(700)
    found = infer(rng.poisson(2.0 + 6.0 * state).tolist(), states=(1, 2))
    assert found.sequence.encoding.kind == "counts"
    assert agreement(found.states[200:], state[200:]) > 0.9
    assert found.coverage(0.8) == pytest.approx(0.8, abs=0.06)
    low = found.forecast(1)[0].interval(0.9)[0]
    assert low == int(low) >= 0.0
    noise = rng.normal(size=(700, 2))
    both = infer({"a": 3.0 * state + noise[:, 0], "b": noise[:, 1]}, states=(1, 2))
    assert agreement(both.states[200:], state[200:]) > 0.9
    assert both.forecast(3).interval().shape == (3, 2, 2)
    assert {"a", "b", "mean a", "deviation b"} <= set(both.columns())
    assert both.coverage(0.9) == pytest.approx(0.9, abs=0.05)


def test_numbers_with_memory_one_state_and_another_hedger() -> None:
    values = np.cumsum(switching(200)[1].normal(size=200))
    found = infer(values, kind="autoregressive", states=2, hedger=NormalHedge(memory=100), budget=5)
    assert set(found.parameters) <= {0, 1}
    assert found.live.regimes.emission == "autoregressive"
    told: list[float] = []
    found = infer(values.tolist(), states=1, progress=told.append)
    assert found.probabilities.shape == (200, 1)
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize(
    "name", ["huge", "offset", "outlier", "rare", "late", "early", "alike", "scales", "steps"]
)
def test_odd_series_are_followed(name: str) -> None:
    noise = np.random.default_rng(5).normal(size=150)
    values: Any = {
        "huge": 1e98 * noise,
        "offset": 1e9 + noise,
        "outlier": np.where(np.arange(150) == 70, 1e90, noise),
        "rare": ["a"] * 149 + ["b"],
        "late": [None] * 100 + noise.tolist(),
        "early": [*noise.tolist(), *[None] * 100],
        "alike": {"a": noise, "b": noise},
        "scales": {"a": 1e60 * noise, "b": 1e-60 * noise[::-1]},
        "steps": np.repeat([1.5, 2.5, 9.0], 50),
    }[name]
    found = infer(values, states=(1, 2))
    assert np.isfinite(found.forecast(2).means).all()
    assert np.isfinite(found.forecast(2).interval()).all()
    np.testing.assert_allclose(found.probabilities[-1].sum(), 1.0)
    assert all(
        np.isfinite(scores[-1]) or name == "early" for scores in baselines(found.sequence).values()
    )


def test_more_than_three_states_alone() -> None:
    state, rng = switching(900)
    found = infer(rng.normal(3.0 * state, 1.0), states=(4, 5))
    assert found.path.probabilities.any()
    assert np.isfinite(found.forecast(1).means).all()
    with pytest.raises(ValueError, match="60 values are too few for models with 3 states"):
        infer(rng.normal(size=60), states=3)


def test_a_series_that_begins_with_gaps() -> None:
    values = np.random.default_rng(0).normal(size=40)
    late = infer(np.r_[np.full(60, np.nan), values])
    np.testing.assert_allclose(late.path.means[60:], infer(values).path.means, rtol=1e-6)


def test_sentinels_do_not_set_the_scale() -> None:
    state, rng = switching(800)
    values = rng.normal(20.0, np.where(state, 2.0, 0.5))
    values[[100, 300, 500]] = -9999.0
    found = infer(values)
    low, high = found.forecast(1).interval(0.9)[0]
    assert 10.0 < low < 20.0 < high < 30.0
    assert min(p.deviation for p in found.parameters.values() if p.mean > 0.0) < 0.8


@pytest.mark.parametrize("offset", [1e9, -1e11])
def test_far_from_zero(offset: float) -> None:
    state, rng = switching(400)
    values = rng.normal(2.0 * state, 1.0)
    near, far = infer(values, states=(1, 2)), infer(values + offset, states=(1, 2))
    np.testing.assert_allclose(
        far.forecast(1).interval(0.9) - offset, near.forecast(1).interval(0.9), atol=0.05
    )


def test_missing_values_of_others() -> None:
    values = np.random.default_rng(0).normal(size=100)
    holes = np.where(values > 1.5, np.nan, values)
    same = infer(holes).path.log_scores
    for given in (
        np.ma.masked_array(values, mask=values > 1.5),
        pd.array(holes, dtype="Float64"),
        pl.Series(holes).fill_nan(None),
        pl.DataFrame({"x": holes}),
    ):
        np.testing.assert_array_equal(infer(given).path.log_scores, same)
    one, other = Regimes("gaussian"), Regimes("gaussian")
    for value in holes:
        one.observe(value)
        other.observe(None if np.isnan(value) else value)
    assert one.predict().mean == other.predict().mean


def test_wrong_forms_are_a_sentence() -> None:
    values = np.random.default_rng(0).normal(size=100)
    found = infer(values)
    assert len(resume(found, values[:30]).states) == 30
    with pytest.raises(ValueError, match="1 column came before, and now 2"):
        resume(found, {"a": values, "b": values})
    for wrong in (3.0, "abc", b"abc"):
        with pytest.raises(TypeError, match="values must be a series or a table"):
            infer(wrong)


def test_former_names_warn_and_still_answer(
    returns: tuple[np.ndarray, list[Any], Inferred],
) -> None:
    found = returns[2]
    with pytest.warns(DeprecationWarning, match="course is now called path"):
        assert found.course is found.path
    with pytest.warns(DeprecationWarning, match="code is now called encoding"):
        assert found.live.code is found.live.encoding


def test_values_are_checked_once_and_own_arrays_never() -> None:
    values = np.random.default_rng(0).normal(size=300)
    with cProfile.Profile() as profile:
        infer(values)
    checks = sum(entry.callcount for entry in profile.getstats()
                 if getattr(entry.code, "co_filename", "") == inputs.__file__)  # fmt: skip
    assert 0 < checks < 500
