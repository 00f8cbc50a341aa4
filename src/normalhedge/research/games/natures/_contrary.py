"""An adversary for any hedger: the experts that have the weight lose."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.hedgers import Hedger
from normalhedge.research.games.natures._protocol import BLOCK


@dataclass(frozen=True)
class Contrary:
    """The fewest experts that have half of the hedger's weight gain -1, all others +1.

    No hedger ever has a positive gain against it. A hedger that puts its weight on a few experts
    loses almost 1 in every round while nearly all experts gain; a hedger that spreads its weight
    loses little. Other hedgers can play on the same gains, but the gains are aimed at the target.

    Parameters
    ----------
    experts
        N, at least 2.
    target
        The hedger that is attacked; any hedger will do.

    Examples
    --------
    >>> from normalhedge import NormalHedge
    >>> nature = Contrary(experts=4, target=NormalHedge(0.1))
    >>> next(nature.gains(1, np.random.default_rng(0))).tolist()
    [[1, 1, -1, -1]]
    """

    experts: int
    target: Hedger[Any]

    def __post_init__(self) -> None:
        experts = inputs.count("experts", self.experts, 2)
        if isinstance(self.target, type) or not isinstance(self.target, Hedger):
            raise TypeError(f"target must be a hedger, got {self.target!r}")
        object.__setattr__(self, "experts", experts)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains in blocks.

        Parameters
        ----------
        rounds, rng
            As for `Nature.gains`; rng breaks ties between equal weights, in the same way in all
            rounds.
        """
        state = self.target.init(self.experts)
        tie = rng.random(self.experts)
        length = max(BLOCK // self.experts, 1)
        for start in range(0, rounds, length):
            block = np.empty((min(length, rounds - start), self.experts), dtype=np.int8)
            for row in block:
                heaviest = np.lexsort((tie, -state.weights))
                # The tolerance makes it half of the experts if all weights are equal.
                carried = np.cumsum(state.weights[heaviest]) >= 0.5 - 1e-9
                row[:] = 1
                row[heaviest[: int(carried.argmax()) + 1]] = -1
                state = self.target.step(state, row)
            yield block
