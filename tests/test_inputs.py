"""Every refusal names the argument, the value and the accepted values, and changes nothing."""

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge, _core
from normalhedge.guarantees import hedge_bound, theorem_1
from normalhedge.guarantees.potentials import ExponentialPotential, NormalPotential
from normalhedge.hedgers import Hedge

HEDGER = NormalHedge(0.1)
STATE = HEDGER.run([[1.0, 0.0, -1.0], [0.5, -1.0, 0.0]]).state


@pytest.mark.parametrize(
    ("gains", "error", "words"),
    [
        ([0.0, math.nan, 0.0], ValueError, ["gains[1] is nan", "[-1, 1]"]),
        ([0.0, 0.0, math.inf], ValueError, ["gains[2] is inf", "[-1, 1]"]),
        ([-1.5, 0.0, 0.0], ValueError, ["gains[0] is -1.5", "[-1, 1]"]),
        (np.array([0, -128, 0], dtype=np.int8), ValueError, ["gains[1] is -128"]),
        (np.array([0, 2, 0], dtype=np.int8), ValueError, ["gains[1] is 2"]),
        (np.array([0, 0, 1.5], dtype=np.float32), ValueError, ["gains[2] is 1.5"]),
        ([0.0, 0.0], ValueError, ["gains", "(3,)", "(2,)"]),
        ([[0.0, 0.0, 0.0]], ValueError, ["gains", "(3,)", "(1, 3)"]),
        (0.5, ValueError, ["gains", "(3,)", "()"]),
        ([], ValueError, ["gains", "(3,)", "(0,)"]),
        ([[1.0], [1.0, 2.0]], ValueError, ["gains", "rectangular"]),
        (["a", "b", "c"], TypeError, ["gains", "dtype <U1"]),
        (np.ma.masked_array([0.0, 0.0, 0.0], [True, False, False]), TypeError, ["masked"]),
        ([True, False, True], TypeError, ["gains", "dtype bool"]),
        ([1j, 0, 0], TypeError, ["gains", "dtype complex128"]),
        ([None, 0, 0], TypeError, ["gains", "dtype object"]),
    ],
)
def test_gains(gains: Any, error: type[Exception], words: list[str]) -> None:
    refuses(error, words, lambda **options: HEDGER.step(STATE, gains, **options))
    refuses(error, words, lambda **options: HEDGER.step(STATE, gains, [1, 1, 1], **options))


@pytest.mark.parametrize(
    ("confidence", "error", "words"),
    [
        ([0.0, math.nan, 0.0], ValueError, ["confidence[1] is nan", "[0, 1]"]),
        ([0.0, 1.0, 1.01], ValueError, ["confidence[2] is 1.01", "[0, 1]"]),
        ([-0.5, 1.0, 1.0], ValueError, ["confidence[0] is -0.5", "[0, 1]"]),
        ([1.0, 1.0], ValueError, ["confidence", "(3,)", "(2,)"]),
        (["a", "b", "c"], TypeError, ["confidence", "dtype <U1"]),
    ],
)
def test_confidence(confidence: Any, error: type[Exception], words: list[str]) -> None:
    refuses(error, words, lambda **options: HEDGER.step(STATE, [0, 0, 0], confidence, **options))
    refuses(error, words, lambda **_: HEDGER.play(STATE, confidence))


def refuses(error: type[Exception], words: list[str], call: Any) -> None:
    before = pickle.dumps(STATE)
    for in_place in (False, True):
        with pytest.raises(error) as refusal:
            call(in_place=in_place)
        for word in words:
            assert word in str(refusal.value)
        assert pickle.dumps(STATE) == before


@pytest.mark.parametrize(
    ("gains", "confidence", "error", "words"),
    [
        (np.zeros((0, 3)), None, ValueError, ["gains", "at least one", "(0, 3)"]),
        (np.zeros((3, 0)), None, ValueError, ["gains", "at least one", "(3, 0)"]),
        (np.zeros(3), None, ValueError, ["gains", "row for each round", "(3,)"]),
        (np.zeros((2, 4)), None, ValueError, ["gains", "3 columns", "got 4"]),
        (np.zeros((2, 3)), np.zeros((3, 2)), ValueError, ["confidence", "(2, 3)", "(3, 2)"]),
        ([[0, 0, 0], [0, math.nan, 0]], None, ValueError, ["gains[1, 1] is nan"]),
        ([[0, 0, 0], [0, 0, 0]], [[1, 1, 1], [1, 1, 2]], ValueError, ["confidence[1, 2] is 2"]),
        ("text", None, TypeError, ["gains", "dtype <U4"]),
    ],
)
def test_run(gains: Any, confidence: Any, error: type[Exception], words: list[str]) -> None:
    refuses(error, words, lambda **_: HEDGER.run(gains, confidence, state=STATE))


def test_a_large_state_is_not_changed_either() -> None:
    n = _core.get_slicing()[1]
    state = HEDGER.step(HEDGER.init(n), np.linspace(-1, 1, n))
    before = pickle.dumps(state)
    for bad in (math.nan, math.inf, -2.0):
        gains = np.zeros(n)
        gains[[5, -1]] = -bad, bad
        with pytest.raises(ValueError, match=r"gains\[\d+\] is"):
            HEDGER.step(state, gains, in_place=True)
        with pytest.raises(ValueError, match=r"gains\[1, \d+\] is"):
            HEDGER.run([np.zeros(n), gains], state=state)
    assert pickle.dumps(state) == before


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, math.nan, math.inf])
def test_alpha_out_of_range(alpha: float) -> None:
    makers: list[Callable[[], object]] = [
        lambda: NormalHedge(alpha),
        lambda: Hedge(alpha, 1.0),
        lambda: Hedge.corrected(alpha, 10),
        lambda: theorem_1(alpha, 10, 4.0),
        lambda: hedge_bound(alpha, 10, 1.0),
    ]
    for make in makers:
        with pytest.raises(ValueError, match=r"alpha must be strictly between 0 and 1, got"):
            make()


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_c_and_eta_out_of_range(value: float) -> None:
    makers: dict[str, Callable[[], object]] = {
        "c": lambda: NormalHedge(0.1, c=value),
        "c ": lambda: NormalPotential(value),
        "eta": lambda: Hedge(0.1, value),
        "eta ": lambda: ExponentialPotential(value),
    }
    for name, make in makers.items():
        with pytest.raises(ValueError, match=rf"^{name.strip()} must be .*, got"):
            make()


def test_c_too_small_for_a_float() -> None:
    with pytest.raises(ValueError, match=r"c must be a finite number > 1e-300"):
        NormalHedge(0.1, c=1e-310)
    run = NormalHedge(0.5, c=1e-299).run(np.random.default_rng(0).uniform(-1, 1, (50, 4)))
    assert run.state.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("value", ["0.1", None, True, [0.1], 1j])
def test_settings_that_are_not_numbers(value: Any) -> None:
    spread: Any = 1j if value is None else value  # no c is the default c
    for make in (lambda: NormalHedge(0.1, c=spread), lambda: Hedge(value, 1.0)):
        with pytest.raises(TypeError, match="must be a number, got"):
            make()


def test_one_way_to_give_alpha() -> None:
    too_few_or_many: list[dict[str, Any]] = [
        {},
        {"alpha": 0.1, "memory": 10},
        {"memory": 10, "half_life": 7},
    ]
    for ways in too_few_or_many:
        with pytest.raises(TypeError, match="exactly one of alpha, memory and half_life"):
            NormalHedge(**ways)
    with pytest.raises(ValueError, match=r"memory must be a finite number > 1, got 1\.0"):
        NormalHedge(memory=1)
    with pytest.raises(ValueError, match=r"half_life must be a finite number > 0, got -3\.0"):
        NormalHedge(half_life=-3)
    with pytest.raises(ValueError, match=r"memory must be a finite number > 1, got inf"):
        NormalHedge(memory=10**400)
    with pytest.raises(ValueError, match=r"half_life must be .*, got 1e-09"):
        NormalHedge(half_life=1e-9)


@pytest.mark.parametrize("n", [0, -3])
def test_no_experts(n: int) -> None:
    with pytest.raises(ValueError, match=f"n must be at least 1, got {n}"):
        HEDGER.init(n)
    with pytest.raises(ValueError, match=f"n_experts must be at least 1, got {n}"):
        HEDGER.bound(n)


@pytest.mark.parametrize("n", [2.5, "3", True, None])
def test_a_number_of_experts_that_is_no_number(n: Any) -> None:
    with pytest.raises(TypeError, match="n must be a whole number, got"):
        HEDGER.init(n)


def test_states_that_are_none() -> None:
    for call in (
        lambda: HEDGER.step((1, 2), [0.0]),  # type: ignore[arg-type]
        lambda: HEDGER.play(None),  # type: ignore[arg-type]
        lambda: HEDGER.report({}),  # type: ignore[arg-type]
        lambda: HEDGER.join("state"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match="state must be a State, got"):
            call()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ledger": [[0.0]]}, r"ledger must have 3 columns, as many as weights, got \(1, 1\)"),
        ({"ledger": [0.0, 0.0, 0.0]}, "ledger must have 3 columns"),
        ({"ledger": [[0.0, math.nan, 0.0]]}, "ledger and totals must be finite numbers"),
        ({"totals": [math.inf]}, "ledger and totals must be finite numbers"),
        ({"weights": [0.5, 0.5, 0.5]}, "weights must not be negative and must sum to one"),
        ({"weights": [1.5, -0.5, 0.0]}, "weights must not be negative and must sum to one"),
        ({"weights": [], "ledger": [[]]}, "weights must be a non-empty"),
        ({"weights": [[1.0]]}, "weights must be a non-empty one-dimensional array"),
        ({"rounds": -1}, "rounds must be at least 1, got -1"),
        ({"joined": 2}, "joined must be at least the number of experts, 3, got 2"),
        ({"gain": 2.0}, r"gain must be in \[-1, 1\], got 2.0"),
    ],
)
def test_states_that_cannot_be(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        STATE._replace(**changes)
    with pytest.raises(ValueError, match=words):
        type(STATE)(**(STATE._asdict() | changes))


def test_join_and_leave() -> None:
    before = pickle.dumps(STATE)
    assert HEDGER.leave(STATE, []) is STATE
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        HEDGER.join(STATE, 0)
    with pytest.raises(ValueError, match=r"experts must be indices in 0\.\.2, got \[3\]"):
        HEDGER.leave(STATE, [3])
    with pytest.raises(ValueError, match=r"experts must be indices in 0\.\.2, got -1"):
        HEDGER.leave(STATE, -1)
    with pytest.raises(TypeError, match=r"experts must be whole numbers, got \[0\.5\]"):
        HEDGER.leave(STATE, [0.5])
    with pytest.raises(ValueError, match="at least one expert behind"):
        HEDGER.leave(STATE, [0, 1, 2])
    assert pickle.dumps(STATE) == before


@pytest.mark.parametrize("quantile", [0.0, -0.1, 1.5, math.nan])
def test_quantiles(quantile: float) -> None:
    for call in (
        lambda: STATE.quantile_regret(quantile),
        lambda: HEDGER.bound(10, quantile=quantile),
        lambda: Hedge(0.1, 1.0).bound(10, quantile=quantile),
        lambda: HEDGER.report(STATE, quantile),
    ):
        with pytest.raises(ValueError, match=r"quantile must be in \(0, 1\], got"):
            call()


def test_points() -> None:
    for x, error, words in (
        ([], ValueError, "non-empty"),
        ([[1.0]], ValueError, "one-dimensional"),
        ([0.0, math.nan], ValueError, r"x\[1\] is nan"),
        ([math.inf], ValueError, r"x\[0\] is inf"),
        ([1e308], ValueError, r"x\[0\] is 1e\+308"),
        (["a"], TypeError, "dtype <U1"),
    ):
        for potential in (NormalPotential(), ExponentialPotential(1.0)):
            for method in ("log", "value", "derivative", "weights", "average", "log_average"):
                with pytest.raises(error, match=words):
                    getattr(potential, method)(x)
