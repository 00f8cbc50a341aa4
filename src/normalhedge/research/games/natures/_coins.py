"""Good experts among experts that toss fair coins (Sections 4.2.1 and 2.2 of the paper)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.research.games.natures._protocol import BLOCK, InBlocks


@dataclass(frozen=True)
class GoodAndBad(InBlocks):
    r"""All good experts share one biased coin; each bad expert tosses a fair one of its own.

    In each round every good expert gains +1 with probability :math:`(1+\gamma)/2`, else every one
    of them gains -1. The good experts are ``i0, ..., i0 + fN - 1``; after every ``1/alpha`` rounds
    ``i0`` moves on by ``fN``, modulo N, so that the good set changes completely.

    Parameters
    ----------
    experts
        N.
    gamma
        The advantage of the good experts, in [0, 1].
    f
        The share of good experts, in (0, 1]; ``f N`` rounds to the number of them.
    alpha
        The good set changes after every ``1/alpha`` rounds (rounded).

    Examples
    --------
    >>> nature = GoodAndBad(experts=4, gamma=1.0, f=0.5, alpha=0.5)
    >>> block = np.concatenate(list(nature.gains(4, np.random.default_rng(0))))
    >>> block[:2, :2].tolist(), block[2:, 2:].tolist()
    ([[1, 1], [1, 1]], [[1, 1], [1, 1]])
    """

    experts: int
    gamma: float
    f: float
    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", inputs.number("alpha", self.alpha, 0.0, 1.0))
        _check_coins(self)

    @property
    def good(self) -> int:
        """How many experts are good."""
        return round(self.f * self.experts)

    @property
    def shift(self) -> int:
        """After how many rounds the good set changes."""
        return round(1.0 / self.alpha)

    def good_set(self, round_: int) -> np.ndarray:
        """Return the indices of the good experts in a round (the first is 0)."""
        start = round_ // self.shift * self.good
        return np.arange(start, start + self.good) % self.experts

    def switches(self, rounds: int) -> np.ndarray:
        """Return the rounds in which the good set changes (the first round is 0)."""
        return np.arange(self.shift, rounds, self.shift)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains in blocks; no block contains a change of the good set."""
        longest = max(BLOCK // self.experts, 1)
        start = 0
        while start < rounds:
            until_shift = self.shift - start % self.shift
            length = min(longest, until_shift, rounds - start)
            block = fair_coins(length, self.experts, rng)
            coin = np.where(rng.random(length) < (1.0 + self.gamma) / 2.0, 1, -1)
            block[:, self.good_set(start)] = coin[:, None]
            yield block
            start += length


@dataclass(frozen=True)
class IndependentCoins(InBlocks):
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
        _check_coins(self)

    def _block(self, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        block = fair_coins(len(t), self.experts, rng)
        if self.gamma > 0.0:
            good = round(self.f * self.experts)
            # A fair coin that is turned to +1 with probability gamma has bias gamma.
            block[:, :good][rng.random((len(t), good)) < self.gamma] = 1
        return block


def _check_coins(nature: GoodAndBad | IndependentCoins) -> None:
    """Check the number of experts, and the advantage and the share of the good ones."""
    f, experts = nature.f, inputs.count("experts", nature.experts)
    gamma = inputs.number("gamma", nature.gamma, 0.0, 1.0, closed=True)
    if not inputs.number("f", f, 0.0, 1.0, closed=True) > 0.0:
        raise ValueError(f"f must be in (0, 1], got {f!r}")
    if f * experts < 1.0 - 1e-9:
        raise ValueError(
            f"f must leave at least one good expert: f * experts is {f * experts:g} with f = {f:g} "
            f"and {experts} experts"
        )
    for name, value in (("experts", experts), ("gamma", gamma), ("f", float(f))):
        object.__setattr__(nature, name, value)


def fair_coins(rounds: int, experts: int, rng: np.random.Generator) -> np.ndarray:
    """Return gains of +1 and -1 with equal probability, from one random bit each."""
    size = rounds * experts
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-size // 8)), dtype=np.uint8), count=size)
    bits *= 2
    bits -= 1  # 0 becomes 255, which is -1 as an int8
    return bits.view(np.int8).reshape(rounds, experts)
