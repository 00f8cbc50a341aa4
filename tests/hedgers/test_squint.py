"""Squint: its integral, its potential and its bound."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize

from normalhedge import hedgers


@pytest.mark.parametrize(
    "regret", [-300.0, -9.0, -4.0, -1.0, 0.0, 1e-9, 0.5, 3.9, 4.1, 20.0, 300.0]
)
@pytest.mark.parametrize("squares", [1e-12, 1e-3, 1.0, 3.99, 4.01, 30.0, 1e3, 1e5])
def test_squint_integral(regret: float, squares: float) -> None:
    hedger = hedgers.Squint()
    state = hedger.init(2)
    ledger = state.ledger.copy()
    ledger[:, 0] = 2 * regret, max(squares, abs(regret) * 1e-6)
    weights = hedger.reweigh(state, ledger).weights
    score = math.log(weights[0]) - math.log(weights[1] / 0.5)  # the other's integral is 1/2
    V = ledger[1, 0]
    peak = min(max(regret / (2 * V), 0.0), 0.5)
    top = peak * regret - peak**2 * V

    def integrand(eta: float) -> float:
        return math.exp(eta * regret - eta**2 * V - top)

    width = min(0.5, 12 / math.sqrt(V), 60 / max(abs(regret - 2 * peak * V), 1e-9))
    edges = (max(peak - width, 0.0), peak, min(peak + width, 0.5))
    value = sum(
        integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-11, limit=200)[0]
        for a, b in itertools.pairwise(edges)
        if b > a
    )
    expected = top + math.log(value)
    assert score == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_squint_keeps_its_potential() -> None:
    hedger, rng = hedgers.Squint(), np.random.default_rng(2)
    nodes, shares = np.polynomial.legendre.leggauss(200)
    eta = (nodes + 1)[:, None] / 4
    state = hedger.init(6)
    for _ in range(300):
        state = hedger.step(state, np.where(state.weights > rng.random(6) / 3, -1.0, 1.0))
        exponent = eta * state.regrets / 2 - eta**2 * state.ledger[1]
        assert (shares @ (np.expm1(exponent) / eta)).sum() <= 1e-9


def test_squint_bound_follows_from_its_potential() -> None:
    """The largest S that the kept potential leaves to an expert, all others as low as can be."""
    nodes, shares = np.polynomial.legendre.leggauss(400)
    u = (nodes + 1) / 2
    eta, width = u**4 / 2, 2 * u**3  # dense where eta is small

    def potential(regret: float, squares: float) -> float:
        exponent = np.minimum(eta * regret - eta**2 * squares, 700.0)
        return float(shares / 2 @ (width * np.expm1(exponent) / eta))

    for rounds in (1, 10, 1000, 100_000):
        for n in (2, 10, 1000):
            budget = -(n - 1) * potential(-rounds, rounds)
            for squares in {0.0, 1.0, rounds / 10, float(rounds)}:

                def spare(regret: float, squares: float = squares, budget: float = budget) -> float:
                    return potential(regret, squares) - budget

                most = rounds if spare(rounds) <= 0 else optimize.brentq(spare, -1.0, rounds)
                promised = hedgers._squint.improper(squares, rounds, 1 / n)
                assert 2 * most <= promised
