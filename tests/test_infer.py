"""Series of people: how they are read, what is found in them, and what is refused."""

import math
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from normalhedge import NormalHedge
from normalhedge.latent import Inferred, Regimes, infer, resume
from normalhedge.latent.regimes.baselines import baselines
from normalhedge.latent.regimes.code import Code
from normalhedge.latent.regimes.matching import agreement
from normalhedge.latent.regimes.sequence import encode


def switching(rounds: int = 600, seed: int = 0, chance: float = 0.015) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    state = np.cumsum(rng.random(rounds) < chance) % 2
    return state, rng


def weather(days: int = 300) -> list[Any]:
    state, rng = switching(days, 1, 0.03)
    return [("dry", "wet")[int(x)] for x in rng.random(days) < np.where(state, 0.9, 0.1)]


def test_kinds_are_told_apart() -> None:
    words = encode(["b", None, "a", "", "b", float("nan")])
    assert words.labels == ("a", "b")
    np.testing.assert_array_equal(words.numbers, [1, np.nan, 0, np.nan, 1, np.nan])
    assert words.decoded() == {"observed": ["b", None, "a", None, "b", None]}
    assert words.guess == "2 symbols"
    assert encode([True, False]).labels == ("False", "True")
    assert encode([10, 9, 10.0]).labels == ("9", "10")
    assert encode([1, 2, 2.5]).code == Code("numbers")
    assert encode([1, 2, 2.5], kind="symbols").labels == ("1", "2", "2.5")
    assert encode([1, 2, 1], kind="numbers").code == Code("numbers")
    assert encode([0, 3, 7, None]).guess == "counts"
    assert encode([0, 3, 70_000]).code.kind == "numbers"
    assert encode([0, -3, 7]).code.kind == "numbers"
    rain = encode([0.0, 2.0, None], above=0.0)
    np.testing.assert_array_equal(rain.numbers, [0, 1, np.nan])
    assert rain.labels == ("at most 0", "above 0")
    assert rain.raw is not None


def test_several_columns_in_every_form() -> None:
    table = np.array([[1.5, 2.0], [0.5, np.nan], [3.0, 4.0]])
    for given in (
        table,
        [list(row) for row in table.tolist()],
        {"a": table[:, 0], "b": table[:, 1]},
        pd.DataFrame({"a": table[:, 0], "b": table[:, 1]}),
    ):
        found = encode(given)
        np.testing.assert_array_equal(found.numbers, table)
        assert found.known.tolist() == [True, False, True]
        assert found.code.emission == "full"
    assert list(found.decoded()) == ["a", "b"]
    assert encode(pd.DataFrame({"a": [1.5, 2.5]})).numbers.shape == (2,)
    assert encode(pd.Series([1.5, 2.5, 4.0])).code.kind == "numbers"
    many = encode(np.random.default_rng(0).normal(size=(30, 12)))
    assert many.code.emission == "diagonal"


DAYS = [date(2020, 1, 1) + timedelta(k) for k in range(40)]


@pytest.mark.parametrize(
    ("values", "options", "word"),
    [
        ([], {}, "no value is given"),
        ([None, float("nan"), " "], {}, "no value is given"),
        (["a", "a", None], {}, "every value is a"),
        ([2.5, 2.5], {}, "every value is 2.5"),
        ([1.0, 2.0], {"above": 5}, "every value is at most 5"),
        (["a", "b"], {"above": 0}, "numbers are wanted, got 'a' in row 1"),
        (["a", 1.0], {"kind": "numbers"}, "numbers are wanted, got 'a'"),
        ([*map(str, range(40)), "x"], {}, "numbers are wanted, got 'x' in row 41"),
        ([*range(40), "x"], {}, "numbers are wanted, got 'x' in row 41"),
        ([1.0, math.inf], {"kind": "numbers"}, "within ±1e100, got inf in row 2"),
        ([1.5, -math.inf], {}, "within ±1e100, got -inf in row 2"),
        ([1.5, 1e200], {}, "within ±1e100, got 1e.200 in row 2"),
        ([1, 2], {"kind": "words"}, "kind must be one of numbers, autoregressive, counts, symbols"),
        ([1, 2], {"kind": "numbers", "above": 1}, "kind cannot be numbers"),
        ([f"day {k}" for k in range(300)], {}, "300 different symbols in 300 rows are too many"),
        ([f"day {k}" for k in range(30)], {}, "30 different symbols in 30 rows"),
        ([f"n{k}" for k in range(10**6)], {}, "1,000,000 different symbols"),
        ([10**400, 1, 2], {}, "within ±1e100"),
        ([{"a"}, {"b"}], {}, "words or numbers are wanted, got {'a'} in row 1"),
        ([b"caf\xe9", "a"], {}, "words or numbers are wanted"),
        (["1", 1, "a"], {}, "words and numbers are mixed"),
        (["a", "b"], {"above": math.nan}, "above must"),
        (DAYS, {}, "these are dates, such as 2020-01-01"),
        ([str(day) for day in DAYS], {}, "these are dates"),
        ([f"{day:%d.%m.%Y}" for day in DAYS], {}, "these are dates"),
        ([1.5, 2.0, -1.0], {"kind": "counts"}, "counts must be whole numbers from 0 on, got 1.5"),
        ([1, 2, 10**6], {"kind": "counts"}, "at most 10,000, got 1e.06: larger ones are better"),
        ({"a": [1, 2], "b": ["x", "y"]}, {}, "must all be numbers: in b numbers are wanted"),
        ({"a": [1, 2], "b": [1]}, {}, "as long as each other"),
        ({"a": [1, None], "b": [None, 1]}, {}, "no row has a value in each column"),
        ({"a": [1, 2], "b": [3, 3]}, {}, "every value of b is the same"),
        ({"a": [1, 2], "b": [3, 4]}, {"above": 2}, "above is for one column"),
        ({"a": [1, 2], "b": [3, 4]}, {"kind": "counts"}, "kind cannot be counts"),
        ([[1, 2], [3]], {}, "as many numbers in each row"),
        (np.zeros((2, 2, 2)), {}, "T or T x d"),
        (np.zeros((9, 99)), {}, "at most 50 columns"),
    ],
)
def test_what_teaches_nothing_is_a_sentence(values: Any, options: Any, word: str) -> None:
    for read in (encode, infer):
        with pytest.raises((ValueError, TypeError), match=word) as said:
            read(values, **options)
        assert len(str(said.value)) < 400


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
        infer(values, hedger=3)  # type: ignore[arg-type]


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
    assert sum(found.support.values()) == pytest.approx(1.0)
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
    course = course.renumbered(new)
    np.testing.assert_array_equal(course.states, found.states)
    np.testing.assert_array_equal(regimes.probabilities[new], before)
    assert regimes.parameters().keys() == found.parameters.keys() == {0, 1}
    np.testing.assert_allclose(course.log_scores, found.course.log_scores, rtol=1e-9)


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
    np.testing.assert_allclose(one.course.means[:200], two.course.means[:200], rtol=1e-9)
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
    np.testing.assert_allclose(rest.course.means, whole.course.means[250:], rtol=1e-9)
    assert first.live.regimes.rounds == 250
    assert rest.columns()["time"][0] == 250
    with pytest.raises(ValueError, match="numbers are wanted"):
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
    np.testing.assert_allclose(found.course.log_scores[fitted], logs[fitted], rtol=1e-6)
    last = found.symbol_history[-1][1]
    assert sorted(round(float(p[1]), 1) for p in last.values()) == [0.1, 0.8]
    assert list(found.columns())[-3:-1] == ["p(dry)", "p(wet)"]
    assert found.forecast(2)[1].symbols.sum() == pytest.approx(1.0)
    assert math.isnan(found.coverage())


def test_regimes_of_counts_and_of_several_columns() -> None:
    state, rng = switching(700)
    found = infer(rng.poisson(2.0 + 6.0 * state).tolist(), states=(1, 2))
    assert found.sequence.code.kind == "counts"
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


def test_rivals_are_causal_and_right() -> None:
    state, rng = switching(400)
    values = rng.normal(3.0 * state, 1.0)
    values[60] = np.nan
    found = baselines(encode(values))
    early = baselines(encode(values[:300]))
    assert len(found) == 5
    for name, scores in found.items():
        np.testing.assert_allclose(scores[:300], early[name], rtol=1e-6)
        assert np.isnan(scores[:50]).all()
        assert np.isnan(scores[60])
        assert np.isfinite(scores[61:]).sum() >= 338
    steps = np.diff(values[:60])
    variance = np.mean(steps[:-1] ** 2)
    expected = -0.5 * (np.log(2 * np.pi * variance) + steps[-1] ** 2 / variance)
    assert found["the last value again"][59] == pytest.approx(expected)
    own = infer(values, states=(1, 2, 3)).course.log_scores
    assert np.nansum(own[61:]) > np.nansum(found["one state, all rounds"][61:])
    assert baselines(encode(values[:40])) == {}


def test_a_markov_chain_is_counted() -> None:
    values = weather(120)
    scores = baselines(encode(values))["Markov chain"]
    pairs = list(pairwise(values[:100]))
    same = sum(pair == (values[99], values[100]) for pair in pairs) + 0.5
    all_from = sum(pair[0] == values[99] for pair in pairs) + 1.0
    assert scores[100] == pytest.approx(math.log(same / all_from))
    assert "the last value again" not in baselines(encode([k % 7 for k in range(99)]))


# Found by a stranger


def test_more_than_three_states_alone() -> None:
    state, rng = switching(900)
    found = infer(rng.normal(3.0 * state, 1.0), states=(4, 5))
    assert found.course.probabilities.any()
    assert np.isfinite(found.forecast(1).means).all()
    with pytest.raises(ValueError, match="60 values are too few for models with 3 states"):
        infer(rng.normal(size=60), states=3)


def test_a_series_that_begins_with_gaps() -> None:
    values = np.random.default_rng(0).normal(size=40)
    late = infer(np.r_[np.full(60, np.nan), values])
    np.testing.assert_allclose(late.course.means[60:], infer(values).course.means, rtol=1e-6)


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
    same = infer(holes).course.log_scores
    for given in (
        np.ma.masked_array(values, mask=values > 1.5),
        pd.array(holes, dtype="Float64"),
        pl.Series(holes).fill_nan(None),
        pl.DataFrame({"x": holes}),
    ):
        np.testing.assert_array_equal(infer(given).course.log_scores, same)
    one, other = Regimes("gaussian"), Regimes("gaussian")
    for value in holes:
        one.observe(value)
        other.observe(None if np.isnan(value) else value)
    assert one.predict().mean == other.predict().mean


def test_wrong_forms_are_a_sentence() -> None:
    values = np.random.default_rng(0).normal(size=100)
    found = infer(values)
    assert len(resume(found, values[:30]).states) == 30
    with pytest.raises(ValueError, match="there were 1 columns before, and now 2"):
        resume(found, {"a": values, "b": values})
    for wrong in (3.0, "abc", b"abc"):
        with pytest.raises(TypeError, match="values must be a series or a table"):
            infer(wrong)
