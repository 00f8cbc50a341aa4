"""The state of a game on discounted regrets."""

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats


class Readable:
    """What a person reads off any state with regrets."""

    __slots__ = ()

    @property
    def regrets(self) -> Floats:
        """The regret to each expert."""
        raise NotImplementedError

    @property
    def best_regret(self) -> float:
        """The regret to the best expert."""
        return float(self.regrets.max())

    def to_json(self) -> str:
        """Return the state as JSON, to the bit."""
        fields = self._asdict()  # type: ignore[attr-defined]
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


class _Fields(NamedTuple):
    weights: Floats
    regrets: Floats
    rounds: int
    joined: int
    gain: float | None


class RegretState(_Fields, Readable):
    """Where a game stands: all that a hedger on discounted regrets remembers.

    Lists and other arrays are converted, so that a state comes back from JSON as it went; what
    cannot be a state is refused. The weights belong to the regrets and to the hedger they were
    made by.

    Attributes
    ----------
    weights
        The distribution over experts, were all of them awake in the next round.
    regrets
        The discounted regret to each expert.
    rounds
        How many rounds were played.
    joined
        How many experts ever took part, those that left included: the N of the bounds.
    gain
        The hedger's gain in the last round; 0 before the first, none where everybody slept or it
        is not known, as in the states of mixtures.

    Examples
    --------
    >>> state = RegretState([0.5, 0.5], [0.0, 0.0], rounds=0, joined=2, gain=0.0)
    >>> RegretState.from_json(state.to_json()).regrets
    array([0., 0.])
    """

    __slots__ = ()

    def __new__(
        cls,
        weights: npt.ArrayLike,
        regrets: npt.ArrayLike,
        rounds: int,
        joined: int,
        gain: float | None,
    ) -> Self:
        """Check and convert what a state is made of."""
        own = [
            np.require(_inputs.points(name, values), requirements=["C", "W"])
            for name, values in (("weights", weights), ("regrets", regrets))
        ]
        n = len(own[0])
        if len(own[1]) != n:
            raise ValueError(f"regrets must be as many as weights, {n}, got {len(own[1])}")
        if own[0].min() < 0.0 or abs(own[0].sum() - 1.0) > 1e-6:
            raise ValueError("weights must not be negative and must sum to one")
        if rounds != 0:
            _inputs.count("rounds", rounds)
        if _inputs.count("joined", joined) < n:
            raise ValueError(f"joined must be at least the number of experts, {n}, got {joined}")
        if gain is not None:
            gain = _inputs.number("gain", gain, -1.0, 1.0, closed=True)
        return tuple.__new__(cls, (own[0], own[1], int(rounds), int(joined), gain))

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]
        """Make a state as `_replace` does, with the same checks."""
        return cls(*iterable)


def rank(epsilon: float, n: int) -> int:
    """Return how many experts make up a share of them."""
    # A share such as 0.07 of 100 experts is 7 of them, although 0.07 * 100 > 7 in floats.
    return max(math.ceil(epsilon * n * (1.0 - 1e-12)), 1)


def check_state(state: Any) -> None:
    """Refuse what is not a state."""
    if not isinstance(state, RegretState):
        raise TypeError(f"state must be a RegretState, got {type(state).__name__}")
