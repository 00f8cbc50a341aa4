"""The laws hold of our hedgers, and fail for broken ones."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge, checks, hedgers
from normalhedge.checks import Law
from normalhedge.hedgers import Hedge, Hedger

HEDGERS: list[Hedger[Any]] = [
    NormalHedge(0.1),
    NormalHedge(0.9, c=0.1),
    NormalHedge(1e-9, c=1.0),
    Hedge(0.1, eta=0.5),
    Hedge(0.01, eta=100.0),
]


@pytest.mark.parametrize("hedger", HEDGERS, ids=repr)
@pytest.mark.parametrize("law", checks.LAWS.values(), ids=checks.LAWS.keys())
def test_our_hedgers_obey(law: Law, hedger: Hedger[Any]) -> None:
    law(hedger)


@dataclasses.dataclass(frozen=True)
class Broken:
    """NormalHedge with one thing wrong."""

    method: str
    spoil: Callable[..., Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        right = getattr(NormalHedge(0.1), name)
        if name != self.method:
            return right
        return lambda *arguments, **options: self.spoil(right, *arguments, **options)


def _forget_to_normalise(right: Any, *arguments: Any) -> Any:
    state = right(*arguments)
    return state._replace(weights=state.weights * 1.001)


def _play_sleepers(right: Any, state: Any, _confidence: Any = None) -> Any:
    return right(state)


def _overwrite(right: Any, state: Any, gains: Any, confidence: Any = None) -> Any:
    return right(state, gains, confidence, in_place=True)


def _skip_a_round(right: Any, gains: Any, confidence: Any = None, **options: Any) -> Any:
    return right(gains[:1], None if confidence is None else confidence[:1], **options)


def _prefer_the_first(right: Any, state: Any, gains: Any, confidence: Any = None) -> Any:
    gains = np.array(gains, dtype=float)
    gains[0] = np.clip(gains[0] + 0.1, -1, 1) if np.isfinite(gains[0]) else gains[0]
    return right(state, gains, confidence)


def _clip(right: Any, state: Any, gains: Any, confidence: Any = None) -> Any:
    return right(state, np.clip(np.nan_to_num(gains), -1, 1), confidence)


def _start_ahead(right: Any, state: Any, count: int) -> Any:
    joined = right(state, count)
    return joined._replace(ledger=joined.ledger + 1.0, weights=joined.weights * 2)


BROKEN: list[tuple[str, str, Callable[..., Any]]] = [
    ("weights_are_a_distribution", "step", _forget_to_normalise),
    ("only_the_awake_are_played", "play", _play_sleepers),
    ("prediction_is_in_the_hull", "run", _skip_a_round),
    ("step_changes_nothing_it_is_given", "step", _overwrite),
    ("run_folds_step", "run", _skip_a_round),
    ("order_does_not_matter", "step", _prefer_the_first),
    ("ties_keep_weights_uniform", "step", _prefer_the_first),
    ("bad_input_is_refused", "step", _clip),
    ("newcomers_and_leavers", "join", _start_ahead),
    ("a_sleeper_changes_nothing", "play", _play_sleepers),
]
"""The law that a hedger breaks, and how: which of its methods is spoilt by what."""


@pytest.mark.parametrize(("law", "method", "spoil"), BROKEN)
def test_a_broken_hedger_is_caught(law: str, method: str, spoil: Callable[..., Any]) -> None:
    broken: Any = Broken(method, spoil)
    with pytest.raises((AssertionError, ValueError)):
        checks.LAWS[law](broken)


@pytest.mark.parametrize(
    ("method", "spoil"),
    [
        pytest.param(method, spoil, marks=[pytest.mark.slow] * (k != 4))  # each tries every law
        for k, (_, method, spoil) in enumerate(BROKEN)
    ],
)
def test_all_laws_together_catch_it(method: str, spoil: Callable[..., Any]) -> None:
    broken: Any = Broken(method, spoil)
    with pytest.raises(AssertionError, match="breaks the law"):
        checks.check_hedger(broken)


def test_a_hedger_is_a_hedger() -> None:
    assert all(isinstance(hedger, Hedger) for hedger in HEDGERS)
    assert not isinstance(object(), Hedger)


def test_check_hedger_leaves_out_what_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("weights_are_a_distribution", "only_differences_matter", "a_sleeper_changes_nothing")
    monkeypatch.setattr(checks, "LAWS", {name: checks.LAWS[name] for name in names})
    checks.check_hedger(hedgers.VariableShare(1.0, 0.1))

    class Dishonest(hedgers.VariableShare):
        breaks = {"a_sleeper_changes_nothing": "as it is"}  # noqa: RUF012

    with pytest.raises(AssertionError, match="breaks the law only_differences_matter"):
        checks.check_hedger(Dishonest(1.0, 0.5))

    class Confused(hedgers.Uniform):
        breaks = {"no_such_law": "?"}  # noqa: RUF012

    with pytest.raises(AssertionError, match="no_such_law"):
        checks.check_hedger(Confused())
