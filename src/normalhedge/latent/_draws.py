"""Random numbers of objects whose state is a value."""

from typing import Any

import numpy as np


class Draws:
    """A generator of random numbers whose place in its sequence is part of a state.

    An operation asks for the generator `at` the place of its state, draws, and puts the new
    `place` into the next state. As long as nothing interrupts it, that is always the given
    generator. Whoever asks for it has it alone, so an operation that is interrupted, or has another
    one within it, spoils no draws: the next one gets a new generator at the right place.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._kind, self.first = type(rng.bit_generator), rng.bit_generator.state
        self._spare = [(rng, self.first)]

    def at(self, place: Any) -> np.random.Generator:
        """Return the generator at a place."""
        try:
            rng, there = self._spare.pop()
        except IndexError:
            return self.copy_at(place)
        return rng if there is place else self.copy_at(place)

    def copy_at(self, place: Any) -> np.random.Generator:
        """Return a new generator at a place."""
        bits = self._kind(0)  # any seed: its state is replaced
        bits.state = place
        return np.random.Generator(bits)

    def place(self, rng: np.random.Generator) -> Any:
        """Return the place of a generator, from which the next operation goes on."""
        place = rng.bit_generator.state
        self._spare[:] = [(rng, place)]
        return place
