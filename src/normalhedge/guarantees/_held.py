"""What one expert that is held against all others reaches, as the rate falls."""

import math

import numpy as np

from normalhedge.boundary import extras, inputs
from normalhedge.boundary.inputs import Floats


def held_potential(n_experts: int, c: float) -> float:
    r"""Return what Nature reaches as alpha -> 0 if it holds one expert against all others.

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
    low, high = 0.0, 1.0
    for _ in range(4):
        q = np.linspace(low, high, 302)[1:-1]
        odds = np.log((n - 1.0) * q / (1.0 - q))
        x = _rest(q, odds, c)
        tops = _leader(x, odds, c)
        levels = np.logaddexp(tops**2 / (2.0 * c), math.log(n - 1.0) + x * x / (2.0 * c))
        best = int(levels.argmax())
        low, high = float(q[max(best - 1, 0)]), float(q[min(best + 1, q.size - 1)])
    return math.exp(float(levels[best]) - math.log(n))


def _leader(x: Floats, odds: Floats, c: float) -> Floats:
    """Return X, by ``v + ln v = w`` for v = X^2 / c."""
    known = 2.0 * odds + x * x / c + 2.0 * np.log(x) - math.log(c)
    tops: Floats = np.sqrt(c * extras.require("scipy.special").wrightomega(known))
    return tops


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
