"""Intervals around any forecasts whose long-run coverage is kept for every sequence."""

from normalhedge.mixtures.intervals._arguments import (
    LONGEST_SEASON as LONGEST_SEASON,
    checked_levels,
)
from normalhedge.mixtures.intervals._conformal import Conformal
from normalhedge.mixtures.intervals._results import Interval, IntervalRun

__all__ = ["Conformal", "Interval", "IntervalRun", "checked_levels"]
