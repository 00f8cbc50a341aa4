import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees.potentials import ExponentialPotential, NormalPotential, Potential
from tests import oracles

POTENTIALS = [
    NormalPotential(),
    NormalPotential(0.5),
    NormalPotential(1e-3),
    ExponentialPotential(0.1),
    ExponentialPotential(30.0),
]
numbers = st.floats(-40, 40).map(lambda x: round(x, 12))  # below 1e-290 counts as zero
points = st.lists(numbers, min_size=1, max_size=30)


@pytest.mark.parametrize("potential", POTENTIALS, ids=repr)
def test_derivative_is_the_slope_of_the_value(potential: Potential) -> None:
    x = np.linspace(-0.9, 0.9, 41) + 0.003
    h = 1e-6
    slope = (potential.value(x + h) - potential.value(x - h)) / (2 * h)
    np.testing.assert_allclose(potential.derivative(x), slope, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("potential", POTENTIALS, ids=repr)
@given(x=points)
def test_weights_are_the_normalised_derivative(potential: Potential, x: list[float]) -> None:
    if isinstance(potential, NormalPotential):
        expected = oracles.normal_weights(x, 1.0, potential.c)
    else:
        assert isinstance(potential, ExponentialPotential)
        expected = oracles.hedge_weights(x, potential.eta)
    np.testing.assert_allclose(potential.weights(x), expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("potential", POTENTIALS, ids=repr)
@given(x=points)
def test_log_average_is_the_log_of_the_mean(potential: Potential, x: list[float]) -> None:
    logs = potential.log(x)
    expected = logs.max() + math.log(math.fsum(np.exp(logs - logs.max())) / len(x))
    assert potential.log_average(x) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_values_of_the_paper() -> None:
    x = np.array([-3.0, 0.0, 1.0, 2.0])
    potential = NormalPotential()
    np.testing.assert_allclose(potential.value(x), [1, 1, math.exp(1 / 8), math.exp(1 / 2)])
    np.testing.assert_allclose(potential.derivative(x)[:2], 0.0)
    assert potential.average(x) == pytest.approx((2 + math.exp(1 / 8) + math.exp(1 / 2)) / 4)


def test_nothing_overflows() -> None:
    potential = NormalPotential(c=1e-6)
    x = np.array([-1e9, 1e9, 1e9 - 1.0, 0.0])
    np.testing.assert_array_equal(potential.weights(x), [0, 1, 0, 0])
    assert math.isfinite(potential.log_average(x))
    assert potential.average(x) == math.inf
    assert potential.value(x)[1] == math.inf


def test_close_leaders_with_huge_exponents_keep_their_digits() -> None:
    # Exponents of 5e8 that differ by 1: a difference of squares would lose seven digits.
    one, other = NormalPotential(c=1.0).weights([31622.7766, 31622.7766 + 1 / 31622.7766])
    assert other / one == pytest.approx(math.e, rel=1e-6)


def test_exp2_is_right_to_the_last_digits() -> None:
    x = -np.concatenate([np.linspace(0, 3, 100_001), np.linspace(3, 999, 100_001)])
    np.testing.assert_allclose(of(_core.exp2, x), np.exp2(x), rtol=6e-16, atol=0)
    ends = np.array([0.0, -1000.0, -1e300, -math.inf])
    assert of(_core.exp2, ends).tolist() == [1.0, 0.0, 0.0, 0.0]


def of(function: Callable[[Floats, Floats], None], x: Floats) -> Floats:
    """Return a function of the core on an array."""
    result = np.empty_like(x)
    function(x, result)
    return result


@pytest.mark.parametrize("squared", [True, False])
def test_sums_do_not_depend_on_where_arrays_lie(squared: bool) -> None:
    name = "normal_hedge" if squared else "hedge"
    engine = _core.Engine(name, (1.0, 0.3), (1.0, 1.0), tuple)
    for n in (1, 3, 6, 9, 14, 31, 63, 64, 65, 100, 1023, 1025, 2050):
        regrets = np.random.default_rng(n).normal(0.0, 3.0, n)
        found = set()
        for gap in range(40):
            memory = np.empty(2 * n + gap)
            for own, other in ((memory[:n], memory[n + gap :]), (memory[n + gap :], memory[:n])):
                own[:] = regrets
                log_mean = engine.weigh(other, own[np.newaxis], np.empty(0))
                found.add((log_mean, other.tobytes()))
        assert len(found) == 1, n


@pytest.mark.parametrize(
    ("ours", "theirs", "low", "high"),
    [
        (_core.log1p, np.log1p, -290.0, 300.0),
        (lambda x, out: _core.log1p(-x, out), lambda x: np.log1p(-x), -290.0, -1e-6),
        (_core.one_less_exp, lambda x: -np.expm1(-x), -290.0, 300.0),
        (_core.erfcx, special.erfcx, -20.0, 100.0),
        (_core.log, np.log, -290.0, 300.0),
    ],
)
def test_small_numbers_keep_their_digits(
    ours: Callable[[Floats, Floats], None],
    theirs: Callable[[Floats], Floats],
    low: float,
    high: float,
) -> None:
    rng = np.random.default_rng(0)
    x = 10.0 ** np.concatenate([rng.uniform(low, high, 2000), rng.uniform(-2, min(high, 1), 2000)])
    np.testing.assert_allclose(of(ours, x), theirs(x), rtol=2e-15, atol=1e-16)


def test_one_less_exp_at_its_ends() -> None:
    assert of(_core.one_less_exp, np.array([0.0, 1e300])).tolist() == [0.0, 1.0]
