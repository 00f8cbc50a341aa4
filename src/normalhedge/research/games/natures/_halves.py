"""Two halves of the experts win in turn: without chance, and harmful."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.research.games.natures._protocol import InBlocks


@dataclass(frozen=True)
class BreakAway(InBlocks):
    """Two halves swap +1 and -1 each round; then one expert gains +1 and all others -1.

    While the halves alternate no expert gets ahead for long, but the hedger loses a little in each
    round, so the regrets to all experts rise together. Then one expert runs away. The attack
    refutes the bound of Section 4.1 for Hedge, and drives the average potential of NormalHedge with
    c = 1 to 1.649.

    Parameters
    ----------
    experts
        N, at least 2.
    alpha
        The discount rate of the hedger. Each of the two parts takes ``8/alpha`` rounds; after the
        second the first begins again.
    """

    experts: int
    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "experts", inputs.count("experts", self.experts, 2))
        object.__setattr__(self, "alpha", inputs.number("alpha", self.alpha, 0.0, 1.0))

    @property
    def rounds(self) -> int:
        """How many rounds the two parts take together."""
        return 2 * round(8.0 / self.alpha)

    def switches(self, rounds: int) -> np.ndarray:
        """Return the rounds in which a part begins, except round 0."""
        return np.arange(self.rounds // 2, rounds, self.rounds // 2)

    def _block(self, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        del rng
        alone = np.where(np.arange(self.experts) == 0, 1, -1).astype(np.int8)
        swapped = _in_turn(self.experts, t % 2 == 0)
        return np.where(t % self.rounds < self.rounds // 2, swapped, alone)


@dataclass(frozen=True)
class Blocks(InBlocks):
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

    def _block(self, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        del rng
        return _in_turn(self.experts, t // self.block % 2 == 0)


def _in_turn(experts: int, first: np.ndarray) -> np.ndarray:
    """Return +1 for one half of the experts and -1 for the other, given who wins in each round."""
    halves = np.where(np.arange(experts) < experts // 2, 1, -1).astype(np.int8)
    return np.where(first, halves, -halves)
