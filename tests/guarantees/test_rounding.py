"""The bound on computed regrets, beside the same rounds in many digits."""

import math

import flint
import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.guarantees import best_known, computed_potential
from normalhedge.guarantees._bounds import UNIT, gain_error
from normalhedge.research.games import BreakAway


def exact(value: float) -> flint.arb:
    return flint.arb(flint.fmpq(*float(value).as_integer_ratio()))


def exact_potential(regrets: np.ndarray, alpha: float, c: float) -> flint.arb:
    total = flint.arb(0)
    for regret in regrets:
        ahead = exact(max(regret, 0.0))
        total += (exact(alpha) * ahead * ahead / (2 * exact(c))).exp()
    return total / len(regrets)


def exact_gain(regrets: np.ndarray, gains: np.ndarray, alpha: float, c: float) -> flint.arb:
    """The gain of the hedger with the exact weights of the computed regrets."""
    total, above = flint.arb(0), flint.arb(0)
    for regret, gain in zip(regrets, gains, strict=True):
        ahead = exact(max(regret, 0.0))
        weight = ahead * (exact(alpha) * ahead * ahead / (2 * exact(c))).exp()
        total += weight
        above += weight * exact(gain)
    return above / total


@pytest.mark.parametrize(("n", "alpha", "c"), [(3, 0.1, 4.0), (40, 0.01, 1.0), (1500, 0.001, 2.0)])
def test_the_errors_of_a_round_are_as_counted(n: int, alpha: float, c: float) -> None:
    hedger = NormalHedge(alpha=alpha, c=c)
    rng = np.random.default_rng(0)
    potential = best_known(alpha, n, c).potential
    state, worst = hedger.init(n), 0.0
    natures = np.concatenate(list(BreakAway(n, alpha).gains(60, rng)))
    with flint.ctx.workprec(300):
        for t in range(60):
            gains = natures[t] if t % 2 else rng.uniform(-1, 1, n)
            after = hedger.step(state, gains)
            if (state.regrets > 0).any():
                assert after.gain is not None
                gain = exact_gain(state.regrets, gains, alpha, c)
                error = float(abs(exact(after.gain) - gain).upper())
                assert error <= gain_error(n, potential)
                worst = max(worst, error / gain_error(n, potential))
                for i in range(0, n, max(n // 20, 1)):
                    kept = (1 - exact(alpha)) * exact(state.regrets[i])
                    rest = abs(
                        exact(after.regrets[i]) - kept - (exact(gains[i]) - exact(after.gain))
                    )
                    assert rest <= UNIT * (3 * abs(float(state.regrets[i])) + 8)
            state = after
    assert worst > 1e-5  # it is an error of rounding, not none at all


def test_what_is_allowed_for_rounding() -> None:
    for alpha, n, c in ((1e-3, 1000, 4.0), (1e-3, 10**5, 1.0), (0.1, 10**5, 4.0)):
        bound = best_known(alpha, n, c)
        assert 0 < bound.computed_potential - bound.potential < 0.02
    allowed = computed_potential(1e-3, 10**5, 4.0, 1.153448) - 1.153448
    assert 0 < allowed < 1e-7
    assert math.isinf(computed_potential(1e-9, 10**12, 4.0, 1.1536))
    assert math.isinf(best_known(1e-3, 10**6, 1.0).computed_potential)  # x may go a little farther
    assert best_known(1e-3, 10**6 - 10, 1.0).computed_potential < 1.6516
    assert computed_potential(0.01, 1, 4.0, 1.1) == 1.1
    assert math.isinf(best_known(0.3, 1000, 3.0).computed_potential)


def test_the_fixed_point_is_one() -> None:
    """With the errors as large as they may be, a round leads from it to at most itself."""
    for alpha, n, c, level in ((0.001, 1000, 4.0, 1.153448), (0.01, 10**6, 2.0, 1.2737)):
        top = computed_potential(alpha, n, c, level)
        h, x = math.sqrt(alpha), math.sqrt(2 * c * math.log1p(n * (top - 1)))
        with flint.ctx.workprec(200):
            error = exact(h) * exact(gain_error(n, top)) + exact(UNIT) * exact(3 * x + 8 * h)
            omega = ((2 * exact(x + 2 * h) * error + error * error) / exact(2 * c)).exp() - 1
            for a in (1 / (2 * c * (level - 1)), 1.0, 3.0):
                down = exact(alpha) * exact(a) * (exact(level) - exact(top))
                assert (1 + omega) * (exact(top) + down) <= exact(top)
            lower = (
                exact(level) + (exact(top) - exact(level)) / 2
            )  # half of the allowance is too little
            down = exact(alpha / (2 * c * (level - 1))) * (exact(level) - lower)
            assert (1 + omega) * (lower + down) > lower


def test_computed_regrets_under_attack() -> None:
    alpha, n, c = 0.01, 10, 1.0
    bound = best_known(alpha, n, c)
    hedger, rng = NormalHedge(alpha=alpha, c=c), np.random.default_rng(0)
    state, highest = hedger.init(n), flint.arb(0)
    with flint.ctx.workprec(200):
        for gains in np.concatenate(list(BreakAway(n, alpha).gains(1600, rng))):
            state = hedger.step(state, gains)
            found = exact_potential(state.regrets, alpha, c)
            highest = found if found > highest else highest
        assert highest <= exact(bound.computed_potential)
        assert highest > 1.5
