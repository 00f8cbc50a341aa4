"""Arithmetic that runs in vector registers, which `math.exp` and a plain maximum do not."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic as _numba_intrinsic

from normalhedge._jit import STRICT, kernel

# What it returns has another signature than what it decorates.
intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]] = _numba_intrinsic

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
def log(x: float) -> float:
    """Return ln x for a normal x > 0 to two ulps or 1e-16, in vector registers as `exp2`.

    x = m 2^e with m between the square roots of 1/2 and 2, and ln m = 2 atanh((m - 1) / (m + 1)).
    """
    bits = _bits(x)
    e = (bits - _HALF_ROOT) >> 52
    m = _float(bits - (e << 52))
    t = (m - 1.0) / (m + 1.0)
    tt = t * t
    c, four = _ODD, tt * tt
    even = ((((c[10] * four + c[8]) * four + c[6]) * four + c[4]) * four + c[2]) * four + c[0]
    odd = (((c[9] * four + c[7]) * four + c[5]) * four + c[3]) * four + c[1]
    exponent = _float(e + _bits(_ROUND)) - _ROUND
    return float(2.0 * t * (even + odd * tt) + exponent * 0.6931471805599453)
