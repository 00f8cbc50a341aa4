"""The state of a game on a ledger."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.hedgers._ledger import OWN, REGRET
from normalhedge.hedgers.regret_state import Readable


class _Fields(NamedTuple):
    weights: Floats
    ledger: Floats
    totals: Floats
    rounds: int
    joined: int
    gain: float | None


class LedgerState(Readable, _Fields):
    """Where a game stands: all that a hedger of the family remembers.

    Lists are converted, so that a state comes back from JSON as it went; what cannot be a state is
    refused. It belongs to the hedger it was made by: ``hedger.rows`` and ``hedger.names`` say what
    the rows and the totals are.

    Attributes
    ----------
    weights
        The distribution over experts, were all of them awake in the next round.
    ledger
        A column for each expert; the first row is its regret.
    totals
        What is known of no expert in particular.
    rounds
        How many rounds were played.
    joined
        How many experts ever took part, those that left included.
    gain
        The hedger's gain in the last round; 0 before the first, none where everybody slept or it
        is not known, as in the states of mixtures.
    """

    __slots__ = ()

    def __new__(
        cls,
        weights: npt.ArrayLike,
        ledger: npt.ArrayLike,
        totals: npt.ArrayLike,
        rounds: int,
        joined: int,
        gain: float | None,
    ) -> Self:
        """Check and convert what a state is made of."""
        own = np.require(_inputs.points("weights", weights), requirements=["C", "W"])
        rows = np.require(_inputs.numbers_array("ledger", ledger), np.float64, ["C", "W"])
        whole = np.require(_inputs.numbers_array("totals", totals), np.float64, ["C", "W"])
        n = len(own)
        if rows.ndim != 2 or rows.shape[0] < OWN or rows.shape[1] != n:
            raise ValueError(f"ledger must have {n} columns, as many as weights, got {rows.shape}")
        if whole.ndim != 1 or not (np.isfinite(rows).all() and np.isfinite(whole).all()):
            raise ValueError("ledger and totals must be finite numbers")
        if own.min() < 0.0 or abs(own.sum() - 1.0) > 1e-6:
            raise ValueError("weights must not be negative and must sum to one")
        if rounds != 0:
            _inputs.count("rounds", rounds)
        if _inputs.count("joined", joined) < n:
            raise ValueError(f"joined must be at least the number of experts, {n}, got {joined}")
        if gain is not None:
            gain = _inputs.number("gain", gain, -1.0, 1.0, closed=True)
        return tuple.__new__(cls, (own, rows, whole, int(rounds), int(joined), gain))

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]
        """Make a state as `_replace` does, with the same checks."""
        return cls(*iterable)

    @property
    def regrets(self) -> Floats:
        """The regret to each expert."""
        return np.asarray(self.ledger[REGRET])


def check_ledger_state(state: Any) -> None:
    """Refuse what is not a state of the family."""
    if not isinstance(state, LedgerState):
        raise TypeError(f"state must be a LedgerState, got {type(state).__name__}")
