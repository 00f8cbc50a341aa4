"""Regimes in hindsight."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.latent import cases
from benchmarks.latent.hindsight import true_smoother
from benchmarks.latent.scores import agreement
from normalhedge.latent import Inferred, Regimes, infer, resume
from normalhedge.latent.models import fit
from normalhedge.latent.regimes import verdict
from normalhedge.latent.regimes._recipes import Candidate
from tests.latent.regimes.examples import series, switching, textbook, weather


@pytest.fixture(scope="module")
def found() -> tuple[np.ndarray, Inferred]:
    state, rng = switching(900)
    values: Any = rng.normal(0.0, np.where(state, 2.5, 0.6))
    values[[100, 101, 500]] = np.nan
    return state, infer(values)


def test_hindsight_knows_more_than_the_rounds_before(found: tuple[np.ndarray, Inferred]) -> None:
    state, inferred = found
    looked = inferred.hindsight
    assert inferred.smoothed is looked.probabilities
    assert inferred.smoothed.shape == (900, 2)
    np.testing.assert_allclose(inferred.smoothed.sum(axis=1), 1.0)
    causal = agreement(np.maximum(inferred.states, 0), state)
    assert agreement(looked.path, state) > max(0.96, causal + 0.015)
    assert agreement(looked.states, state) > max(0.96, causal + 0.015)
    # The numbers are the causal ones: agreement needs no matching.
    assert (looked.path == inferred.states)[400:].mean() > 0.9
    assert sum(looked.weights.values()) == pytest.approx(1.0, abs=1e-4)
    assert max(looked.scores.values()) == 0.0
    assert looked.scores[2] > looked.scores[1] + 0.1
    assert [round(p.deviation, 1) for p in looked.parameters.values()] == [0.6, 2.6]
    assert repr(looked).startswith(
        "<RegimesInHindsight: 900 rounds, 2 regimes, best gaussian, 2 states"
    )


def test_smoothed_is_what_baum_welch_finds_where_nothing_moves() -> None:
    state, seen = textbook(1500)
    looked = infer(seen).hindsight
    fitted = fit(seen, 2, rng=np.random.default_rng(0))
    theirs = fitted.smoothed(seen)[0][:, np.argsort(fitted.emission.moments()[1])]
    assert np.abs(looked.probabilities - theirs).max() < 0.1
    assert agreement(looked.path, state) > 0.96


def test_names_last_where_states_drift_further_than_they_lie_apart() -> None:
    for draw, least in ((cases.drifting_means, 0.85), (cases.fast_drift, 0.95)):
        case = draw(np.random.default_rng([1, 1]))
        regimes = Regimes(case.emission)
        looked = regimes.look_back(regimes.run(case.observations).probabilities)
        assert len(looked.parameters) == 2
        assert agreement(looked.path, case.truth) > least
        fitted = fit(case.observations, 2, rng=np.random.default_rng(0), starts=10)
        alone = fitted.smoothed(case.observations)[0].argmax(axis=1)
        assert agreement(alone, case.truth) < 0.7
        assert agreement(true_smoother(case).argmax(axis=1), case.truth) > 0.97


def test_the_table_of_stays(found: tuple[np.ndarray, Inferred]) -> None:
    _, inferred = found
    table = inferred.segments()
    assert list(table) == ["from", "to", "regime", "rounds", "mean", "deviation"]
    path = inferred.hindsight.path
    again = np.concatenate([np.full(n, s) for n, s in zip(table["rounds"], table["regime"],
                                                          strict=True)])  # fmt: skip
    np.testing.assert_array_equal(again, path)
    assert table["from"][0] == 0
    assert table["to"][-1] == 899
    assert all(a + 1 == b for a, b in zip(table["to"], table["from"][1:], strict=False))
    numbers = inferred.sequence.numbers
    for a, b, mean, deviation in zip(
        table["from"], table["to"], table["mean"], table["deviation"], strict=True
    ):
        assert mean == pytest.approx(np.nanmean(numbers[a : b + 1]))
        assert deviation == pytest.approx(np.nanstd(numbers[a : b + 1]))


def test_tables_have_times_and_are_data_frames_where_pandas_is_used() -> None:
    state, rng = switching(200)
    days = pd.date_range("2020-01-01", periods=200)
    frame = pd.DataFrame({"a": 3.0 * state + rng.normal(size=200), "b": rng.normal(size=200)})
    inferred = infer(frame, time=days, states=(1, 2))
    table = inferred.segments()
    assert isinstance(table, pd.DataFrame)
    assert list(table)[-4:] == ["mean a", "deviation a", "mean b", "deviation b"]
    assert table["from"][0] == days[0]
    assert table["to"].iloc[-1] == days[-1]
    assert table["rounds"].sum() == 200


def test_other_kinds() -> None:
    values = weather(500)
    values[7] = None
    inferred = infer(values, states=(1, 2))
    state = switching(500, 1, 0.03)[0]
    assert agreement(inferred.hindsight.path, state) > 0.9
    assert sorted(round(float(p[1]), 1) for p in inferred.hindsight.symbols.values()) == [0.1, 0.9]
    table = inferred.segments()
    assert list(table) == ["from", "to", "regime", "rounds", "p(dry)", "p(wet)"]
    assert table["p(wet)"][0] == pytest.approx(1.0 - table["p(dry)"][0])
    rng = np.random.default_rng(0)
    state = switching(500)[0]
    counts = infer(rng.poisson(2.0 + 6.0 * state).tolist(), states=(1, 2))
    assert agreement(counts.hindsight.path, state) > 0.9
    memory = infer(np.cumsum(rng.normal(size=200)), kind="autoregressive", states=(1, 2))
    assert memory.smoothed.shape[0] == 200


def test_what_came_since_rests_on_the_earlier_rounds_too() -> None:
    state, rng = switching(700)
    values = rng.normal(3.0 * state, 1.0)
    first = infer(values[:640], states=(1, 2))
    rest = resume(first, values[640:])
    assert rest.smoothed.shape == (60, 2)
    assert agreement(rest.hindsight.path, state[640:]) > 0.95
    assert sum(rest.segments()["rounds"]) == 60
    missing = resume(first, [None] * 3)
    assert len(missing.hindsight.path) == 3


def test_short_and_odd_series() -> None:
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=20),
        np.r_[rng.normal(size=20), np.full(40, np.nan)],
        np.repeat([1.5, 2.5, 9.0], 10),
        1e98 * rng.normal(size=60),
        1e9 + rng.normal(size=60),
    ):
        looked = infer(values).hindsight
        assert len(looked) == len(values)
        assert np.isfinite(looked.probabilities).all()
        assert np.isfinite([p.deviation for p in looked.parameters.values()]).all()


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("return", "regimes", "Two regimes that return: state 0"),
        ("break", "break", "A break, at 149: from state"),
        ("walk", "wandering", "No regimes: a single one that wanders"),
        ("noise", "nothing", "No regimes: a single one explains"),
        ("words", "regimes", "Two regimes that return: state 0 (dry 9"),
    ],
)
def test_the_verdict(name: str, kind: str, words: str) -> None:
    rng = np.random.default_rng(0)
    values: Any = {
        "return": rng.normal(0.0, np.where(np.arange(500) // 100 % 2, 2.0, 0.5)),
        "break": rng.normal(np.r_[np.zeros(150), np.full(100, 2.5)], 1.0),
        "walk": np.cumsum(rng.normal(size=500)),
        "noise": rng.normal(size=400),
        "words": weather(400),
    }[name]
    found = infer(values, states=(1, 2, 3))
    result = verdict(found)
    assert result.kind == kind
    assert result.sentence.startswith(words)
    assert "nats a round" in result.evidence


def test_causal_regimes_count_for_those_in_hindsight() -> None:
    """More regimes of the time than in hindsight: probabilities are added up."""
    rng = np.random.default_rng(2)
    case = cases.drift(rng)
    found = infer(case.observations[:1500])
    looked, causal = found.hindsight, found.path.probabilities
    folded = looked.fold(causal)
    assert folded.shape == (1500, len(looked.parameters))
    np.testing.assert_allclose(folded.sum(axis=1), causal.sum(axis=1))
    places = looked.fold_places(causal)
    for k in range(folded.shape[1]):
        np.testing.assert_allclose(folded[:, k], causal[:, places == k].sum(axis=1))
    assert set(places.tolist()) == set(looked.parameters)


def test_rounding_makes_no_regimes() -> None:
    """States must not stand on single values of a grid."""
    noise = np.random.default_rng(0).normal(size=300)
    for step in (0.5, 0.1):
        found = infer(np.round(noise / step) * step + 0.25)
        assert len(found.hindsight.parameters) == 1
    coarse = infer(np.round(noise) + 0.25)  # three values have most of the rounds
    assert verdict(coarse).sentence.startswith("No regimes: states follow each other at random")
    state, rng = switching(400)
    found = infer(np.round(rng.normal(4.0 * state, 1.0)) + 0.25)
    assert len(found.hindsight.parameters) == 2
    assert agreement(found.hindsight.path, state) > 0.95


def test_nothing_was_seen() -> None:
    live = Regimes()
    path = live.run(np.full(30, np.nan))
    looked = live.look_back(path.probabilities)
    assert looked.path.tolist() == [-1] * 30
    assert repr(looked) == "<RegimesInHindsight: 30 rounds, 0 regimes, best none>"


@pytest.mark.parametrize("kind", ["gaussian", "poisson", "categorical", "full"])
def test_fixed_lag(kind: str) -> None:
    symbols = 3 if kind == "categorical" else None
    regimes = Regimes(kind, symbols=symbols, states=(1, 2))
    seen = series(kind, 260)
    regimes.run(seen)
    np.testing.assert_array_equal(regimes.smoothed(lag=0), regimes.probabilities)
    for lag in (1, 7, 259):
        assert regimes.smoothed(lag=lag).sum() == pytest.approx(1.0)
    assert regimes.remembered == 260


def test_a_lag_tells_more_than_the_moment() -> None:
    state, rng = switching(500, 3)
    regimes = Regimes("gaussian")
    now: list[np.ndarray] = []
    later: list[np.ndarray] = []
    for y in rng.normal(0.0, np.where(state, 2.0, 0.6)):
        regimes.observe(y)
        now.append(regimes.probabilities)
        later.append(regimes.smoothed(lag=min(10, len(later))))
    at = np.array(now)[200:-10].argmax(axis=1)
    lagged = np.array(later)[210:].argmax(axis=1)
    truth = state[200:-10]
    assert agreement(lagged, truth) > agreement(at, truth) + 0.01


def test_a_lag_is_the_smoothed_probability_of_the_models() -> None:
    """The mixture of the models, each smoothed over all rounds at once."""
    state, rng = switching(150)
    regimes = Regimes("gaussian", states=(1, 2))
    regimes.run(rng.normal(4.0 * state, 1.0))
    learned = regimes._state
    assert learned.bank is not None
    seen, expected = np.concatenate(learned.seen), np.zeros(2)
    candidates = learned.bank.candidates(learned.filters)
    for n, (weight, candidate) in enumerate(zip(regimes.weights, candidates, strict=True)):
        if not isinstance(candidate, Candidate):
            continue
        states = candidate.now().smooth(seen)[0][-6]
        expected += weight * states @ learned.labels.maps[n, : len(states)]
    np.testing.assert_allclose(regimes.smoothed(lag=5), expected / expected.sum(), atol=1e-9)


def test_wrong_lags_are_refused() -> None:
    regimes = Regimes("gaussian")
    with pytest.raises(ValueError, match="there is no round yet"):
        regimes.smoothed(lag=0)
    regimes.run(np.random.default_rng(0).normal(size=30))
    for lag, error, words in (
        (30, ValueError, "lag must be at most 29: the last 30 of 30 rounds are remembered, got 30"),
        (-1, ValueError, "lag must be at least 0, got -1"),
        (1.5, TypeError, "lag must be a whole number"),
        (True, TypeError, "lag must be a whole number"),
        (math.nan, TypeError, "lag must be a whole number"),
    ):
        with pytest.raises(error, match=words):
            regimes.smoothed(lag=lag)  # type: ignore[arg-type]


@pytest.mark.slow
def test_what_was_forgotten_is_named() -> None:
    regimes = Regimes("gaussian", states=1)
    regimes.run(np.random.default_rng(0).normal(size=21_000))
    assert 20_000 <= regimes.remembered < 21_000
    with pytest.raises(ValueError, match=r"the last 20,\d* of 21,000 rounds are remembered"):
        regimes.smoothed(lag=20_999)
