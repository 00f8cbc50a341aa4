"""Restore the intervals of a mixture from the content of a file; check every entry."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.files._entries import MOST, floats, listed, whole
from normalhedge.mixtures.intervals import Conformal
from normalhedge.mixtures.state import Books, RoundRecord

ENTRIES = frozenset({"levels", "season", "games", "predicted", "tokens"})
"""The entries of the intervals of a mixture in a file."""


def interval_options(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a file that say which intervals it has; none if it has none."""
    entry = found.get("intervals")
    if entry is None:
        return {}
    if not isinstance(entry, dict) or entry.keys() != ENTRIES:
        raise ValueError(f"intervals must have {', '.join(sorted(ENTRIES))}")
    levels = listed("levels", entry["levels"])
    season = None if entry["season"] is None else whole("season", entry["season"])
    floats("levels", levels, (len(levels),), 0.0, 1.0)
    if levels != sorted(levels):
        raise ValueError("levels of intervals must rise")
    return {"interval": levels, "season": season}


def read_intervals(
    books: Books, pending: list[RoundRecord], entry: Mapping[str, Any]
) -> list[RoundRecord]:
    """Read what was learned for the intervals; return the pending rounds with their tokens."""
    intervals, count = books.intervals, len(books.items)
    assert intervals is not None
    size, length = intervals.conformal.sizes
    games = floats("games", entry["games"], (count, size), -math.inf, math.inf)
    counts = intervals.conformal.counts(games)
    hits = counts[:, :, 0] - counts[:, :, 1] - counts[:, :, 2]
    if min(counts.min(initial=0.0), hits.min(initial=0.0), games[:, :3].min(initial=0.0)) < 0.0:
        raise ValueError("games of intervals must have counts that add up")
    predicted = floats("predicted", entry["predicted"], (count,), 0, MOST, integral=True)
    rounds, tokens = {record.ticket: record for record in pending}, dict[int, Floats]()
    for pair in listed("tokens", entry["tokens"]):
        ticket, given = listed("tokens", pair, 2)
        if type(ticket) is not int or ticket in tokens or ticket not in rounds:
            raise ValueError("each token must belong to a different pending round")
        items = rounds[ticket].items
        shape = (len(items), length + 1)
        read = floats("tokens", given, shape, -math.inf, math.inf, missing=True)
        if not (read[:, -1] < predicted[items]).all() or not (read[:, -1] >= 0).all():
            raise ValueError(f"tokens of ticket {ticket} must be of earlier rounds")
        tokens[ticket] = _with_infinities(intervals.conformal, read, ticket)
    if tokens.keys() != rounds.keys():
        raise ValueError("there must be tokens for each pending round")
    fields = {"intervals": games, "interval_rounds": predicted.astype(np.int64)}
    books.live.assign(books.live.version, fields)
    return [record._replace(tokens=tokens[record.ticket]) for record in pending]


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
