"""The levels of quantile forecasts, read from the names of columns and from a column of levels."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.tables.frames import encode, floats, is_number, words

DIGITS = 12
"""Levels are rounded to this many digits: (1 - 0.9) / 2 is the level 0.05."""

_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_SHARE = re.compile(rf"(?:q|ql|quantile)?[ _=-]?({_NUMBER})", re.IGNORECASE)
_PER_CENT = re.compile(rf"(?:(?:p|pct|perc|percentile)[ _-]?({_NUMBER})|({_NUMBER}) ?%)", re.I)
_INTERVAL = re.compile(rf"(.+)-(lo|hi)-({_NUMBER})")
_MEDIAN = re.compile(r"(.+)-median")
_OF_MODEL = re.compile(r"(.+?)[ _-]((?:ql?|quantile)[ _=-]?0?\.\d+|p\d+)", re.IGNORECASE)


def level_of(name: str) -> float | None:
    """Return the level in the name of a column, ``q0.1``, ``P10`` or ``0.1``; None without one.

    Names with a level outside (0, 1) have none.

    Examples
    --------
    >>> [level_of(name) for name in ("q0.1", "P10", "0.975", ".5", "2.5 %", "quantile_0.9", "y")]
    [0.1, 0.1, 0.975, 0.5, 0.025, 0.9, None]
    """
    share, per_cent = _SHARE.fullmatch(name), _PER_CENT.fullmatch(name)
    if share is not None:
        level = float(share[1])
    elif per_cent is not None:
        level = round(float(per_cent[1] or per_cent[2]) / 100.0, DIGITS)
    else:
        return None
    return level if 0.0 < level < 1.0 else None


def model_and_level(name: str) -> tuple[str, float] | None:
    """Return the model and the level in the name of a column; None without both.

    ``model-lo-90`` and ``model-hi-90`` are the ends of an interval that holds 90 % of the outcomes.

    Examples
    --------
    >>> model_and_level("Theta-lo-90"), model_and_level("Theta-hi-80.5"), model_and_level("Theta")
    (('Theta', 0.05), ('Theta', 0.9025), None)
    >>> model_and_level("NHITS-median"), model_and_level("NHITS_ql0.1"), model_and_level("gam_P10")
    (('NHITS', 0.5), ('NHITS', 0.1), ('gam', 0.1))
    """
    interval = _INTERVAL.fullmatch(name)
    if interval is not None:
        model, side, content = interval[1], interval[2], float(interval[3]) / 100.0
        if not 0.0 < content < 1.0:
            raise ValueError(
                f"column {name} must have an interval between 0 and 100 per cent in its name"
            )
        half = 0.5 * content
        return model, round(0.5 - half if side == "lo" else 0.5 + half, DIGITS)
    median = _MEDIAN.fullmatch(name)
    if median is not None:
        return median[1], 0.5
    parts = _OF_MODEL.fullmatch(name)
    level = None if parts is None else level_of(parts[2])
    return None if parts is None or level is None else (parts[1], level)


def check_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """Return levels in order; refuse levels outside (0, 1), and levels given twice."""
    for level in levels:
        if isinstance(level, bool) or not isinstance(level, int | float | np.number):
            raise TypeError(f"a level must be a number strictly between 0 and 1, got {level!r}")
        if not 0.0 < level < 1.0:
            raise ValueError(f"a level must lie strictly between 0 and 1, got {level:g}")
    ordered = sorted(round(float(level), DIGITS) for level in levels)
    for level, other in pairwise(ordered):
        if level == other:
            raise ValueError(f"level {level:g} appears twice")
    return tuple(ordered)


def read_levels(column: Any, name: str) -> Floats:
    """Return the levels of a column of numbers or texts; refuse other cells."""
    if is_number(column.type):
        levels = floats(column)
    else:
        texts, codes = encode(words(column))
        levels = np.array([_level_in(text) for text in texts])[codes]
    wrong = ~((levels > 0.0) & (levels < 1.0))
    if wrong.any():
        row = int(wrong.argmax())
        value = column[row].as_py()
        if value is None or value == "" or value != value:  # noqa: PLR0124 -- NaN
            raise ValueError(
                f"column {name} must have a level in every row, row {row + 1} is empty"
            )
        hint = "; divide per cent by 100" if (levels > 1.0).any() else ""
        raise ValueError(
            f"column {name} must hold levels strictly between 0 and 1, it is {value!r} in row "
            f"{row + 1}{hint}"
        )
    return np.round(levels, DIGITS)


def _level_in(text: str) -> float:
    """Return the number in a text, or the level in a name such as ``q0.1``; NaN without one."""
    try:
        return float(text)
    except ValueError:
        level = level_of(text.strip())
        return np.nan if level is None else level
