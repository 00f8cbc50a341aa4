"""Numbers and times as people write them."""

from math import floor, isfinite, isnan, log10
from typing import Any

import numpy as np

NONE = "–"
"""Stands for a number that is not known."""

LARGE = 1e15
"""From here on, numbers are written with a power of ten."""

MANY = 1.0
"""From here on, an excess is written as a multiple."""

SAME = 0.0005
"""Errors that differ by a smaller share are the same in words."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float) -> str:
    """Return a number with three digits or, from a thousand on, without digits after the point.

    Examples
    --------
    >>> [number(x) for x in (1234.5, 12.345, 0.0123456, -3.0, 0.0, float("nan"), 2e20)]
    ['1,234', '12.3', '0.0123', '−3.00', '0', '–', '2.00 × 10²⁰']
    """
    if not isfinite(value):
        return NONE if isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0.0:
        return "0"
    if value < 0.0:
        return f"−{number(-value)}"
    if value >= LARGE or value < 1e-6:
        power = floor(log10(value))
        return f"{value / 10.0**power:.2f} × 10{str(power).translate(_RAISED)}"
    if value >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.{max(2 - floor(log10(float(f'{value:.3g}'))), 0)}f}"


def percent(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> [percent(x) for x in (0.1234, 0.9, 1.0, 0.0012)]
    ['12.3 %', '90.0 %', '100 %', '0.1 %']
    """
    if isnan(share):
        return NONE
    points = 100.0 * share
    return f"{points:.0f} %" if abs(points) >= 99.95 else f"{points:.1f} %"


def excess(share: float) -> str:
    """Return in words how far an error is above or below another.

    Examples
    --------
    >>> [excess(x) for x in (-0.1234, 0.042, 0.0001, 2.1, -0.9999)]
    ['12 % below', '4.2 % above', 'the same as', '3.1 times', 'less than 1 % of']
    """
    if isnan(share):
        return NONE
    if abs(share) < SAME:
        return "the same as"
    if share < -0.99:
        return "less than 1 % of"
    if share >= MANY:
        times = 1.0 + share
        return "far above" if times > 1e6 else f"{times:,.{0 if times >= 99.5 else 1}f} times"
    points = 100.0 * abs(share)
    words = f"{points:.0f} %" if points >= 9.95 else f"{points:.1f} %"
    return f"{words} {'below' if share < 0.0 else 'above'}"


def moment(time: Any) -> str:
    """Return a time: a date without its clock if that is midnight.

    Examples
    --------
    >>> [moment(np.datetime64(f"2024-03-01T{clock}")) for clock in ("00:00", "15:30")]
    ['1 March 2024', '1 March 2024, 15:30']
    """
    if isinstance(time, np.datetime64):
        whole = time.astype("datetime64[us]").item()
        day = f"{whole.day} {whole:%B %Y}"
        return day if (whole.hour, whole.minute) == (0, 0) else f"{day}, {whole:%H:%M}"
    return str(time)
