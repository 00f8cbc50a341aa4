"""Two halves win in turn, for a block of rounds each: it harms hedgers with late outcomes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.research.games.natures._protocol import BLOCK


@dataclass(frozen=True)
class Blocks:
    """One half of the experts gains +1 and the other -1 for a block of rounds; then they swap.

    A hedger whose outcomes come late leans towards the half that has won, and stays there for some
    rounds after the swap. So it loses in each block, and the regrets to all experts rise together.
    If the delay is d and blocks are long, NormalHedge has no bound for ``c <= d + 1/2``; for a
    larger c `certificates.blocks_potential` returns the average potential that it comes to.

    Parameters
    ----------
    experts
        N, at least 2; if it is odd, the second half is larger.
    block
        The number of rounds in a block.

    Examples
    --------
    >>> nature = Blocks(experts=2, block=3)
    >>> next(nature.gains(5, np.random.default_rng(0)))[:, 0].tolist()
    [1, 1, 1, -1, -1]
    """

    experts: int
    block: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "experts", inputs.count("experts", self.experts, 2))
        object.__setattr__(self, "block", inputs.count("block", self.block))

    def switches(self, rounds: int) -> np.ndarray:
        """Return the rounds in which a block begins, except round 0."""
        return np.arange(self.block, rounds, self.block)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:  # noqa: ARG002
        """Yield the gains in blocks.

        Parameters
        ----------
        rounds
            How many rounds of gains to yield.
        rng
            Ignored: the gains are not random.
        """
        halves = np.where(np.arange(self.experts) < self.experts // 2, 1, -1).astype(np.int8)
        length = max(BLOCK // self.experts, 1)
        for start in range(0, rounds, length):
            t = np.arange(start, min(start + length, rounds))[:, None]
            yield np.where(t // self.block % 2 == 0, halves, -halves)
