"""The compound entries of a file: pending rounds, intervals and the facts of tables."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.files._entries import (
    MOST,
    check_floats,
    check_list,
    check_whole,
    check_words,
)
from normalhedge.mixtures.intervals import Conformal
from normalhedge.mixtures.rules import CONTEXTS
from normalhedge.mixtures.state import (
    DeferredOutcome,
    LastTable,
    MixtureState,
    RoundRecord,
    TableFacts,
)

ROUND = frozenset(
    {"ticket", "forecasts", "confidence", "values", "items", "number", "keys", "blend"}
)
"""The entries of a pending round; ``blend`` holds the outcomes of a table, or null. A round with
contexts has ``cells``, too."""

INTERVALS = frozenset({"levels", "season", "games", "predicted", "tokens"})
"""The entries of the intervals."""

TIMES = {
    "": (int, float, str),
    "dates": (int, float, str),
    "numbers": (int, float),
    "words": (str,),
}
"""The types in a file of each kind of times."""


def write_rounds(state: MixtureState, write: Callable[[MixtureState], Any]) -> dict[str, Any]:
    """Return the compound entries; ``write`` writes the mixture before the last table."""
    live, facts = state.live, TableFacts.of(state.live)
    rounds = [RoundRecord(*record) for t in live.tickets() if (record := live.pending_round(t))]
    last, intervals = facts.last_table, state.intervals
    return {
        "time_kind": facts.time_kind,
        "last_times": list(facts.last_times.items()),
        "last_table": last
        and {
            "before": last.before and write(last.before),
            "until": list(last.until.items()),
            "digest": last.digest,
            "mark": list(last.mark),
        },
        "intervals": intervals
        and {
            "levels": list(intervals.conformal.levels),
            "season": intervals.conformal.season,
            "games": live.intervals.tolist(),
            "predicted": live.interval_rounds.tolist(),
            "tokens": [[r.ticket, _nulls(r.tokens)] for r in rounds if r.tokens is not None],
        },
        "ids": live.ids,
        "pending": [
            {
                "ticket": record.ticket,
                "forecasts": _nulls(record.forecasts),
                "confidence": [] if record.confidence is None else record.confidence.tolist(),
                "values": _nulls(record.values),
                "items": record.items.tolist(),
                "number": record.number,
                "keys": len(record.keys) if isinstance(record.keys, range) else record.keys,
                "blend": _write_deferred(facts.deferred.get(record.ticket)),
                **({} if record.cells is None else {"cells": record.cells.tolist()}),
            }
            for record in rounds
        ],
    }


def _write_deferred(due: DeferredOutcome | None) -> dict[str, Any] | None:
    return None if due is None else {**due._asdict(), "outcomes": _nulls(due.outcomes)}


def read_rounds(
    state: MixtureState,
    content: Mapping[str, Any],
    read_before: Callable[[Any], MixtureState],
) -> None:
    """Read the compound entries; ``read_before`` reads the mixture before the last table."""
    live = state.live
    facts = TableFacts({}, _read_times(state, content), content["time_kind"])
    pending = [_read_round(state, entry) for entry in check_list("pending", content["pending"])]
    for earlier, later in pairwise(pending):
        if later.ticket <= earlier.ticket:
            raise ValueError(f"ticket {later.ticket} is out of order")
    deferred = {
        record.ticket: _read_deferred(state, facts, record, entry["blend"])
        for record, entry in zip(pending, content["pending"], strict=True)
        if entry["blend"] is not None
    }
    if state.intervals is not None:
        pending = _read_intervals(state, pending, content["intervals"])
    ids = _read_ids(state, pending, content)
    pending = [record._replace(id=ids.get(record.ticket)) for record in pending]
    live.replace_pending(live.version, [], pending, live.next_ticket, live.expired)
    last = content.get("last_table")
    last = None if last is None else _read_last_table(state, facts, last, read_before)
    live.attached = facts._replace(deferred=deferred, last_table=last)


def _read_round(state: MixtureState, entry: Mapping[str, Any]) -> RoundRecord:
    """Return a pending round."""
    if entry.keys() - {"cells"} != ROUND:
        raise ValueError(f"a pending round must have {', '.join(sorted(ROUND))}")
    ticket = check_whole("ticket", entry["ticket"], state.next_ticket)
    items = [check_whole("item", i, len(state.items)) for i in check_list("items", entry["items"])]
    table, keys = entry["forecasts"], entry["keys"]
    try:  # the shape of the first of each list; `floats` compares the others
        rows, classes, n = len(table), len(table[0]), len(table[0][0])
    except (TypeError, LookupError):
        raise ValueError(f"ticket {ticket} has no forecasts") from None
    forecasts = check_floats(
        "forecasts", table, (rows, classes, n), -math.inf, math.inf, missing=True
    )
    width = classes * state.live.value_count
    values = check_floats("values", entry["values"], (rows, width), -1e100, 1e100, missing=True)
    if len(items) != rows or n > len(state.names):
        raise ValueError(f"ticket {ticket} does not fit its forecasts")
    confidence = None
    if entry["confidence"] != []:
        confidence = check_floats("confidence", entry["confidence"], (n,), 0.0, 1.0)
    if isinstance(keys, list):
        keys = tuple(check_words("keys", keys))
    elif keys is not None:
        keys = range(check_whole("keys", keys, 1 << 31))
    if (1 if keys is None else len(keys)) != rows:
        raise ValueError(f"ticket {ticket} does not fit its keys")
    awake = np.any(np.all(np.abs(forecasts) < 1e100, axis=1), axis=1)
    loss = state.settings.loss
    fits = classes == len(loss.levels) if loss.of_levels else (classes > 1) == loss.of_classes
    if not fits and (classes > 1 or awake.any()):
        raise ValueError(f"ticket {ticket} does not fit the loss, with {classes} classes")
    if (np.isnan(values[:, :classes]).any(axis=1) & awake).any() and confidence is None:
        raise ValueError(f"ticket {ticket} has no prediction")
    number = check_whole("number", entry["number"], state.rounds)
    which = np.array(items, dtype=np.int32)
    return RoundRecord(
        ticket, number, forecasts, confidence, values, which, keys, None, None,
        _read_cells(state, rows, entry),
    )  # fmt: skip


def _read_cells(state: MixtureState, rows: int, entry: Mapping[str, Any]) -> np.ndarray | None:
    """Return the cells of the contexts of a pending round."""
    if "cells" not in entry:
        return None
    last = len(state.live.cells) - 1
    cells = check_floats("cells", entry["cells"], (rows, CONTEXTS), -1, last, integral=True)
    return cells.astype(np.int32)


def _read_deferred(
    state: MixtureState, facts: TableFacts, record: RoundRecord, entry: Mapping[str, Any]
) -> DeferredOutcome:
    """Return the outcomes of a pending round of a table, and when they may be used."""
    rows, classes, _ = record.forecasts.shape
    due = DeferredOutcome(**entry)
    outcomes = check_floats("outcomes", due.outcomes, (rows,), -1e100, 1e100, missing=True)
    known = outcomes[~np.isnan(outcomes)]
    of_classes = state.settings.loss.of_classes
    if of_classes and classes > 1 and not np.isin(known, range(classes)).all():
        raise ValueError(f"outcomes of ticket {record.ticket} must be classes in 0..{classes - 1}")
    check_whole("game", due.game, len(state.weights))
    check_whole("due", due.due)
    times = [_read_time(facts, time) for time in check_list("known", due.known)]
    if times and len(times) != rows:
        raise ValueError(f"ticket {record.ticket} does not fit the times of its outcomes")
    time = None if due.time is None else _read_time(facts, due.time)
    return DeferredOutcome(
        due.game, due.due, times, time, outcomes, check_whole("since", due.since)
    )


def _read_ids(
    state: MixtureState, pending: Sequence[RoundRecord], content: Mapping[str, Any]
) -> dict[int, str]:
    """Return the ids that a stream gave pending rounds, by ticket: JSON texts, all different."""
    ids, tickets = dict(content["ids"]), {record.ticket for record in pending}
    for name, ticket in ids.items():
        check_whole("id", ticket, state.next_ticket)
        if content["version"] > 2 and ticket not in tickets:
            raise ValueError(f"id {name} belongs to no pending round")
        if json.dumps(json.loads(name)) != name:
            raise ValueError(f"id {name} is not written as JSON")
    if len(set(ids.values())) < len(ids):
        raise ValueError("two ids belong to the same round")
    return {ticket: name for name, ticket in ids.items()}


def _read_times(state: MixtureState, content: Mapping[str, Any]) -> dict[int, Any]:
    """Return the last time of each game."""
    kind, times = content["time_kind"], dict[int, Any]()
    if not isinstance(kind, str) or kind not in TIMES:
        raise ValueError(f"time_kind must be one of {', '.join(TIMES)}, it is {kind!r}")
    for pair in check_list("last_times", content["last_times"]):
        game, time = check_list("last_times", pair, 2)
        if check_whole("game", game, len(state.weights)) in times:
            raise ValueError(f"game {game} has two last times")
        times[game] = _read_time(TableFacts({}, times, kind), time)
    return times


def _read_time(facts: TableFacts, value: Any) -> Any:
    """Return a time; refuse one that cannot be compared with the others."""
    before = next(iter(facts.last_times.values()), value)
    if (
        type(value) not in TIMES[facts.time_kind]
        or (isinstance(value, float) and not math.isfinite(value))
        or isinstance(value, str) != isinstance(before, str)
    ):
        raise ValueError(f"a time must be of the same kind as the others, it is {value!r}")
    return value


def _read_last_table(
    state: MixtureState,
    facts: TableFacts,
    entry: Mapping[str, Any],
    read_before: Callable[[Any], MixtureState],
) -> LastTable:
    """Return the last table, with the mixture before it."""
    before = None
    if entry["before"] is not None:
        before = read_before(entry["before"])
        settings, present = before.settings, state.settings
        if (settings.interval, settings.season) != (present.interval, present.season):
            raise ValueError("the mixture before the last table has other intervals")
    until: dict[str, Any] = {}
    for pair in check_list("until", entry["until"]):
        item, time = check_list("until", pair, 2)
        if item not in state.items or item in until:
            raise ValueError("until must have an item once")
        until[item] = (
            _read_time(facts, time) if facts.time_kind else check_whole("until", time, MOST)
        )
    if not until or not isinstance(entry["digest"], str):
        raise ValueError("the last table must have items and a digest")
    rounds, ticket, pending = (check_whole("mark", k) for k in check_list("mark", entry["mark"], 3))
    return LastTable(before, until, entry["digest"], (rounds, ticket, pending))


def interval_options(entry: Any) -> dict[str, Any]:
    """Return the options of a mixture with the intervals of a file; none if it has none."""
    if entry is None:
        return {}
    if not isinstance(entry, dict) or entry.keys() != INTERVALS:
        raise ValueError(f"intervals must have {', '.join(sorted(INTERVALS))}")
    levels = check_list("levels", entry["levels"])
    season = None if entry["season"] is None else check_whole("season", entry["season"])
    check_floats("levels", levels, (len(levels),), 0.0, 1.0)
    if levels != sorted(levels):
        raise ValueError("levels of intervals must rise")
    return {"interval": levels, "season": season}


def _read_intervals(
    state: MixtureState, pending: Sequence[RoundRecord], entry: Mapping[str, Any]
) -> list[RoundRecord]:
    """Read the memory of the intervals; return the pending rounds with their tokens."""
    intervals, live, count = state.intervals, state.live, len(state.items)
    assert intervals is not None
    size, length = intervals.conformal.sizes
    games = check_floats("games", entry["games"], (count, size), -math.inf, math.inf)
    counts = intervals.conformal.counts(games)
    hits = counts[:, :, 0] - counts[:, :, 1] - counts[:, :, 2]
    if min(counts.min(initial=0.0), hits.min(initial=0.0), games[:, :3].min(initial=0.0)) < 0.0:
        raise ValueError("games of intervals must have counts that add up")
    predicted = check_floats("predicted", entry["predicted"], (count,), 0, MOST, integral=True)
    records, tokens = {record.ticket: record for record in pending}, dict[int, Floats]()
    for pair in check_list("tokens", entry["tokens"]):
        ticket, values = check_list("tokens", pair, 2)
        if type(ticket) is not int or ticket in tokens or ticket not in records:
            raise ValueError("each token must belong to a different pending round")
        items = records[ticket].items
        shape = (len(items), length + 1)
        rows = check_floats("tokens", values, shape, -math.inf, math.inf, missing=True)
        if not (rows[:, -1] < predicted[items]).all() or not (rows[:, -1] >= 0).all():
            raise ValueError(f"tokens of ticket {ticket} must be of earlier rounds")
        tokens[ticket] = _with_infinities(intervals.conformal, rows, ticket)
    if tokens.keys() != records.keys():
        raise ValueError("there must be tokens for each pending round")
    live.assign(live.version, {"intervals": games, "interval_rounds": predicted.astype(np.int64)})
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


def _nulls(array: np.ndarray) -> Any:
    """Return nested lists with None for NaN and infinity, which JSON does not have."""
    if array.ndim > 1:
        return [_nulls(part) for part in array]
    return [value if math.isfinite(value) else None for value in array.tolist()]
