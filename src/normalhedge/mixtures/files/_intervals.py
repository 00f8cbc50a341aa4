"""The intervals of a mixture in a file."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.live.arrays import write_array
from normalhedge.mixtures.files._entries import MOST, check_floats, check_list, check_whole
from normalhedge.mixtures.intervals import Conformal
from normalhedge.mixtures.state import MixtureState, RoundRecord

INTERVALS = frozenset({"levels", "season", "games", "predicted"})
"""The entries of the intervals. Before version 6 they had the tokens of pending rounds, too."""


def write_intervals(state: MixtureState) -> dict[str, Any] | None:
    """Return the settings and the memory of the intervals; None without intervals."""
    live, intervals = state.live, state.intervals
    if intervals is None:
        return None
    return {
        "levels": list(intervals.conformal.levels),
        "season": intervals.conformal.season,
        "games": write_array(live.intervals),
        "predicted": write_array(live.interval_rounds),
    }


def interval_options(entry: Any) -> dict[str, Any]:
    """Return the options of a mixture with the intervals of a file; none if it has none."""
    if entry is None:
        return {}
    if not isinstance(entry, dict) or entry.keys() - {"tokens"} != INTERVALS:
        raise ValueError(f"intervals must have {', '.join(sorted(INTERVALS))}")
    levels = check_list("levels", entry["levels"])
    season = None if entry["season"] is None else check_whole("season", entry["season"])
    check_floats("levels", levels, (len(levels),), 0.0, 1.0)
    if levels != sorted(levels):
        raise ValueError("levels of intervals must rise")
    return {"interval": levels, "season": season}


def read_intervals(state: MixtureState, entry: Mapping[str, Any]) -> None:
    """Read the memory of the intervals."""
    intervals, live, count = state.intervals, state.live, len(state.items)
    assert intervals is not None
    size = intervals.conformal.sizes[0]
    games = check_floats("games", entry["games"], (count, size), -math.inf, math.inf)
    counts = intervals.conformal.counts(games)
    hits = counts[:, :, 0] - counts[:, :, 1] - counts[:, :, 2]
    if min(counts.min(initial=0.0), hits.min(initial=0.0), games[:, :3].min(initial=0.0)) < 0.0:
        raise ValueError("games of intervals must have counts that add up")
    predicted = check_floats("predicted", entry["predicted"], (count,), 0, MOST, integral=True)
    live.assign(live.version, {"intervals": games, "interval_rounds": predicted.astype(np.int64)})


def read_token_pairs(entry: Mapping[str, Any]) -> dict[int, Any]:
    """Return the tokens of pending rounds by their tickets, as files before version 6 had them."""
    tokens = dict[int, Any]()
    for pair in check_list("tokens", entry["tokens"]):
        ticket, values = check_list("tokens", pair, 2)
        if type(ticket) is not int or ticket in tokens:
            raise ValueError("each token must belong to a different pending round")
        tokens[ticket] = values
    return tokens


def read_tokens(state: MixtureState, record: RoundRecord, values: Any) -> Floats | None:
    """Return the tokens of a round, a row for each of its rows; None without intervals."""
    intervals = state.intervals
    if intervals is None:
        return None
    if values is None:
        raise ValueError(f"there must be tokens for ticket {record.ticket}")
    shape = (len(record.items), intervals.conformal.sizes[1] + 1)
    rows = check_floats("tokens", values, shape, -math.inf, math.inf, missing=True)
    predicted = state.live.interval_rounds[record.items]
    if not (rows[:, -1] < predicted).all() or not (rows[:, -1] >= 0).all():
        raise ValueError(f"tokens of ticket {record.ticket} must be of earlier rounds")
    return _with_infinities(intervals.conformal, rows, record.ticket)


def _with_infinities(conformal: Conformal, tokens: Floats, ticket: int) -> Floats:
    """Return tokens with infinite bounds where they are null, unless there was no forecast."""
    season = conformal.season or 1
    if not np.isin(tokens[:, 0], range(season)).all() or not np.isin(tokens[:, 1], (0, 1)).all():
        raise ValueError(f"tokens of ticket {ticket} must have a phase of the season")
    low, high = conformal.bound_columns
    forecast = ~np.isnan(tokens[:, 2])
    for columns, infinity in ((low, -math.inf), (high, math.inf)):
        part = tokens[:, columns]
        tokens[:, columns] = np.where(np.isnan(part) & forecast[:, np.newaxis], infinity, part)
    if np.isnan(tokens[forecast]).any():
        raise ValueError(f"tokens of ticket {ticket} must be numbers")
    return tokens
