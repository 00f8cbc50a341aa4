"""Banks of hidden Markov models of real numbers."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.banks._hmm_bank import HMMBank, check_finite


@dataclass(frozen=True, eq=False)
class GaussianBank(HMMBank):
    """N hidden Markov models with k states each, over real numbers that are normal given the state.

    `gaussian_bank` makes one of checked arrays.

    Attributes
    ----------
    initial, transition
        See `HMMBank`.
    means, deviations
        The normal distribution of each state, k x N.
    width
        The width of the interval around a number that `bounded` scores.
    """

    means: Floats
    deviations: Floats
    width: float

    _tables: ClassVar[tuple[str, ...]] = ("initial", "transition", "means", "deviations")

    @property
    def symbol_count(self) -> int:
        return 0

    @property
    def state_predictions(self) -> Floats:
        return self.means[np.newaxis]

    def predictions(self, beliefs: Floats) -> Floats:
        return np.asarray((self.means * beliefs).sum(axis=-2, keepdims=True))

    def densities(self, number: float | Floats) -> Floats:
        """Return the density of each state at a number, k x N."""
        z = (number - self.means) / self.deviations
        return np.asarray(np.exp(-0.5 * z * z) / (self.deviations * np.sqrt(2.0 * np.pi)))

    def bound(self, scores: Floats) -> Floats:
        return np.minimum(self.width * scores, 1.0)

    def joined(self, other: HMMBank) -> Self:
        if isinstance(other, GaussianBank) and self.width != other.width:
            raise ValueError("banks must have the same width to be joined")
        return super().joined(other)

    def _check(self, known: Floats) -> None:
        check_finite(known)

    def _scores(self, numbers: Floats) -> Floats:
        return self.densities(numbers[:, np.newaxis, np.newaxis])

    def _perturb_emission(self, spread: Floats, rng: np.random.Generator) -> dict[str, Floats]:
        return {
            "means": self.means + spread * self.deviations * rng.normal(size=self.means.shape),
            "deviations": self.deviations * np.exp(spread * rng.normal(size=self.deviations.shape)),
        }

    def _draw(self, states: npt.NDArray[np.intp], rng: np.random.Generator) -> Floats:
        return np.asarray(rng.normal(self.means[states, 0], self.deviations[states, 0]))
