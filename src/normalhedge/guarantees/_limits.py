"""The average potential that Nature forces as alpha -> 0, and the default c with late outcomes."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from normalhedge.boundary import extras, inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees.potentials import SMALLEST_C, exp_or_inf

LADDER = (1, 2, 3, 5, 10, 24)
"""The delays with proofs at the default c. A proof also covers every shorter delay."""


def default_c(delay: int) -> float:
    r"""Return the c of NormalHedge for outcomes that come late, unless another one is given.

    It is 1 without a delay, and else ``4 (D + 1)``, where D is the first number of `LADDER` that is
    not below the delay, or the delay itself if it is longer. Theorem E asks for ``c >= 2 + 4 d`` as
    alpha -> 0, if the number of experts is not to matter, and the bound on the regret grows as the
    root of c; so c is a little above that. For 1000 experts and alpha = 0.001 a smaller c has
    certificates whose bound is smaller by 20 % at a delay of 1, by 12 % at 3 and by 3 % at 10, with
    a potential that grows with the number of experts. The ladder lets the proofs that come with
    this package cover every delay up to 24.

    Parameters
    ----------
    delay
        The number of other outcomes that are learned between a prediction and its own.

    Examples
    --------
    >>> [default_c(delay) for delay in (0, 1, 3, 4, 5, 24, 30)]
    [1.0, 8.0, 16.0, 24.0, 24.0, 100.0, 124.0]
    """
    delay = inputs.count("delay", delay, least=0)
    if not delay:
        return 1.0
    return 4.0 * (next((rung for rung in LADDER if rung >= delay), delay) + 1)


def blocks_variance(delay: int, block: int) -> float:
    r"""Return V, the variance that NormalHedge sees in blocks of equal gains, with a delay.

    Two halves of the experts win in turn, each for ``block`` rounds. With the autocorrelations
    ``rho_j`` of these gains, a wave of triangles that is ``1 - 2 j / block`` up to ``j = block``,

    .. math:: V = 1 + 2 \sum_{j=1}^d \rho_j .

    Parameters
    ----------
    delay
        The number d of other outcomes that are learned between a prediction and its own.
    block
        The number of rounds in a block.

    Examples
    --------
    >>> blocks_variance(1, 6), blocks_variance(0, 6)
    (2.333..., 1.0)
    """
    delay, block = inputs.count("delay", delay, least=0), inputs.count("block", block)
    lags = range(1, delay % (2 * block) + 1)  # over a whole wave the sum is 0
    return 1.0 + 2.0 * math.fsum(abs(2.0 - 2.0 * lag / block) - 1.0 for lag in lags)


def blocks_potential(delay: int, block: int, c: float) -> float:
    r"""Return the average potential that blocks of equal gains reach as alpha -> 0, with a delay.

    .. math:: \Psi \to e^{V / (2 (2c - V))}, \qquad V \text{ of } \texttt{blocks\_variance},

    infinite if ``2 c <= V``, and 1 if V < 0, when the hedger leans the right way on average. As
    ``V -> 2 d + 1`` for long blocks, no c up to ``d + 1/2`` has a bound that holds for every small
    alpha. Section 8 of docs/certificates.md has the proof (Theorem J).

    Parameters
    ----------
    delay, block
        As for `blocks_variance`.
    c
        The c of NormalHedge.

    Examples
    --------
    >>> round(blocks_potential(delay=1, block=6, c=2.0), 3)
    2.014
    >>> blocks_potential(delay=1, block=6, c=1.0)
    inf
    """
    variance, c = blocks_variance(delay, block), inputs.number("c", c, SMALLEST_C)
    if variance >= 2.0 * c:
        return math.inf
    return exp_or_inf(max(variance, 0.0) / (2.0 * (2.0 * c - variance)))


class PotentialGrowth(NamedTuple):
    """How the largest average potential grows with N, as alpha -> 0, where 1/2 < c < 2.

    Attributes
    ----------
    exponent
        It grows as N to this power.
    kappa
        The regret of the others, relative to the leader's, when Nature has come to rest.
    share
        The weight at which Nature holds the leader.
    """

    exponent: float
    kappa: float
    share: float

    def lower_bound(self, n_experts: int) -> float:
        """Return what Nature can force with N experts, in the limit alpha -> 0."""
        n, q = float(inputs.count("n_experts", n_experts)), self.share
        held = self.kappa * q / (1.0 - q)
        grown = math.exp(self.exponent * max(math.log(held * (n - 1.0)), 0.0)) if n > 1.0 else 1.0
        return (1.0 - 1.0 / n) * (1.0 + held) * grown


def growth_exponent(c: float) -> PotentialGrowth:
    r"""Return how fast the average potential grows with N, for 1/2 < c < 2.

    .. math:: \kappa = \max_q \frac{q\,(2(1-q)^2/c - 1)}{(1-q)(1 - 2q^2/c)},
              \qquad \Psi = N^{\kappa^2/(1-\kappa^2) + o(1)}.

    Examples
    --------
    >>> round(growth_exponent(0.6).exponent, 4), round(growth_exponent(1.0).exponent, 5)
    (0.1773, 0.00686)
    """
    c = inputs.number("c", c, 0.5, 2.0)

    def kappa(q: Floats) -> Floats:
        return q * (2.0 * (1.0 - q) ** 2 / c - 1.0) / ((1.0 - q) * (1.0 - 2.0 * q * q / c))

    # Beyond, 2 (1-q)^2 < c: the leader does not rise.
    share, top = _largest(kappa, 1.0 - math.sqrt(c / 2.0), 2001)
    return PotentialGrowth(top * top / (1.0 - top * top), top, share)


def _largest(values: Callable[[Floats], Floats], high: float, points: int) -> tuple[float, float]:
    """Return the place and the value of the maximum on (0, high), by finer and finer grids."""
    low = 0.0
    for _ in range(4):
        q = np.linspace(low, high, points)[1:-1]
        heights = values(q)
        best = int(heights.argmax())
        low, high = float(q[max(best - 1, 0)]), float(q[min(best + 1, len(q) - 1)])
    return float(q[best]), float(heights[best])


def held_potential(n_experts: int, c: float) -> float:
    r"""Return the average potential as alpha -> 0 if Nature holds one expert against all others.

    With the leader at X, the others at x and the weight q of the leader it comes to rest where

    .. math::

        2q(1-q)\bigl((1-q)\ell(X) + q\,\ell(x)\bigr) &= qX + (1-q)x ,
            \qquad \ell(x) = x/c + 1/x, \\
        \frac{X^2 - x^2}{2c} + \ln\frac Xx &= \ln\frac{(N-1)q}{1-q} ,

    and q is chosen such that the average potential is the largest. For
    small c `certify_led` has the same limit, as far as grids can tell, where it exceeds ``exp(1/(4c
    - 2))``, which Nature reaches if it alternates.

    Parameters
    ----------
    n_experts
        The number N of experts, at least 2.
    c
        The constant of NormalHedge, between 1/2 and 2.

    Examples
    --------
    >>> round(held_potential(10**6, 0.6), 3)
    35.006
    """
    n = float(inputs.count("n_experts", n_experts, least=2))
    c = inputs.number("c", c, 0.5, 2.0)

    def log_sum(q: Floats) -> Floats:
        odds = np.log((n - 1.0) * q / (1.0 - q))
        x = _rest(q, odds, c)
        leader = _leader(x, odds, c)
        logs: Floats = np.logaddexp(leader**2 / (2.0 * c), math.log(n - 1.0) + x * x / (2.0 * c))
        return logs

    return math.exp(_largest(log_sum, 1.0, 302)[1] - math.log(n))


def _leader(x: Floats, odds: Floats, c: float) -> Floats:
    """Return X, by ``v + ln v = w`` for v = X^2 / c."""
    w = 2.0 * odds + x * x / c + 2.0 * np.log(x) - math.log(c)
    leader: Floats = np.sqrt(c * extras.require("scipy.special").wrightomega(w))
    return leader


def _rest(q: Floats, odds: Floats, c: float) -> Floats:
    """Return the first x, for each q, at which the regrets do not rise any more."""

    def rises(x: Floats, q: Floats, odds: Floats) -> np.ndarray:
        top = _leader(x, odds, c)
        push = (1.0 - q) * (top / c + 1.0 / top) + q * (x / c + 1.0 / x)
        risen: np.ndarray = 2.0 * q * (1.0 - q) * push > q * top + (1.0 - q) * x
        return risen

    places = np.geomspace(1e-3, math.sqrt(2.0 * c * odds.max()) + 50.0, 400)
    first = (~rises(places, q[:, None], odds[:, None])).argmax(axis=1)
    left: Floats = places[np.maximum(first - 1, 0)]
    right: Floats = places[first]
    for _ in range(50):
        middle = 0.5 * (left + right)
        up = rises(middle, q, odds)
        left, right = np.where(up, middle, left), np.where(up, right, middle)
    return left
