"""The interface that every hedger has, as types."""

from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats

StateT = TypeVar("StateT")


class Run(NamedTuple, Generic[StateT]):
    """The result of `run`: the last state, and a record of every round.

    Attributes
    ----------
    state
        The state after the last round.
    gains
        The hedger's gain in each round; NaN where every expert was asleep.
    best_regret
        The regret to the best expert after each round.
    log_potential
        The logarithm of the average potential after each round; NaN if the hedger has no potential.
    weights
        The distribution that was played in each round, T x N; None unless ``keep_weights``.
    """

    state: StateT
    gains: Floats
    best_regret: Floats
    log_potential: Floats
    weights: Floats | None


@runtime_checkable
class Hedger(Protocol[StateT]):
    """An algorithm: a frozen configuration with pure functions of a state.

    A state is a NamedTuple whose first field is ``weights``. Any object with these four methods is
    a hedger and works everywhere in this package. `fold` builds `run` from the other three.
    """

    def init(self, n: int) -> StateT:
        """Return the state of n experts before the first round."""
        ...

    def play(self, state: StateT, confidence: npt.ArrayLike | None = None) -> Floats:
        """Return the distribution over experts to play in the next round.

        Parameters
        ----------
        state
            The state before the round.
        confidence
            The confidence of each expert, in [0, 1]; 0 means asleep. None: all are awake.
        """
        ...

    def step(
        self, state: StateT, gains: npt.ArrayLike, confidence: npt.ArrayLike | None = None
    ) -> StateT:
        """Return the state after one round.

        Parameters
        ----------
        state
            The state before the round, which is not changed.
        gains
            The gain of each expert, in [-1, 1].
        confidence
            The confidence of each expert, in [0, 1]; 0 means asleep. None: all are awake.
        """
        ...

    def run(
        self,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        state: StateT | None = None,
        keep_weights: bool = False,
    ) -> Run[StateT]:
        """Play many rounds.

        Parameters
        ----------
        gains, confidence
            T x N, one round in each row. Without confidences all experts are always awake.
        state
            The state to start from. None: start a new game.
        keep_weights
            Whether to return the distribution of every round.
        """
        ...


def fold(
    hedger: Hedger[StateT],
    gains: npt.ArrayLike,
    confidence: npt.ArrayLike | None = None,
    *,
    state: StateT | None = None,
    keep_weights: bool = False,
) -> Run[StateT]:
    """Play many rounds with `play` and `step` in Python: a ready-made `run` for your own hedger.

    Parameters
    ----------
    hedger
        The hedger that plays; only its ``init``, ``play`` and ``step`` are called.
    gains, confidence, state, keep_weights
        As for `Hedger.run`.

    Returns
    -------
    Run
        ``best_regret`` is the largest of ``state.regrets``, or NaN if the states have no regrets.
    """
    gain_table = np.asarray(gains, dtype=np.float64)
    confidences = None if confidence is None else np.asarray(confidence, dtype=np.float64)
    now = hedger.init(gain_table.shape[1]) if state is None else state
    weights = np.empty(gain_table.shape)
    hedger_gains, best_regret = np.full((2, len(gain_table)), np.nan)
    for t, row in enumerate(gain_table):
        confidence_row = None if confidences is None else confidences[t]
        weights[t] = hedger.play(now, confidence_row)
        if weights[t].any():
            hedger_gains[t] = weights[t] @ np.where(weights[t] > 0.0, row, 0.0)
        now = hedger.step(now, row, confidence_row)
        best_regret[t] = np.max(_regrets(now))
    no_potential = np.full(len(gain_table), np.nan)
    return Run(now, hedger_gains, best_regret, no_potential, weights if keep_weights else None)


def _regrets(state: Any) -> Any:
    return getattr(state, "regrets", np.nan)
