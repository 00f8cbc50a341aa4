"""Checks of arguments. Each error names the argument, the value and the accepted values."""

import math
import numbers
import operator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LARGEST = 1e100
"""The largest regret that is accepted: its square is still a float."""

LARGEST_WHOLE = 2**63 - 1
"""The largest whole number that the core can hold."""

CORE_DTYPES = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int8))
"""The dtypes that the core reads without conversion; others are converted to float64."""


def number(
    name: str, value: object, low: float, high: float = math.inf, *, closed: bool = False
) -> float:
    """Check that a value is a finite number in an interval, and return it as a float."""
    if not is_number(value):
        raise TypeError(f"{name} must be a number, got {_shown(value)} ({type(value).__name__})")
    try:
        result = float(value)  # type: ignore[arg-type]
    except OverflowError:
        result = math.inf
    inside = low <= result <= high if closed else low < result < high
    if not (math.isfinite(result) and inside):
        if math.isinf(high):
            accepted = f"a finite number {'>=' if closed else '>'} {low:g}"
        elif closed:
            accepted = f"in [{low:g}, {high:g}]"
        else:
            accepted = f"strictly between {low:g} and {high:g}"
        raise ValueError(f"{name} must be {accepted}, got {result!r}")
    return result


def is_number(value: object) -> bool:
    """Return whether a value is a real number; truth values are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def quantile(value: object) -> float:
    """Check that a value is a share of the experts in (0, 1], and return it as a float."""
    try:
        return number("quantile", value, math.ulp(0.0), 1.0, closed=True)
    except ValueError:
        raise ValueError(f"quantile must be in (0, 1], got {value!r}") from None


def count(name: str, value: object, least: int = 1, most: int | None = None) -> int:
    """Check that a value is a whole number in a range, and return it as an int."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        result = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"{name} must be a whole number, got {_shown(value)} ({type(value).__name__})"
        ) from None
    if result < least:
        raise ValueError(f"{name} must be at least {least}, got {result}")
    if most is not None and result > most:
        raise ValueError(f"{name} must be at most {most:,}, got {_shown(result)}")
    return result


def numbers_array(name: str, values: object) -> np.ndarray:
    """Check that values are real numbers; return them as an array, without a copy if possible."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: fill it, or let experts sleep")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be a rectangular array of numbers") from None
    if array.dtype.kind not in "fiu":
        raise TypeError(
            f"{name} must be real numbers (float64, float32, int8 or a type that converts to "
            "float64), "
            f"got dtype {array.dtype}"
        )
    return array


def readable(array: np.ndarray) -> bool:
    """Tell whether the core can read an array without a copy."""
    return array.dtype in CORE_DTYPES and array.flags.c_contiguous and array.flags.aligned


def for_core(array: np.ndarray) -> np.ndarray:
    """Return the array in a layout and dtype that the core reads; copy it only if necessary."""
    if array.dtype not in CORE_DTYPES:
        array = array.astype(np.float64)
    return np.require(array, requirements=["C", "A"])


def floats(array: np.ndarray) -> Floats:
    """Return the array as float64 in a layout that the core reads; copy it only if necessary."""
    return np.require(array, np.float64, ["C", "A"])


def vector(name: str, values: object, length: int) -> np.ndarray:
    """Check that there is one number for each expert, and return them in a form the core reads."""
    array = numbers_array(name, values)
    if array.shape != (length,):
        raise ValueError(
            f"{name} must have shape ({length},), one number for each expert, got {array.shape}"
        )
    return for_core(array)


def confidences(values: object, length: int) -> Floats:
    """Check that there is one confidence for each expert, and return them as float64."""
    if np.asarray(values).dtype == np.bool_:
        values = np.asarray(values, dtype=np.float64)
    return vector("confidence", values, length).astype(np.float64, copy=False)


def points(name: str, values: object) -> Floats:
    """Return a non-empty one-dimensional float64 array of finite numbers below 1e100."""
    array = numbers_array(name, values).astype(np.float64, copy=False)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a non-empty one-dimensional array, got {array.shape}")
    wrong = ~(np.abs(array) < LARGEST)
    if wrong.any():
        _refuse_entry(name, f"finite numbers within ±{LARGEST:g}", array, wrong, ())
    return np.ascontiguousarray(array)


def refuse(gains: np.ndarray, confidence: np.ndarray | None, *where: int) -> NoReturn:
    """Raise a ValueError that names the gain or confidence which is out of range."""
    if confidence is not None:
        wrong = ~((confidence >= 0) & (confidence <= 1))
        if wrong.any():
            _refuse_entry("confidence", "numbers in [0, 1]", confidence, wrong, where)
    wrong = ~(np.abs(gains.astype(np.float64)) <= 1)
    if confidence is not None:
        wrong &= confidence > 0
    _refuse_entry("gains", "finite numbers in [-1, 1]", gains, wrong, where)


def _refuse_entry(
    name: str, accepted: str, values: np.ndarray, wrong: np.ndarray, where: tuple[int, ...]
) -> NoReturn:
    expert = int(wrong.argmax())
    entry = ", ".join(str(index) for index in (*where, expert))
    raise ValueError(f"{name} must be {accepted}; {name}[{entry}] is {values[expert]}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
