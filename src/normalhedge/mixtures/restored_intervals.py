"""Restore the intervals of a mixture from the content of a file; check every entry."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.intervals import Conformal
from normalhedge.mixtures._entries import MOST, floats, listed, whole
from normalhedge.mixtures.books import Books
from normalhedge.mixtures.interval_memory import IntervalMemory
from normalhedge.mixtures.losses import Loss

ENTRIES = frozenset({"levels", "season", "games", "predicted", "tokens"})
"""The entries of the intervals of a mixture in a file."""


def new_intervals(found: Mapping[str, Any], loss: Loss) -> IntervalMemory | None:
    """Return the intervals of a file without items; None if it has none.

    Parameters
    ----------
    found
        The content of the file.
    loss
        The loss of the mixture.
    """
    entry = found.get("intervals")
    if entry is None:
        return None
    if not isinstance(entry, dict) or entry.keys() != ENTRIES:
        raise ValueError(f"intervals must have {', '.join(sorted(ENTRIES))}")
    levels = listed("levels", entry["levels"])
    season = None if entry["season"] is None else whole("season", entry["season"])
    memory = IntervalMemory.of(loss, floats("levels", levels, (len(levels),), 0.0, 1.0), season)
    if memory is None or list(memory.conformal.levels) != levels:
        raise ValueError("levels of intervals must rise")
    return memory


def read_intervals(books: Books, entry: Mapping[str, Any]) -> None:
    """Read what was learned for the intervals, and the tokens of the pending rounds.

    Parameters
    ----------
    books
        The books, with their items and pending rounds.
    entry
        The intervals in the file.
    """
    memory, count = books.intervals, len(books.items)
    assert memory is not None
    size, length = memory.conformal.sizes
    games = floats("games", entry["games"], (count, size), -math.inf, math.inf)
    counts = memory.conformal.counts(games)
    hits = counts[:, :, 0] - counts[:, :, 1] - counts[:, :, 2]
    if min(counts.min(initial=0.0), hits.min(initial=0.0), games[:, :3].min(initial=0.0)) < 0.0:
        raise ValueError("games of intervals must have counts that add up")
    predicted = floats("predicted", entry["predicted"], (count,), 0, MOST, integral=True)
    tokens: dict[int, Floats] = {}
    for pair in listed("tokens", entry["tokens"]):
        ticket, given = listed("tokens", pair, 2)
        if type(ticket) is not int or ticket in tokens or ticket not in books.pending:
            raise ValueError("each token must belong to a different pending round")
        items = books.pending[ticket].items
        shape = (len(items), length + 1)
        read = floats("tokens", given, shape, -math.inf, math.inf, missing=True)
        if not (read[:, -1] < predicted[items]).all() or not (read[:, -1] >= 0).all():
            raise ValueError(f"tokens of ticket {ticket} must be of earlier rounds")
        tokens[ticket] = _with_infinities(memory.conformal, read, ticket)
    if tokens.keys() != books.pending.keys():
        raise ValueError("there must be tokens for each pending round")
    for ticket, read in tokens.items():
        books.pending[ticket] = books.pending[ticket]._replace(tokens=read)
    books.intervals = replace(memory, games=games, predicted=predicted.astype(np.int64))


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
