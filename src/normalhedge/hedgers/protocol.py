"""What every hedger is, in types."""

from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy.typing as npt

from normalhedge._inputs import Floats

State = TypeVar("State")


class Run(NamedTuple):
    """What `run` returns: where the game stands, and what happened on the way.

    Attributes
    ----------
    state
        The state after the last round.
    gains
        The hedger's gain in each round; NaN where everybody slept.
    best_regret
        The regret to the best expert after each round.
    log_potential
        The logarithm of the average potential after each round; NaN where the hedger has none.
    weights
        What was played in each round, T x N; none unless it was asked for.
    """

    state: Any
    gains: Floats
    best_regret: Floats
    log_potential: Floats
    weights: Floats | None


@runtime_checkable
class Hedger(Protocol[State]):
    """An algorithm: a frozen configuration with pure functions of a state.

    A state is a NamedTuple whose first field is ``weights``.
    """

    def init(self, n: int) -> State:
        """Return the state before the first round."""
        ...

    def play(self, state: State, confidence: npt.ArrayLike | None = None) -> Floats:
        """Return the distribution over experts that is played next."""
        ...

    def step(
        self, state: State, gains: npt.ArrayLike, confidence: npt.ArrayLike | None = None
    ) -> State:
        """Return the state after a round."""
        ...

    def run(
        self,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        state: State | None = None,
        keep_weights: bool = False,
    ) -> Run:
        """Play many rounds."""
        ...
