"""The state of a game: all that a hedger remembers."""

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats

REGRET, OWN = 0, 1
"""The row of every ledger, and where an algorithm's own rows begin."""


class _Fields(NamedTuple):
    weights: Floats
    ledger: Floats
    totals: Floats
    rounds: int
    joined: int
    gain: float | None


class State(_Fields):
    """Where a game stands: all that a hedger of this package remembers.

    Lists are converted, so that a state comes back from JSON as it went; what cannot be a state is
    refused. It belongs to the hedger it was made by: ``hedger.row_names`` and
    ``hedger.total_names`` say what the rows after the first and the totals are.

    Attributes
    ----------
    weights
        The distribution over experts, were all of them awake in the next round.
    ledger
        A column for each expert; the first row is its (discounted) regret.
    totals
        What is known of no expert in particular.
    rounds
        How many rounds were played.
    joined
        How many experts ever took part, those that left included: the N of the bounds.
    gain
        The hedger's gain in the last round; 0 before the first, none where everybody slept or it
        is not known, as in the states of mixtures.

    Examples
    --------
    >>> state = State([0.5, 0.5], [[0.0, 0.0]], [], rounds=0, joined=2, gain=0.0)
    >>> State.from_json(state.to_json()).regrets
    array([0., 0.])
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
        own = np.require(_inputs.points("weights", weights), requirements=["C", "A", "W"])
        rows = np.require(_numbers("ledger", ledger), np.float64, ["C", "A", "W"])
        whole = np.require(_numbers("totals", totals), np.float64, ["C", "A", "W"])
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
        """The (discounted) regret to each expert."""
        return np.asarray(self.ledger[REGRET])

    @property
    def best_regret(self) -> float:
        """The regret to the best expert."""
        return float(self.regrets.max())

    def to_json(self) -> str:
        """Return the state as JSON, to the bit."""
        fields = self._asdict()
        return json.dumps(
            {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in fields.items()}
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the state that was written as JSON."""
        return cls(**json.loads(text))

    def quantile_regret(self, quantile: float) -> float:
        """Return the regret to the best epsilon-quantile: ``ceil(epsilon N)`` experts reach it."""
        epsilon, n = _inputs.quantile(quantile), len(self.regrets)
        place = n - rank(epsilon, n)
        return float(np.partition(self.regrets, place)[place])


def rank(epsilon: float, n: int) -> int:
    """Return how many experts make up a share of them."""
    # A share such as 0.07 of 100 experts is 7 of them, although 0.07 * 100 > 7 in floats.
    return max(math.ceil(epsilon * n * (1.0 - 1e-12)), 1)


def check_state(state: Any) -> None:
    """Refuse what is not a state."""
    if type(state) is not State or len(state) != len(State._fields):
        raise TypeError(f"state must be a State, got {type(state).__name__}")


def _numbers(name: str, values: object) -> np.ndarray:
    array = np.asarray(values) if isinstance(values, list) else values
    if isinstance(array, np.ndarray) and array.size == 0:  # an empty list has no dtype of its own
        return np.empty(array.shape)
    return _inputs.numbers_array(name, array)
