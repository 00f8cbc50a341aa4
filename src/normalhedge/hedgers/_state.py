"""The state of a game: everything that a hedger remembers."""

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats

REGRET_ROW, OWN_ROW = 0, 1
"""The row of the regrets in every ledger, and the first of the algorithm's own rows."""


class _Fields(NamedTuple):
    weights: Floats
    ledger: Floats
    totals: Floats
    rounds: int
    joined: int
    gain: float | None


class State(_Fields):
    """The state of a game: everything that a hedger of this package remembers.

    Lists are converted to arrays, so a state survives JSON; fields that cannot be a state raise an
    error. A state belongs to the hedger that made it: ``hedger.row_names`` names the rows of the
    ledger after the first, and ``hedger.total_names`` names the totals.

    Attributes
    ----------
    weights
        The distribution that is played in the next round if all experts are awake.
    ledger
        One column for each expert; the first row is its (discounted) regret.
    totals
        The numbers that belong to the whole game and not to one expert.
    rounds
        How many rounds were played.
    joined
        How many experts ever took part, including those that left: the N of the bounds.
    gain
        The hedger's gain in the last round: 0 before the first round; None if every expert was
        asleep, or if it is not known, as in the states of mixtures.

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
        """Check and convert the fields of a state."""
        distribution = np.require(inputs.points("weights", weights), requirements=["C", "A", "W"])
        rows = np.require(_numbers("ledger", ledger), np.float64, ["C", "A", "W"])
        total_row = np.require(_numbers("totals", totals), np.float64, ["C", "A", "W"])
        n = len(distribution)
        if rows.ndim != 2 or rows.shape[0] < OWN_ROW or rows.shape[1] != n:
            raise ValueError(f"ledger must have {n} columns, as many as weights, got {rows.shape}")
        if total_row.ndim != 1 or not (np.isfinite(rows).all() and np.isfinite(total_row).all()):
            raise ValueError("ledger and totals must be finite numbers")
        if distribution.min() < 0.0 or abs(distribution.sum() - 1.0) > 1e-6:
            raise ValueError("weights must not be negative and must sum to one")
        if rounds != 0:
            inputs.count("rounds", rounds)
        if inputs.count("joined", joined) < n:
            raise ValueError(f"joined must be at least the number of experts, {n}, got {joined}")
        if gain is not None:
            gain = inputs.number("gain", gain, -1.0, 1.0, closed=True)
        fields = (distribution, rows, total_row, int(rounds), int(joined), gain)
        return tuple.__new__(cls, fields)

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]
        """Make a state for `_replace`, with the same checks."""
        return cls(*iterable)

    @property
    def regrets(self) -> Floats:
        """The (discounted) regret to each expert."""
        return np.asarray(self.ledger[REGRET_ROW])

    @property
    def best_regret(self) -> float:
        """The regret to the best expert."""
        return float(self.regrets.max())

    def to_json(self) -> str:
        """Return the state as JSON, exact to the last bit."""
        fields = self._asdict()
        return json.dumps(
            {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in fields.items()}
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the state that was written as JSON."""
        return cls(**json.loads(text))

    def quantile_regret(self, quantile: float) -> float:
        """Return the regret to the best epsilon-quantile, the ``ceil(epsilon N)``-th largest."""
        epsilon, n = inputs.quantile(quantile), len(self.regrets)
        place = n - rank(epsilon, n)
        return float(np.partition(self.regrets, place)[place])


def rank(epsilon: float, n: int) -> int:
    """Return how many experts the best epsilon-quantile has: ``ceil(epsilon n)``, at least one."""
    # 0.07 of 100 experts are 7, although 0.07 * 100 > 7 in floating point.
    return max(math.ceil(epsilon * n * (1.0 - 1e-12)), 1)


def check_state(state: Any) -> None:
    """Raise a TypeError unless this is a `State`."""
    if type(state) is not State or len(state) != len(State._fields):
        raise TypeError(f"state must be a State, got {type(state).__name__}")


def _numbers(name: str, values: object) -> np.ndarray:
    array = np.asarray(values) if isinstance(values, list) else values
    if isinstance(array, np.ndarray) and array.size == 0:  # an empty list has no dtype
        return np.empty(array.shape)
    return inputs.numbers_array(name, array)
