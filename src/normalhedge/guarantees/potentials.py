"""Potentials, which turn regrets into weights.

A hedger that plays ``p_i ∝ Phi'(x_i)`` makes the first-order change of the average potential
``mean_i Phi(x_i)`` zero. So the average potential stays small, and with it every regret. There are
two potentials:

    normal        Phi(x) = exp([x]+^2 / 2c)      NormalHedge, at x = sqrt(alpha) R
    exponential   Phi(x) = exp(eta x)            Hedge, at x = R

Both are ``exp(rate x^p)``, with p = 2 on the positive side or p = 1 everywhere; the derivative is
proportional to ``x^(p-1) exp(rate x^p)``; the core computes the weights of both.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from normalhedge._core import Engine
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats

LOG2_E = math.log2(math.e)


class Potential(ABC):
    """The base class of both potentials: ``Phi(x) = exp(rate x^p)``, computed by its logarithm."""

    squared: bool
    """Whether p = 2."""

    algorithm: str
    """The name of the algorithm of the core that uses it."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The factor in the exponent."""

    def log(self, x: npt.ArrayLike) -> Floats:
        """Return ``ln Phi(x)``; infinity if even the logarithm exceeds the largest float."""
        values = inputs.points("x", x)
        with np.errstate(over="ignore"):
            return self.rate * (np.square(np.maximum(values, 0.0)) if self.squared else values)

    def value(self, x: npt.ArrayLike) -> Floats:
        """Return ``Phi(x)``; infinity if it exceeds the largest float."""
        with np.errstate(over="ignore"):
            return np.exp(self.log(x))

    def derivative(self, x: npt.ArrayLike) -> Floats:
        """Return ``Phi'(x)``; infinity if it exceeds the largest float."""
        values = inputs.points("x", x)
        slope = 2.0 * self.rate * np.maximum(values, 0.0) if self.squared else self.rate
        with np.errstate(over="ignore"):
            return slope * self.value(values)

    def weights(self, x: npt.ArrayLike) -> Floats:
        """Return ``Phi'(x_i) / sum_j Phi'(x_j)``; uniform if every derivative is zero."""
        return self._weigh(x)[0]

    def log_average(self, x: npt.ArrayLike) -> float:
        """Return ``ln mean_i Phi(x_i)``, which does not overflow."""
        return self._weigh(x)[1]

    def _weigh(self, x: npt.ArrayLike) -> tuple[Floats, float]:
        """Return the weights and ``ln mean_i Phi(x_i)``."""
        values = np.array(inputs.points("x", x))
        weights = np.empty_like(values)
        engine = Engine(self.algorithm, (1.0, LOG2_E * self.rate), (1.0, 1.0), tuple)
        return weights, engine.weigh(weights, values[np.newaxis], np.empty(0))

    def average(self, x: npt.ArrayLike) -> float:
        """Return ``mean_i Phi(x_i)``; infinity if it exceeds the largest float."""
        return exp_or_inf(self.log_average(x))


@dataclass(frozen=True)
class NormalPotential(Potential):
    r"""The potential of NormalHedge, the reciprocal of a normal tail.

    A regret that arises by chance with probability ``q`` has a potential of about ``1/q``. So an
    average potential of order one means that luck can explain every regret.

    .. math:: \Phi(x) = \exp([x]_+^2 / 2c), \qquad \Phi'(x) = \frac{[x]_+}{c}\,\Phi(x)

    Parameters
    ----------
    c
        The spread, > 0. The paper proves its bound for c = 4 (Theorem 1).

    References
    ----------
    Freund and Hsu, "A new Hedging algorithm and its application to inferring latent random
    variables", Equation (2).

    Examples
    --------
    >>> NormalPotential(c=4.0).weights([-1.0, 0.0, 1.0, 2.0]).round(3)
    array([0.   , 0.   , 0.256, 0.744])
    """

    c: float = 4.0
    squared = True
    algorithm = "normal_hedge"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", inputs.number("c", self.c, SMALLEST_C))

    @property
    def rate(self) -> float:
        """The factor in the exponent, 1/2c."""
        return 0.5 / self.c


@dataclass(frozen=True)
class ExponentialPotential(Potential):
    r"""The potential of Hedge.

    .. math:: \Phi(x) = \exp(\eta x), \qquad \Phi'(x) = \eta\,\Phi(x)

    Parameters
    ----------
    eta
        The learning rate, > 0.

    References
    ----------
    Freund and Schapire, "A decision-theoretic generalization of on-line learning" (1997).

    Examples
    --------
    >>> ExponentialPotential(eta=1.0).weights([0.0, 0.0, 1.0]).round(3)
    array([0.212, 0.212, 0.576])
    """

    eta: float
    squared = False
    algorithm = "hedge"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", inputs.number("eta", self.eta, 0.0, LARGEST_ETA))

    @property
    def rate(self) -> float:
        """The factor in the exponent, eta."""
        return self.eta


def exp_or_inf(log: float) -> float:
    """Return ``exp(log)``, or infinity if it exceeds the largest float."""
    return math.inf if log >= MAX_LOG else math.exp(log)


MAX_LOG = math.log(np.finfo(np.float64).max)

SMALLEST_C = 1e-300
LARGEST_ETA = 1e200
"""Beyond these limits an exponent is too large for a float."""
