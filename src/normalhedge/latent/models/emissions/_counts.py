"""One column of counts or of symbols."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions._emission import Emission, Path

LARGEST_TABLE = 10**6  # the largest count at which the distribution function is computed


@dataclass(frozen=True, eq=False)
class Stepwise(Emission):
    """Emissions of whole numbers: their distribution function is a sum."""

    def cdf(self, x: npt.ArrayLike) -> Floats:
        """Return P(y <= x) in each state; the states are the last axis."""
        places = np.floor(np.asarray(x, dtype=np.float64))
        if not (places <= LARGEST_TABLE).all():
            raise ValueError(f"x must be numbers of at most {LARGEST_TABLE:,}")
        most = max(int(places.max(initial=0.0)), 0)
        sums = np.cumsum(np.exp(self.log_density(np.arange(most + 1.0))), axis=0)
        shares = np.minimum(sums, 1.0)[np.maximum(places, 0.0).astype(np.intp)]
        return np.where(places[..., np.newaxis] < 0.0, 0.0, shares)


@dataclass(frozen=True, eq=False)
class Poisson(Stepwise):
    """Counts: P(y) = rate_s^y e^-rate_s / y! in state s.

    Attributes
    ----------
    rates
        One for each state.
    """

    rates: Floats

    family: ClassVar[str] = "poisson"
    numbers: ClassVar[str] = "counts 0, 1, 2, ..."
    positive: ClassVar[tuple[str, ...]] = ("rates",)

    def moments(self) -> tuple[Floats, Floats]:
        return self.rates, self.rates

    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        return rng.poisson(self.rates[path]).astype(np.float64)

    @classmethod
    def starting_parameters(cls, observations: Floats) -> Floats:
        return np.array([[_mean(observations)]])


@dataclass(frozen=True, eq=False)
class NegativeBinomial(Stepwise):
    """Overdispersed counts: in state s the variance is mean + mean^2 / size.

    Attributes
    ----------
    means, sizes
        One for each state. A fit keeps sizes between 0.01 and 10,000, which is almost Poisson.
    """

    means: Floats
    sizes: Floats

    family: ClassVar[str] = "negative_binomial"
    numbers: ClassVar[str] = "counts 0, 1, 2, ..."
    positive: ClassVar[tuple[str, ...]] = ("means", "sizes")

    def moments(self) -> tuple[Floats, Floats]:
        return self.means, self.means + self.means**2 / self.sizes

    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        size, mean = self.sizes[path], self.means[path]
        return rng.negative_binomial(size, size / (size + mean)).astype(np.float64)

    @classmethod
    def starting_parameters(cls, observations: Floats) -> Floats:
        return np.array([[_mean(observations)], [5.0]])


@dataclass(frozen=True, eq=False)
class Categorical(Stepwise):
    """Symbols 0, 1, ..., m - 1, with probabilities that depend on the state.

    Attributes
    ----------
    probabilities
        k x m; each row sums to one.
    """

    probabilities: Floats

    family: ClassVar[str] = "categorical"
    numbers: ClassVar[str] = "symbols 0, 1, 2, ..."

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = self.probabilities
        if rows.ndim != 2 or rows.min() < 0.0 or not np.allclose(rows.sum(axis=1), 1.0):
            raise ValueError("probabilities must be k x m, not negative, each row summing to one")

    @property
    def symbols(self) -> int:
        """The number of symbols, m."""
        return int(self.probabilities.shape[1])

    def parameters(self) -> Floats:
        return self.probabilities.T.copy(order="C")

    @classmethod
    def from_core(cls, rows: Floats) -> Self:
        return cls._of(rows.T / rows.sum(axis=0)[:, np.newaxis])

    def accepted(self, observations: npt.ArrayLike) -> Floats:
        seen = super().accepted(observations)
        if (seen >= self.symbols).any():
            raise ValueError(
                f"observations must be symbols below {self.symbols}, got {np.nanmax(seen):g}"
            )
        return seen

    def cdf(self, x: npt.ArrayLike) -> Floats:
        return super().cdf(np.minimum(np.asarray(x, dtype=np.float64), self.symbols - 1))

    def moments(self) -> tuple[Floats, Floats]:
        numbers = np.arange(self.symbols)
        means = self.probabilities @ numbers
        return means, np.maximum(self.probabilities @ numbers**2 - means**2, 0.0)

    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        steps = np.cumsum(self.probabilities, axis=1)[path]
        drawn = (rng.random(len(path))[:, np.newaxis] * steps[:, -1:] >= steps).sum(axis=1)
        return np.asarray(drawn, dtype=np.float64)

    @classmethod
    def starting_parameters(cls, observations: Floats) -> Floats:
        symbols = int(np.nanmax(observations)) + 1
        return np.full((symbols, 1), 1.0 / symbols)


def _mean(observations: Floats) -> float:
    """Return the mean of a series of counts, which must not be zero."""
    return max(float(np.nanmean(observations)), 1e-3)
