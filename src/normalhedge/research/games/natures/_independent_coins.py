"""Independent coins, a few of them biased (Section 2.2 of the paper)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.research.games.natures._good_and_bad import biased_share
from normalhedge.research.games.natures._protocol import BLOCK, fair_coins


@dataclass(frozen=True)
class IndependentCoins:
    r"""Every expert tosses its own coin; the first ``fN`` come up +1 with probability
    :math:`(1+\gamma)/2`, the others with probability 1/2.

    This is the paper's thought experiment behind the potential: with many experts, even the best
    possible hedger has normally distributed regrets to the good experts.

    Parameters
    ----------
    experts
        N.
    gamma
        The advantage of the good experts, in [0, 1].
    f
        The share of good experts, in (0, 1].
    """  # noqa: D205 -- the formula does not fit on a line

    experts: int
    gamma: float = 0.0
    f: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "experts", inputs.count("experts", self.experts))
        gamma, f = biased_share(self.gamma, self.f, self.experts)
        object.__setattr__(self, "gamma", gamma)
        object.__setattr__(self, "f", f)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains in blocks.

        Parameters
        ----------
        rounds, rng
            As for `Nature.gains`.
        """
        good = round(self.f * self.experts)
        length = max(BLOCK // self.experts, 1)
        for start in range(0, rounds, length):
            block = fair_coins(min(length, rounds - start), self.experts, rng)
            if self.gamma > 0.0:
                # A fair coin that is turned to +1 with probability gamma has bias gamma.
                block[:, :good][rng.random((len(block), good)) < self.gamma] = 1
            yield block
