"""Potentials: regrets in, weights out.

A hedger that plays ``p_i ∝ Phi'(x_i)`` makes the first-order change of the average potential
``mean_i Phi(x_i)`` vanish, and so keeps it, and with it every regret, small. Two potentials:

    normal        Phi(x) = exp([x]+^2 / 2c)      NormalHedge, at x = sqrt(alpha) R
    exponential   Phi(x) = exp(eta x)            Hedge, at x = R

Both are ``exp(rate x^p)``, with p = 2 on the positive side or p = 1 everywhere; the derivative is
proportional to ``x^(p-1) exp(rate x^p)``, so one kernel serves both. Exponents are taken relative
to the leading expert's: none is ever positive, and nothing overflows.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, VECTOR, kernel
from normalhedge._vector import exp2, larger

LOG2_E = math.log2(math.e)


class Potential:
    """What the two potentials share: ``Phi(x) = exp(rate x^p)``, seen through its logarithm."""

    squared: bool
    """Whether p = 2."""

    @property
    def rate(self) -> float:
        """The factor in the exponent."""
        raise NotImplementedError

    def log(self, x: npt.ArrayLike) -> Floats:
        """Return ``ln Phi(x)``; infinity where even that exceeds the largest float."""
        values = _inputs.points("x", x)
        with np.errstate(over="ignore"):
            return self.rate * (np.square(np.maximum(values, 0.0)) if self.squared else values)

    def value(self, x: npt.ArrayLike) -> Floats:
        """Return ``Phi(x)``; infinity where it exceeds the largest float."""
        with np.errstate(over="ignore"):
            return np.exp(self.log(x))

    def derivative(self, x: npt.ArrayLike) -> Floats:
        """Return ``Phi'(x)``; infinity where it exceeds the largest float."""
        values = _inputs.points("x", x)
        slope = 2.0 * self.rate * np.maximum(values, 0.0) if self.squared else self.rate
        with np.errstate(over="ignore"):
            return slope * self.value(values)

    def weights(self, x: npt.ArrayLike) -> Floats:
        """Return ``Phi'(x_i) / sum_j Phi'(x_j)``; uniform where every derivative is zero."""
        values = _inputs.points("x", x)
        weights = np.empty_like(values)
        weigh(values, LOG2_E * self.rate, self.squared, weights)
        return weights

    def log_average(self, x: npt.ArrayLike) -> float:
        """Return ``ln mean_i Phi(x_i)``, which does not overflow."""
        values = _inputs.points("x", x)
        scratch = np.empty_like(values)
        return weigh(values, LOG2_E * self.rate, self.squared, scratch)

    def average(self, x: npt.ArrayLike) -> float:
        """Return ``mean_i Phi(x_i)``; infinity where it exceeds the largest float."""
        return exp_or_inf(self.log_average(x))


@dataclass(frozen=True)
class NormalPotential(Potential):
    r"""The potential of NormalHedge, the reciprocal of a normal tail.

    A regret that chance alone produces with probability ``q`` has a potential of about ``1/q``, so
    an average potential of order one says that no regret is larger than luck explains.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", _inputs.number("c", self.c, SMALLEST_C))

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", _inputs.number("eta", self.eta, 0.0, LARGEST_ETA))

    @property
    def rate(self) -> float:
        """The factor in the exponent, eta."""
        return self.eta


def exp_or_inf(log: float) -> float:
    """Return ``exp(log)``, or infinity where it exceeds the largest float."""
    return math.exp(log) if log < MAX_LOG else math.inf


MAX_LOG = math.log(np.finfo(np.float64).max)

SMALLEST_C = 1e-300
LARGEST_ETA = 1e200
"""Beyond these an exponent is not a float any more."""

TINY = 1e-290
"""A leading regret or a sum of weights below this has lost its digits and counts as zero."""


@kernel(VECTOR)
def leading(regrets: Floats) -> float:
    """Return the largest regret."""
    largest = -np.inf
    for i in range(regrets.size):
        largest = larger(largest, regrets[i])
    return largest


@kernel(VECTOR)
def added(values: Floats) -> float:
    """Return the sum, in a loop that writes nothing.

    Where a loop adds up and writes, the compiled code chooses the order of the sum by how near the
    arrays are in memory, and the last bit is not the same in every run.
    """
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


NEAR = 64
"""Arrays at least so many floats apart are far enough for a loop that adds up and writes; see
`added`."""


@kernel(VECTOR)
def raise_weights(
    regrets: Floats, weights: Floats, rate: float, squared: bool, lead: float
) -> tuple[float, float]:
    """Write the weights up to a factor; return their sum and the sum of potentials.

    Both are relative to the potential at ``lead``, which no regret exceeds; ``rate`` is in units
    of log 2. The difference of two squares is taken as a product: it keeps its digits when the
    exponents are large and close.
    """
    if abs(weights.ctypes.data - regrets.ctypes.data) >= 8 * NEAR:
        return _raise(regrets, weights, rate, squared, lead)
    return _raise_near(regrets, weights, rate, squared, lead)


@kernel(VECTOR, inline=False)
def _raise_near(
    regrets: Floats, weights: Floats, rate: float, squared: bool, lead: float
) -> tuple[float, float]:
    n = regrets.size
    apart = np.empty(n + 2 * NEAR)[NEAR : n + NEAR]
    for i in range(n):
        apart[i] = regrets[i]
    return _raise(apart, weights, rate, squared, lead)


@kernel(VECTOR, inline=False)
def _raise(
    regrets: Floats, weights: Floats, rate: float, squared: bool, lead: float
) -> tuple[float, float]:
    total = 0.0
    mass = 0.0
    if squared:
        top = max(lead, 0.0)
        rate_top = rate * top
        for i in range(regrets.size):
            r = larger(regrets[i], 0.0)
            phi = exp2((r - top) * (rate * r + rate_top))
            weights[i] = r * phi
            total += r * phi
            mass += phi
    else:
        for i in range(regrets.size):
            phi = exp2(rate * (regrets[i] - lead))
            weights[i] = phi
            mass += phi
        total = mass
    return total, mass


@kernel(VECTOR)
def normalise(weights: Floats, scale: float, uniform: float) -> None:
    """Replace the weights by ``scale * weights + uniform``; one of the two factors is zero."""
    for i in range(weights.size):
        weights[i] = weights[i] * scale + uniform


@kernel(STRICT)
def shares(total: float, n: int) -> tuple[float, float]:
    """Return the scale and the uniform part that make weights of this sum a distribution."""
    return (1.0 / total, 0.0) if total > TINY else (0.0, 1.0 / n)


@kernel(STRICT)
def log2_ratio(regret: float, lead: float, rate: float, squared: bool) -> float:
    """Return the potential at a regret over that at the leading one, as a logarithm of base 2."""
    if squared:
        r, top = max(regret, 0.0), max(lead, 0.0)
        return (r - top) * (rate * r + rate * top)
    return rate * (regret - lead)


@kernel(VECTOR)
def log_mean(mass: float, n: int, rate: float, squared: bool, lead: float) -> float:
    """Return ln mean Phi from the sum of potentials relative to the leading one."""
    return math.log(mass / n) - log2_ratio(0.0, lead, rate, squared) * math.log(2.0)


@kernel(VECTOR)
def weigh(regrets: Floats, rate: float, squared: bool, weights: Floats) -> float:
    """Write the weights ∝ Phi'; return ln mean Phi. ``rate`` is in units of log 2."""
    lead = leading(regrets)
    total, mass = raise_weights(regrets, weights, rate, squared, lead)
    scale, uniform = shares(total, regrets.size)
    normalise(weights, scale, uniform)
    return log_mean(mass, regrets.size, rate, squared, lead)
