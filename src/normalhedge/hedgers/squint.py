"""Squint (Koolen and van Erven, 2015)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, VECTOR, kernel
from normalhedge._vector import erfcx, exp2, larger, log
from normalhedge.hedgers._ledger import OWN, REGRET, kernels_of, learn_squares
from normalhedge.hedgers._scores import normalise
from normalhedge.hedgers.ledger_hedger import LedgerHedger
from normalhedge.hedgers.ledger_state import LedgerState
from normalhedge.potentials import LOG2_E, leading


@dataclass(frozen=True)
class Squint(LedgerHedger):
    r"""Hedge at all learning rates at once, each judged by what it would have earned.

    A small regret of little variance counts as much as a large one of much: the regret stays
    constant where one expert is reliably ahead, and is safe where none is. Nothing is tuned and N
    is not used.

    .. math::

        p_i \propto \int_0^{1/2} e^{\eta S_i - \eta^2 V_i} \, d\eta, \qquad
        V_i = \textstyle\sum_t \rho_{i,t}^2

    with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``, and ``S = R / 2``: the
    prior ``d eta / eta`` on learning rates in (0, 1/2]. With ``a = S / 2 sqrt V`` and
    ``b = (S - V) / 2 sqrt V`` the integral is ``sqrt(pi) e^(a^2) (erf a - erf b) / (2 sqrt V)``.

    Parameters
    ----------
    alpha
        The discount rate of regrets and squares, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0, for every expert, with ``L = ln(T + 1)``,
    ``R_i <= 2 (sqrt(2 V_i) (1 + sqrt(2 ln(N (1/2 + L)))) + 5 ln(1 + N (1 + 2 L)))``, and with
    1/epsilon for N of the best epsilon-quantile: `bounds` uses V, `bound` ``V <= T``. It rests on
    ``sum_i int_0^(1/2) (e^(eta S_i - eta^2 V_i) - 1) / eta d eta <= 0``, which every round keeps.
    With a discount there is no theorem.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Koolen and van Erven, "Second-order quantile methods for experts and combinatorial games"
    (2015), the theorem for the improper prior.

    Examples
    --------
    >>> Squint().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.372, 0.355, 0.273])
    """

    alpha: float = 0.0

    rows: ClassVar[tuple[str, ...]] = ("squares",)
    degrees: ClassVar[Mapping[str, int]] = {"squares": 2}

    def __post_init__(self) -> None:
        self._prepare()

    def _a_priori(self, n: int, rounds: int, share: float) -> tuple[float, str]:  # noqa: ARG002
        if self.alpha > 0.0:
            return math.inf, "no theorem covers Squint with a discount"
        regret = float(_improper(np.float64(rounds), rounds, share))
        return regret, "Koolen and van Erven 2015, improper prior"

    def _a_posteriori(self, state: LedgerState) -> Floats:
        if self.alpha > 0.0:
            return super()._a_posteriori(state)
        return np.asarray(_improper(state.ledger[OWN], state.rounds, 1.0 / state.joined))


def _improper(squares: Any, rounds: int, share: float) -> Any:
    late = math.log1p(rounds)
    root = 1.0 + math.sqrt(2.0 * math.log((0.5 + late) / share))
    return 2.0 * (np.sqrt(2.0 * squares) * root + 5.0 * math.log1p((1.0 + 2.0 * late) / share))


# Gauss and Legendre's nodes and weights on [0, 1/2].
_NODES = tuple((np.polynomial.legendre.leggauss(8)[0] + 1.0) / 4.0)
_SHARES = tuple(np.polynomial.legendre.leggauss(8)[1] / 4.0)

FLAT = 4.0
"""Up to this regret and these squares the integrand is smooth on [0, 1/2], and summed at its nodes:
the closed form is a difference of almost equal numbers there."""


@kernel(STRICT)
def _by_nodes(regret: float, squares: float) -> float:
    """Return the integral where both are at most `FLAT`."""
    total = 0.0
    for j in range(8):
        eta = _NODES[j]
        total += _SHARES[j] * exp2(LOG2_E * eta * (regret - eta * squares))
    return total


@kernel(STRICT)
def _closed(regret: float, squares: float) -> tuple[float, float]:
    """Return the integral by its closed form, as x and y in ``x e^y``.

    For regret or squares above `FLAT`. As a > b, the difference of the error functions is a tail
    less a thinner one, on the side where both lie, or all but two tails.
    """
    root = math.sqrt(squares)
    inverse = 1.0 / root
    a = 0.5 * regret * inverse
    b = a - 0.5 * root
    tail_a, tail_b = erfcx(abs(a)), erfcx(abs(b))
    slope = 0.5 * regret - 0.25 * squares  # a^2 - b^2
    ratio = exp2(-LOG2_E * abs(slope))
    nearer = exp2(-LOG2_E * min(a * a, b * b))
    further = nearer * ratio
    inner = 2.0 - (
        further * tail_a + nearer * tail_b if slope > 0.0 else nearer * tail_a + further * tail_b
    )
    outer = tail_b - ratio * tail_a if b >= 0.0 else tail_a - ratio * tail_b
    between = (b < 0.0) & (a > 0.0)  # a chain of comparisons would branch
    value = inner if between else outer
    exponent = a * a if between else larger(slope, 0.0)
    return larger(value, 1e-290) * 0.8862269254527580 * inverse, exponent


@kernel(VECTOR, inline=False)
def _integrate(ledger: Floats, factors: Floats, exponents: Floats) -> None:
    """Write x and y, the integrals being ``x e^y``."""
    regrets, squares = ledger[REGRET], ledger[OWN]
    flat = 0
    for i in range(regrets.size):
        flat += (abs(0.5 * regrets[i]) <= FLAT) & (squares[i] <= FLAT)
    # In vector registers a branch is computed for all, or, as here, for none.
    if flat < regrets.size:
        for i in range(regrets.size):
            x, y = _closed(0.5 * regrets[i], larger(squares[i], 1e-100))
            factors[i] = x
            exponents[i] = y
    if flat > 0:
        for i in range(regrets.size):
            s = 0.5 * regrets[i]
            if abs(s) <= FLAT and squares[i] <= FLAT:
                factors[i] = _by_nodes(s, squares[i])
                exponents[i] = 0.0


@kernel(VECTOR, inline=False)
def _score(
    weights: Floats, ledger: Floats, totals: Floats, settings: Floats, scores: Floats
) -> None:
    factors = np.empty_like(scores)
    _integrate(ledger, factors, scores)
    for i in range(scores.size):
        scores[i] = LOG2_E * (scores[i] + log(factors[i]))


@kernel(VECTOR, inline=False)
def _weigh(weights: Floats, ledger: Floats, totals: Floats, settings: Floats) -> None:
    exponents = np.empty_like(weights)
    _integrate(ledger, weights, exponents)
    top = leading(exponents)
    for i in range(weights.size):
        weights[i] *= exp2(LOG2_E * (exponents[i] - top))
    normalise(weights)


Squint._kernels = kernels_of(_score, learn_squares, _weigh)
