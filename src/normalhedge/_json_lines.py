"""Lines of JSON: bytes to what they say, and answers that JSON can hold."""

import json
from math import isfinite
from typing import Any

import numpy as np

from normalhedge._terminal import clipped


def text(line: str | bytes, *, whole: bool) -> str:
    """Return a line as text, without what surrounds it; refuse what is none, or is not whole."""
    if isinstance(line, str):
        found = line
    elif not whole:
        start = clipped(line.decode("utf-8", "replace"), 100)
        raise ValueError(f"this line is too long: it begins with {start!r}")
    else:
        try:
            found = line.decode("utf-8")
        except UnicodeDecodeError as error:
            start = clipped(line.decode("utf-8", "backslashreplace"), 100)
            where = f"from byte {error.start + 1} on"
            raise ValueError(f"this is not UTF-8, {where}: {start!r}") from None
    return found.strip().lstrip("\ufeff")


def parsed(line: str) -> Any:
    """Return what a line says; refuse what is not JSON."""
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError(f"this is nested too deeply: {clipped(line, 100)!r}") from None
    except ValueError as error:  # also a number of too many digits
        raise ValueError(f"this is not JSON: {error}: {clipped(line, 100)!r}") from None


def plain(value: Any) -> Any:
    """Return arrays as lists, and null for NaN."""
    if isinstance(value, float):  # NumPy's are, too
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return [plain(part) for part in value.tolist()]
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value
