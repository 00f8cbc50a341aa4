"""Read lines of JSON, and convert answers to values that JSON can represent."""

import json
from math import isfinite
from typing import Any

import numpy as np

from normalhedge.boundary.terminal import clipped


def text(line: str | bytes, *, whole: bool) -> str:
    """Return a line as text, stripped; raise a ValueError if it is not UTF-8."""
    if isinstance(line, str):
        content = line
    elif not whole:
        start = clipped(line.decode("utf-8", "replace"), 100)
        raise ValueError(f"this line is too long: it begins with {start!r}")
    else:
        try:
            content = line.decode("utf-8")
        except UnicodeDecodeError as error:
            start = clipped(line.decode("utf-8", "backslashreplace"), 100)
            where = f"from byte {error.start + 1} on"
            raise ValueError(f"this is not UTF-8, {where}: {start!r}") from None
    return content.strip().lstrip("\ufeff")


def parsed(line: str) -> Any:
    """Return the value of a line of JSON; raise a ValueError if it is not JSON."""
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError(f"this is nested too deeply: {clipped(line, 100)!r}") from None
    except ValueError as error:  # also a number with too many digits
        raise ValueError(f"this is not JSON: {error}: {clipped(line, 100)!r}") from None


def plain(value: Any) -> Any:
    """Return a value with arrays as lists, and with None for NaN and infinity."""
    if isinstance(value, float):  # also the float64 of NumPy
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {
            key: part if type(part) is float and isfinite(part) else plain(part)
            for key, part in value.items()
        }
    if isinstance(value, np.ndarray):
        return [plain(part) for part in value.tolist()]
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value
