"""The protocol of natures, as types; and the blocks in which most of them yield their gains."""

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


def check_nature(nature: object) -> Nature:
    """Return the nature, or raise a TypeError that says what a nature has."""
    if isinstance(nature, type) or not isinstance(nature, Nature):
        raise TypeError(f"a nature must have experts and gains(rounds, rng), got {nature!r}")
    return nature


@runtime_checkable
class Changing(Nature, Protocol):
    """A nature that knows the rounds in which its best experts change."""

    def switches(self, rounds: int) -> np.ndarray:
        """Return the rounds, below ``rounds``, in which it changes (the first round is 0)."""
        ...


class InBlocks:
    """A nature whose blocks of gains have about the same size."""

    experts: int

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains in blocks.

        Parameters
        ----------
        rounds, rng
            As for `Nature.gains`; a nature without chance ignores rng.
        """
        for t in self._times(rounds):
            yield self._block(t, rng)

    def _times(self, rounds: int) -> Iterator[np.ndarray]:
        """Yield the rounds of each block, as a column of consecutive numbers."""
        length = max(BLOCK // self.experts, 1)
        for start in range(0, rounds, length):
            yield np.arange(start, min(start + length, rounds))[:, None]

    def _block(self, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the gains in the rounds t."""
        raise NotImplementedError
