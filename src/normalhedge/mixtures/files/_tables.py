"""The facts of tables in a file: times, deferred outcomes and the last table."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from normalhedge.mixtures.files._entries import MOST, check_floats, check_list, check_whole
from normalhedge.mixtures.state import (
    DeferredOutcome,
    LastTable,
    MixtureState,
    RoundRecord,
    TableFacts,
)

TIMES = {
    "": (int, float, str),
    "dates": (int, float, str),
    "numbers": (int, float),
    "words": (str,),
}
"""The types in a file of each kind of times."""


def write_facts(facts: TableFacts, write: Callable[[MixtureState], Any]) -> dict[str, Any]:
    """Return the entries of the facts; ``write`` writes the mixture before the last table."""
    last = facts.last_table
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
    }


def write_deferred(due: DeferredOutcome | None) -> dict[str, Any] | None:
    """Return the outcomes of a pending round of a table; None if it is of no table."""
    if due is None:
        return None
    outcomes = [y if math.isfinite(y) else None for y in due.outcomes.tolist()]
    return {**due._asdict(), "outcomes": outcomes}


def read_facts(
    state: MixtureState,
    content: Mapping[str, Any],
    records: Sequence[tuple[RoundRecord, Any]],
    read_before: Callable[[Any], MixtureState],
) -> TableFacts:
    """Return the facts; ``records`` are the pending rounds, each with its entry of outcomes."""
    facts = TableFacts({}, _read_times(state, content), content["time_kind"])
    deferred = {
        record.ticket: _read_deferred(state, facts, record, entry)
        for record, entry in records
        if entry is not None
    }
    last = content.get("last_table")
    last = None if last is None else _read_last_table(state, facts, last, read_before)
    return facts._replace(deferred=deferred, last_table=last)


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
