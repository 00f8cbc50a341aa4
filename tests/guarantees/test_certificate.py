"""Certificates beside a plain linear program, games and attacks."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from normalhedge.guarantees import NoCertificate, best_c, best_known, certify, certify_limit
from normalhedge.research.games.attacks import hold
from tests.guarantees.examples import phi


def raised(alpha: float, n: int, c: float, potential: float, m: float) -> float:
    """By how much one round can raise the average potential: the primal, as it stands."""
    x_max = math.sqrt(2 * c * math.log(n * potential - n + 1))
    x = np.tile(np.linspace(0.0, x_max, 300), 2)
    r = np.repeat([1 - m, -1 - m], 300)
    now = phi(x, c)
    then = phi((1 - alpha) * x + math.sqrt(alpha) * r, c)
    conditions = np.stack([np.ones_like(x), now, x * now * r])
    solved = linprog(now - then, A_eq=conditions, b_eq=[1.0, potential, 0.0])
    assert solved.status == 0
    return -float(solved.fun)


@pytest.mark.parametrize(("alpha", "n", "c"), [(0.05, 10, 1.0), (0.01, 5, 2.0), (0.2, 4, 0.9)])
def test_a_plain_linear_program_agrees(alpha: float, n: int, c: float) -> None:
    found = certify(alpha, n, c)
    gains = [*np.linspace(-0.99, 0.99, 12), found.worst_gain]
    above = 1 + (found.potential - 1) * 1.005
    assert max(raised(alpha, n, c, above, m) for m in gains) < 1e-9
    below = 1 + (found.potential - 1) * 0.99
    assert max(raised(alpha, n, c, below, m) for m in gains) > 0


@pytest.mark.parametrize(
    ("n", "c", "potential"),
    [(10, 1.0, 1.6487), (10**12, 1.0, 1.6487), (1000, 2.0, 1.269), (1000, 4.0, 1.153)],
)
def test_the_limit_of_small_alpha(n: int, c: float, potential: float) -> None:
    found = certify_limit(n, c, tolerance=1e-4)
    assert found.potential == pytest.approx(potential, abs=5e-4)
    assert found.potential > math.exp(1 / (4 * c - 2)) * (1 - 1e-4)
    assert found.regret == math.inf
    if c == 4.0:
        assert certify(1e-7, n, c).potential == pytest.approx(potential, abs=1e-3)


@pytest.mark.parametrize(("alpha", "potential"), [(1e-3, 1.651), (1e-2, 2.078), (5e-2, 4.797)])
def test_finite_alpha(alpha: float, potential: float) -> None:
    found = certify(alpha, 10**6, 1.0, tolerance=1e-4)
    assert found.potential == pytest.approx(potential, abs=1.5e-3)
    assert found.error < 1e-4 * found.potential
    level = found.potential
    assert found.regret == pytest.approx(math.sqrt(2 * math.log(10**6 * (level - 1) + 1) / alpha))
    assert found.quantile(0.1) == pytest.approx(math.sqrt(2 * math.log(10 * level - 9) / alpha))
    assert found.quantile(1e-9) == pytest.approx(found.regret)


def test_what_is_worst() -> None:
    found = certify(1e-3, 1000, 1.0)
    assert sum(mass.share for mass in found.worst_measure) == pytest.approx(1.0)
    x, gain, share = (np.array(column) for column in zip(*found.worst_measure, strict=True))
    now = phi(x, 1.0)
    assert share @ now == pytest.approx(found.potential, rel=1e-4)
    r = gain - found.worst_gain
    assert share @ (x * now * r) == pytest.approx(0.0, abs=1e-3)
    then = phi(0.999 * x + math.sqrt(1e-3) * r, 1.0)
    assert share @ (then - now) == pytest.approx(0.0, abs=1e-6)


def test_no_certificate() -> None:
    for settings in [(1e-3, 1000, 0.5), (1e-3, 1000, 0.4), (1e-4, 10, 0.51)]:
        with pytest.raises(NoCertificate, match="no bound on the average potential up to"):
            certify(*settings)
    with pytest.raises(NoCertificate):
        certify_limit(10, 0.5)


def test_one_expert_is_covered_as_two_are() -> None:
    one, two = (certify(0.01, n, 4.0, tolerance=1e-2) for n in (1, 2))
    assert one.potential == two.potential


@pytest.mark.slow
def test_the_best_c() -> None:
    found = best_c(1e-3, 1000)
    assert found.c == pytest.approx(0.728, abs=0.02)
    assert found.scaled_regret < 3.33
    for c in (0.65, 0.85, 1.0):
        assert certify(1e-3, 1000, c).scaled_regret > found.scaled_regret


def test_a_certificate_for_a_range_covers_the_smallest_rate() -> None:
    found = certify(0.1, 1000, 4.0, alpha_from=0.01, tolerance=1e-3)
    assert found.regret == pytest.approx(10.0 * found.scaled_regret)
    assert hold(0.01, 1000, 4.0, "regret").regret * 10.0 < found.regret
    assert found.quantile(0.5) < found.regret
    assert certify(0.1, 10, 4.0, alpha_from=0.0, tolerance=1e-3).regret == math.inf


def test_attacks_do_not_pass_the_error_of_a_certificate() -> None:
    alpha, n, c = 0.992157699325324, 10**9, 2.6280671401743794
    found = certify(alpha, n, c)
    assert hold(alpha, n, c).potential <= found.potential + found.error


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan, math.inf, "0.1", None, True])
def test_bad_alpha(alpha: Any) -> None:
    for function in (certify, best_known):
        with pytest.raises((TypeError, ValueError), match="alpha must be"):
            function(alpha, 10, 1.0)
    with pytest.raises((TypeError, ValueError), match="alpha must be"):
        best_c(alpha, 10)


@pytest.mark.parametrize("c", [0.0, -1.0, math.nan, math.inf, "1", None])
def test_bad_c(c: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="c must be"):
        certify(0.1, 10, c)
    with pytest.raises((TypeError, ValueError), match="c must be"):
        certify_limit(10, c)


@pytest.mark.parametrize("n", [0, -1, 1.5, math.nan, "10", None])
def test_bad_number_of_experts(n: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="n_experts must be"):
        certify(0.1, n, 1.0)
    with pytest.raises((TypeError, ValueError), match="n_experts must be"):
        certify_limit(n, 1.0)


def test_bad_ranges_and_tolerances() -> None:
    with pytest.raises(ValueError, match="alpha_from must be"):
        certify(0.1, 10, 4.0, alpha_from=0.2)
    with pytest.raises(ValueError, match="tolerance must be"):
        certify(0.1, 10, 4.0, tolerance=0.0)
    with pytest.raises(ValueError, match="quantile must be"):
        certify(0.1, 10, 4.0).quantile(0.0)
