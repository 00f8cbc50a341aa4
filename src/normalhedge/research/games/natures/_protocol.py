"""The interface that every nature has, as types; and fair coins."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np

BLOCK = 1 << 18
"""How many gains a block has: few enough to stay in the cache while every hedger reads them."""


@runtime_checkable
class Nature(Protocol):
    """The hedger's opponent: it gives the experts their gains.

    A nature is a frozen configuration. All its randomness comes from the generator passed to
    `gains`, so the same seed gives the same game. Any object with these two members is a nature.
    """

    @property
    def experts(self) -> int:
        """How many experts there are."""
        ...

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield gains in blocks, one row for each round.

        Gains are in [-1, 1], as float64, float32 or int8. Blocks keep the memory small in long
        games; the nature chooses their length.

        Parameters
        ----------
        rounds
            How many rounds of gains to yield.
        rng
            The source of all randomness.
        """
        ...


@runtime_checkable
class Changing(Nature, Protocol):
    """A nature that knows the rounds in which its best experts change."""

    def switches(self, rounds: int) -> np.ndarray:
        """Return the rounds, below ``rounds``, in which it changes (the first round is 0)."""
        ...


def fair_coins(rounds: int, experts: int, rng: np.random.Generator) -> np.ndarray:
    """Return gains of +1 and -1 with equal probability, from one random bit each."""
    size = rounds * experts
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-size // 8)), dtype=np.uint8), count=size)
    bits *= 2
    bits -= 1  # 0 becomes 255, which is -1 as an int8
    return bits.view(np.int8).reshape(rounds, experts)
