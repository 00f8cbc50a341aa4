"""Arithmetic that runs in vector registers, which `math.exp` and a plain maximum do not."""

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic as _numba_intrinsic

from normalhedge._jit import STRICT, kernel

# What it returns has another signature than what it decorates.
intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]] = _numba_intrinsic

_LOG2_E = math.log2(math.e)

NEGLIGIBLE = -1000.0
"""2^-1000, far above the subnormal numbers: smaller shares of the leading weight are zero."""

# 1.5 * 2^52: adding it rounds a float to the nearest integer and leaves that integer, shifted by a
# multiple of 2^12, in the low bits of the representation.
_ROUND = 1.5 * 2.0**52

# 2^f for |f| <= 1/2 by the polynomial of degree 10 with the least relative error, 2.1e-16 (Remez).
_EXP2 = (
    1.0,
    0.6931471805599497,
    0.24022650695908768,
    0.05550410866445883,
    0.00961812910803459,
    0.0013333558228561476,
    0.00015403529961135955,
    1.5252658116561384e-05,
    1.3215662831846104e-06,
    1.0208537904552164e-07,
    7.037279530582804e-09,
)


@intrinsic
def _bits(_context: Any, _number: Any) -> Any:
    """Return the representation of a float as an integer."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _float(_context: Any, _integer: Any) -> Any:
    """Return the float with this representation."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def larger(_context: Any, _one: Any, _other: Any) -> Any:
    """Return the larger of two floats, neither of them NaN, in a way that loops can vectorise.

    The maximum written as a comparison keeps a whole loop out of the vector registers.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        signature = ir.FunctionType(double, [double, double])
        maxnum = builder.module.declare_intrinsic("llvm.maxnum", [double], signature)
        return builder.call(maxnum, arguments, fastmath=("nnan", "nsz"))

    return types.float64(types.float64, types.float64), generate


@kernel(STRICT)
def exp2(exponent: float) -> float:
    """Return 2^exponent for exponent <= 0 to two ulps, and 0 below 2^-1000.

    Written without branches and library calls, so that a loop over it runs in vector registers;
    `math.exp` does not.
    """
    shifted = exponent + _ROUND
    f = exponent - (shifted - _ROUND)
    # Even and odd terms apart: two chains of multiply-adds run side by side.
    c, ff = _EXP2, f * f
    even = (((c[10] * ff + c[8]) * ff + c[6]) * ff + c[4]) * ff + c[2]
    odd = (((c[9] * ff + c[7]) * ff + c[5]) * ff + c[3]) * ff + c[1]
    p = even * ff + (odd * f + c[0])
    power = _float((_bits(shifted) + 1023) << 52)
    return p * power if exponent > NEGLIGIBLE else 0.0


_HALF_ROOT = 0x3FE6A09E667F3BCD
"""The representation of the square root of 1/2."""

_ODD = tuple(1.0 / (2 * j + 1) for j in range(11))


@kernel(STRICT)
def _atanh_twice(t: float) -> float:
    """Return 2 atanh(t) for |t| < 0.172."""
    tt = t * t
    c, four = _ODD, tt * tt
    even = ((((c[10] * four + c[8]) * four + c[6]) * four + c[4]) * four + c[2]) * four + c[0]
    odd = (((c[9] * four + c[7]) * four + c[5]) * four + c[3]) * four + c[1]
    return 2.0 * t * (even + odd * tt)


@kernel(STRICT)
def log(x: float) -> float:
    """Return ln x for a normal x > 0 to two ulps or 1e-16, in vector registers as `exp2`.

    x = m 2^e with m between the square roots of 1/2 and 2, and ln m = 2 atanh((m - 1) / (m + 1)).
    """
    bits = _bits(x)
    e = (bits - _HALF_ROOT) >> 52
    m = _float(bits - (e << 52))
    exponent = _float(e + _bits(_ROUND)) - _ROUND
    return float(_atanh_twice((m - 1.0) / (m + 1.0)) + exponent * 0.6931471805599453)


@kernel(STRICT)
def log1p(x: float) -> float:
    """Return ln(1 + x) for x > -1, with the digits of a small x kept.

    As `log`, where m - 1 is x itself while e = 0.
    """
    bits = _bits(1.0 + x)
    e = (bits - _HALF_ROOT) >> 52
    above = x if e == 0 else _float(bits - (e << 52)) - 1.0
    exponent = _float(e + _bits(_ROUND)) - _ROUND
    return float(_atanh_twice(above / (2.0 + above)) + exponent * 0.6931471805599453)


_EXCESS = tuple(1.0 / math.factorial(j + 2) for j in range(18))


@kernel(STRICT)
def excess(x: float) -> float:
    """Return e^x - 1 - x for |x| <= 1, with the digits of a small x kept."""
    c, xx = _EXCESS, x * x
    even = (((c[16] * xx + c[14]) * xx + c[12]) * xx + c[10]) * xx + c[8]
    even = (((even * xx + c[6]) * xx + c[4]) * xx + c[2]) * xx + c[0]
    odd = (((c[17] * xx + c[15]) * xx + c[13]) * xx + c[11]) * xx + c[9]
    odd = (((odd * xx + c[7]) * xx + c[5]) * xx + c[3]) * xx + c[1]
    return xx * (even + odd * x)


_RISE = tuple(math.log(2.0) ** j / math.factorial(j) for j in range(1, 15))


@kernel(STRICT)
def one_less_exp(x: float) -> float:
    """Return 1 - e^-x for x >= 0, with the digits of a small x kept.

    As `exp2`: with 2^(e + f) for e^-x it is ``(1 - 2^e) - 2^e (2^f - 1)``, and 2^f - 1 is a series
    without a constant.
    """
    exponent = -larger(x, 0.0) * _LOG2_E
    shifted = exponent + _ROUND
    f = exponent - (shifted - _ROUND)
    c, ff = _RISE, f * f
    odd = ((((c[12] * ff + c[10]) * ff + c[8]) * ff + c[6]) * ff + c[4]) * ff + c[2]
    even = (((((c[13] * ff + c[11]) * ff + c[9]) * ff + c[7]) * ff + c[5]) * ff + c[3]) * ff + c[1]
    rise = even * ff + (odd * ff + c[0]) * f
    power = _float((_bits(shifted) + 1023) << 52)
    return (1.0 - power) - power * rise if exponent > NEGLIGIBLE else 1.0


# (1 + 2x) erfcx(x) by powers of (x - 3.75) / (x + 3.75), after Shepherd and Laframboise (1981): the
# Chebyshev series of degree 24 from forty digits, in powers. Relative error 9e-16 for all x >= 0.
_ERFCX = (
    1.2375126308378275,
    -0.14024059858554697,
    0.0035854154854644293,
    0.0822767384901452,
    -0.10880393014174886,
    0.09230432116037748,
    -0.05869339858963676,
    0.028362277418956364,
    -0.009746579558029479,
    0.001755625852895578,
    0.0002937136655925545,
    -0.0002901540805420362,
    5.1649098888144384e-05,
    2.2384239158309724e-05,
    -1.1444146226535542e-05,
    -9.735599024300036e-07,
    1.7516376305863444e-06,
    -5.721822408015812e-08,
    -2.586684874921685e-07,
    2.3263504032644517e-08,
    3.867532084683544e-08,
    -3.744208176587683e-09,
    -5.173984987667304e-09,
    3.11143001991097e-10,
    4.2514625465327266e-10,
)


@kernel(STRICT)
def erfcx(x: float) -> float:
    """Return exp(x^2) erfc(x) for 0 <= x < 1e150, in vector registers as `exp2`."""
    inverse = 1.0 / ((x + 3.75) * (1.0 + 2.0 * x))  # for both divisions
    y = (x - 3.75) * (1.0 + 2.0 * x) * inverse
    c, yy = _ERFCX, y * y
    even = (((c[24] * yy + c[22]) * yy + c[20]) * yy + c[18]) * yy + c[16]
    even = (((even * yy + c[14]) * yy + c[12]) * yy + c[10]) * yy + c[8]
    even = (((even * yy + c[6]) * yy + c[4]) * yy + c[2]) * yy + c[0]
    odd = (((c[23] * yy + c[21]) * yy + c[19]) * yy + c[17]) * yy + c[15]
    odd = (((odd * yy + c[13]) * yy + c[11]) * yy + c[9]) * yy + c[7]
    odd = ((odd * yy + c[5]) * yy + c[3]) * yy + c[1]
    return (even + odd * y) * (x + 3.75) * inverse
