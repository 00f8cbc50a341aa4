"""What every nature is, in types; and coins."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np

BLOCK = 1 << 18
"""Gains made at a time: they stay in the cache while every hedger meets them."""


@runtime_checkable
class Nature(Protocol):
    """The other side of the game: it gives the experts their gains.

    A nature is a frozen configuration; what it draws, it draws from the generator it is handed, so
    the same seed gives the same game. To write your own, give these two.
    """

    @property
    def experts(self) -> int:
        """How many experts there are."""
        ...

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains of that many rounds in blocks, a row for each round.

        Gains are in [-1, 1]: float64, float32 or int8. Blocks keep memory from growing with the
        rounds; their length is for the nature to choose.
        """
        ...


@runtime_checkable
class Changing(Nature, Protocol):
    """A nature that knows when it changes."""

    def switches(self, rounds: int) -> np.ndarray:
        """Return the rounds, of that many, in which it is another one (the first round is 0)."""
        ...


def fair_coins(rounds: int, experts: int, rng: np.random.Generator) -> np.ndarray:
    """Return gains of +1 and -1 with equal probability, from one random bit each."""
    size = rounds * experts
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-size // 8)), dtype=np.uint8), count=size)
    bits *= 2
    bits -= 1  # 0 becomes 255, which is -1 as int8
    return bits.view(np.int8).reshape(rounds, experts)
