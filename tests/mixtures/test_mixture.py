"""The live mixture beside its oracle, and the laws of `predict` and `update`."""

import math
import warnings
from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from normalhedge import Mixture, NormalHedge
from normalhedge._core import STATE_FIELDS as ARRAYS
from tests import mixture_oracle
from tests.mixture_oracle import Oracle
from tests.mixtures.examples import NAMES, experts, none
from tests.rules import SINGLE, either


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("loss", list(mixture_oracle.LOSSES))
@pytest.mark.parametrize(
    ("combine", "gradient"), [("mean", False), ("mean", True), ("median", False)]
)
@pytest.mark.parametrize(("even", "lag"), [(0.0, 0), (0.25, 0), (0.0, 3)])
def test_a_mixture_is_the_oracle(
    rows: int, loss: str, combine: str, gradient: bool, even: float, lag: int
) -> None:
    hedger = NormalHedge(alpha=0.1, c=0.5)
    mixture = Mixture(hedger, loss, combine=combine, gradient=gradient, even=even)
    oracle = Oracle(4, 0.1, 0.5, loss, combine, gradient=gradient, even=even)
    forecasts, y = experts(120, np.random.default_rng(rows), rows)
    forecasts[40:45] = np.nan  # everybody sleeps
    mixture.join(NAMES)
    waiting: deque[tuple[int, Any, Any, Any]] = deque()
    for round_, outcomes in zip(forecasts, y.tolist(), strict=True):
        said = {name: round_[:, i].tolist() for i, name in enumerate(NAMES)}
        if rows == 1:
            said = {name: value[0] for name, value in said.items()}
        made = mixture.predict(said)
        slow = oracle.predict([none(row) for row in round_])
        values = [made.value] if rows == 1 else [None if math.isnan(v) else v for v in made.value]
        assert [v is None for v in values] == [v is None for v in slow]
        np.testing.assert_allclose(
            np.array(values, dtype=float), np.array(slow, dtype=float), rtol=1e-9, atol=1e-9
        )
        waiting.append((made.ticket, round_, slow, outcomes))
        if len(waiting) <= lag:
            continue
        ticket, settled, slow, told = waiting.popleft()
        mixture.update(ticket, told[0] if rows == 1 else told)
        oracle.update([none(row) for row in settled], slow, told, lag)
        np.testing.assert_allclose(mixture.regrets[0], oracle.regrets, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(
            mixture.live.loss_regrets[0], oracle.losses, rtol=1e-8, atol=1e-9
        )
    assert {range_.size for range_ in oracle.ranges.values()} == set(mixture.ranges[:, 0].tolist())


forecast = st.none() | st.floats(-1e6, 1e6) | st.just(math.nan) | st.just(math.inf)


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from("abcd"), forecast, min_size=1), st.floats(-1e6, 1e6)
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["square", "absolute", "pinball:level=0.2", "zero-one"]),
    st.sampled_from(
        [
            {"hedger": "auto:inside=true"},
            {"hedger": SINGLE},
            {"combine": "mean"},
            {"combine": "median"},
        ]
    ),
)
@settings(max_examples=200)
def test_a_prediction_is_inside_the_hull(
    rounds: list[tuple[dict[str, float | None], float]], loss: str, options: dict[str, Any]
) -> None:
    mixture = Mixture(loss=loss, **options)
    for said, outcome in rounds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            made = mixture.predict(said)
        heard = [x for x in said.values() if x is not None and math.isfinite(x)]
        if not heard:
            assert made.value is None
        else:
            assert min(heard) <= made.value <= max(heard)
            assert math.isclose(sum(made.weights.values()), 1.0, rel_tol=1e-9)
        mixture.update(made.ticket, outcome)
        for name in ARRAYS:
            assert np.isfinite(getattr(mixture.live, name)).all()


@either
@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("power", [-60, -30, 30, 60])
def test_the_scale_changes_nothing(loss: str, power: int, hedger: str | None) -> None:
    forecasts, y = experts(150, np.random.default_rng(5))
    runs = []
    for scale in (1.0, 2.0**power):
        mixture = Mixture(hedger, loss)
        values = []
        for row, outcome in zip(forecasts[:, 0] * scale, y[:, 0] * scale, strict=True):
            made = mixture.predict(dict(zip(NAMES, row.tolist(), strict=True)))
            values.append(None if made.value is None else made.value / scale)
            mixture.update(made.ticket, float(outcome))
        runs.append(values)
    assert runs[0] == runs[1]  # a power of two: to the bit


def follow(loss: str, outcomes: np.ndarray, errors: np.ndarray, **options: Any) -> list[float]:
    """Return the weight of the first expert in each round, for experts with these errors."""
    mixture = Mixture(SINGLE, loss, **options)
    weights = []
    for y, error in zip(outcomes.tolist(), errors.tolist(), strict=True):
        made = mixture.predict({f"e{i}": y + e for i, e in enumerate(error)})
        weights.append(made.weights["e0"])
        mixture.update(made.ticket, y)
    return weights


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_it_learns_at_any_scale(loss: str, scale: float) -> None:
    errors = np.random.default_rng(1).normal(size=(100, 3)) * [0.1, 1.0, 1.0] * scale
    weights = follow(loss, np.zeros(100), errors, gradient=False)
    assert min(weights[30:]) > 0.9


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("who", ["an expert", "everybody"])
@pytest.mark.parametrize("when", [0, 60])
def test_one_wild_value_does_not_freeze_learning(loss: str, who: str, when: int) -> None:
    rng = np.random.default_rng(2)
    errors = rng.normal(size=(400, 4)) * [0.1, 1.0, 1.0, 1.0]
    errors[when, slice(1, 2) if who == "an expert" else slice(None)] += 1e6 * rng.normal()
    # From round 200 on another expert is the good one: it must be found.
    errors[200:, [0, 2]] = errors[200:, [2, 0]]
    weights = np.array(follow(loss, np.zeros(400), errors, gradient=False))
    assert weights[300:].mean() < 0.05
    if when:
        assert weights[120:200].mean() > 0.9


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "absolute"},
        {"hedger": SINGLE},
        {"gradient": False},
        {"hedger": SINGLE, "loss": "absolute"},
        {"loss": "absolute", "combine": "mean"},
    ],
)
@pytest.mark.parametrize("bad", [3.0, 1e3, 1e7])
def test_an_expert_that_is_always_wild_is_left_alone(options: dict[str, Any], bad: float) -> None:
    rng = np.random.default_rng(12)
    mixture = Mixture(**options)
    errors = []
    for t in range(1500):
        scale = 1e4 if t < 100 else 1.0  # and the rest become calmer, too
        y = scale * rng.normal()
        said = {f"e{i}": y + scale * rng.normal() * 0.1 * (i + 1) for i in range(3)}
        made = mixture.predict({**said, "bad": bad * 1e4})
        mixture.update(made.ticket, y)
        errors.append(made.value - y)
    assert np.square(errors[1000:]).mean() < 0.02


@pytest.mark.parametrize("options", [{}, {"include": ("mean",)}])
def test_the_same_rounds_give_the_same_bits(options: dict[str, Any]) -> None:
    def run(seed: int) -> list[float | None]:
        rng = np.random.default_rng(seed)
        mixture, values = Mixture(**options), []
        for _ in range(100):
            y = float(rng.normal())
            said = {
                f"e{i}": None if rng.random() < 0.4 else float(y + rng.normal() * (1 + i))
                for i in range(5)
            }
            made = mixture.predict(said)
            values.append(made.value)
            mixture.update(made.ticket, y)
        return values

    assert [run(seed) for seed in range(60)] == [run(seed) for seed in range(60)]


def test_a_growing_scale_rescales_what_was_learned() -> None:
    errors = np.random.default_rng(3).normal(size=(60, 3)) * [0.1, 1.0, 1.0]
    errors[40:] *= 1e9
    weights = follow("absolute", np.zeros(60), errors)
    assert min(weights[20:]) > 0.8  # the order of the experts is never forgotten


def test_the_gradient_trick_finds_a_combination() -> None:
    rng = np.random.default_rng(4)
    y = rng.normal(size=600)
    losses = {}
    for gradient in (False, True):
        mixture = Mixture(SINGLE, gradient=gradient)
        errors = []
        for outcome in y.tolist():  # the truth is always midway
            made = mixture.predict({"low": outcome - 1.0, "high": outcome + 1.0})
            errors.append(made.value - outcome)
            mixture.update(made.ticket, outcome)
        losses[gradient] = float(np.square(errors[100:]).mean())
    assert losses[True] < 0.05
    assert losses[False] > 0.2 or losses[False] >= losses[True]


@either
def test_names_join_sleep_and_are_heard_again(hedger: str | None) -> None:
    mixture = Mixture(hedger, "absolute")
    for _ in range(30):
        made = mixture.predict({"a": 1.0, "b": 2.0})
        mixture.update(made.ticket, 1.0)
    made = mixture.predict({"b": 2.0, "c": 5.0})
    assert mixture.names == ["a", "b", "c"]
    assert made.weights["a"] == 0.0
    mixture.update(made.ticket, 1.0)
    made = mixture.predict({"c": 9.0, "a": 1.0})  # in another order, too
    assert made.weights["a"] > 0.9
    assert made.value == pytest.approx(1.0, abs=0.5 if hedger is None else 0.0)
    summary = {row.name: row for row in mixture.summary().experts}
    assert summary["a"].since == 0
    assert summary["b"].since is None
    assert summary["c"].last_seen == 31


@either
def test_a_refused_round_leaves_the_mixture_as_it_was(hedger: str | None) -> None:
    mixture = Mixture(hedger)
    for said, confidence in (
        ({"a": 1.0, 2: 3.0}, None),
        ({"a": 1.0, "b": 3.0}, {"a": 2.0}),
        ({"a": 1.0, "b": 3.0}, {"z": 1.0}),
        ({"a": 1.0, "b": 3.0}, [1.0]),
    ):
        with pytest.raises((ValueError, TypeError)):
            mixture.predict(said, confidence)  # type: ignore[arg-type]
        assert (mixture.names, mixture.items, mixture.rounds) == ([], [], 0)
    assert mixture.predict({"a": 1.0, "b": 3.0}, {"b": 0.0}).value == 1.0
    separate = Mixture(hedger, shared=False)
    separate.predict({"a": {"DE": 1.0}})
    assert separate.state("DE").weights.tolist() == [1.0]
    with pytest.raises(ValueError, match="item must be one of DE, got 'x'"):
        separate.state("x")
