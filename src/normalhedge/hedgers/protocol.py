"""What every hedger is, in types."""

from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
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

    A state is a NamedTuple whose first field is ``weights``. Whatever has these four functions is a
    hedger, and works wherever the package takes one; `fold` makes `run` out of the others.
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


def fold(
    hedger: Hedger[Any],
    gains: npt.ArrayLike,
    confidence: npt.ArrayLike | None = None,
    *,
    state: Any = None,
    keep_weights: bool = False,
) -> Run:
    """Play many rounds by `play` and `step`, at the speed of Python: a `run` for your own hedger.

    Parameters
    ----------
    hedger
        Whose rounds.
    gains, confidence
        T x N, a round in each row; no confidences where all are awake.
    state
        Where to start from. None: from the beginning.
    keep_weights
        Whether to return what was played in each round, T x N.

    Returns
    -------
    Run
        The best regret is that of the states, NaN where these have no ``regrets``.
    """
    table = np.asarray(gains, dtype=np.float64)
    rated = None if confidence is None else np.asarray(confidence, dtype=np.float64)
    now = hedger.init(table.shape[1]) if state is None else state
    played, (earned, leads) = np.empty(table.shape), np.full((2, len(table)), np.nan)
    for t, row in enumerate(table):
        own = None if rated is None else rated[t]
        played[t] = hedger.play(now, own)
        if played[t].any():
            earned[t] = played[t] @ np.where(played[t] > 0.0, row, 0.0)
        now = hedger.step(now, row, own)
        leads[t] = np.max(getattr(now, "regrets", np.nan))
    kept = played if keep_weights else None
    return Run(now, earned, leads, np.full(len(table), np.nan), kept)
