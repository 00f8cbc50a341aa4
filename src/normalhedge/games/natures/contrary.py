"""An adversary for any hedger: whoever carries its weight loses."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge import _inputs
from normalhedge.games.natures.protocol import BLOCK
from normalhedge.hedgers import Hedger


@dataclass(frozen=True)
class Contrary:
    """The fewest experts that carry half of the hedger's weight gain -1, all others +1.

    The hedger never earns anything, whatever it is. One that is quick to put its weight on a few
    loses most of a gain in every round, while nearly everybody else gains; one that spreads it
    loses little. Other hedgers may meet the same gains, but they are aimed at the target.

    Parameters
    ----------
    experts
        N, at least 2.
    target
        The hedger that is attacked: any at all.

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
        experts = _inputs.count("experts", self.experts)
        if experts < 2:
            raise ValueError(f"experts must be at least 2, got {experts}")
        if isinstance(self.target, type) or not isinstance(self.target, Hedger):
            raise TypeError(f"target must be a hedger, got {self.target!r}")
        object.__setattr__(self, "experts", experts)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains in blocks; the generator breaks ties, always in the same way."""
        state = self.target.init(self.experts)
        tie = rng.random(self.experts)
        length = max(BLOCK // self.experts, 1)
        for start in range(0, rounds, length):
            block = np.empty((min(length, rounds - start), self.experts), dtype=np.int8)
            for row in block:
                heaviest = np.lexsort((tie, -state.weights))
                # Half of it, but for rounding: of even shares, half of the experts.
                carried = np.cumsum(state.weights[heaviest]) >= 0.5 - 1e-9
                row[:] = 1
                row[heaviest[: int(carried.argmax()) + 1]] = -1
                state = self.target.step(state, row)
            yield block
