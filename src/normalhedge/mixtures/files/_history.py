"""The history of a mixture in a file: settled rounds, and the checkpoints to play again from."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from normalhedge._core import Live
from normalhedge.mixtures.files._entries import check_floats, check_list, check_whole
from normalhedge.mixtures.files._rounds import check_id, read_blocks, write_blocks
from normalhedge.mixtures.state import MixtureState, RoundRecord, item_indices

HISTORY = frozenset({"rounds", "departures", "checkpoints"})
"""The entries of the history: blocks of settled rounds, the places where experts left, and the
checkpoints."""

AXES = ("experts", "items", "cells", "classes")
"""The numbers of experts, items, cells and classes of a checkpoint: the first of the mixture."""


def write_history(
    state: MixtureState, write_numbers: Callable[[MixtureState], dict[str, Any]], *, whole: bool
) -> dict[str, Any]:
    """Return the history, or an empty one if it is not to be written whole."""
    if not whole:
        return {"rounds": [], "departures": [], "checkpoints": []}
    live = state.live
    history = live.history
    entries = [entry for entry in history if entry is not None]
    records = [RoundRecord(*record) for record, _, _ in entries]
    further: dict[str, list[Any]] = {
        "ids": [record.id for record in records],
        "settled": [rounds for _, _, rounds in entries],
        "outcomes": [
            [None if np.isnan(y) else y for y in outcomes.tolist()] for _, outcomes, _ in entries
        ],
    }
    known = {record.ticket for record in records} | set(live.tickets())
    return {
        "rounds": write_blocks(records, further),
        "departures": [k for k, entry in enumerate(history) if entry is None],
        "checkpoints": [
            {
                "since": since,
                **{name: len(words) for name, words in zip(AXES, _words(then), strict=True)},
                # A round that expired since is of no use: no round before it is played again.
                "pending": [ticket for ticket in then.tickets() if ticket in known],
                **write_numbers(MixtureState(state.settings, then)),
            }
            for then, since in live.checkpoints
        ],
    }


def _words(live: Live) -> tuple[list[str], ...]:
    return live.names, live.items, live.cells, live.classes


def read_history(
    state: MixtureState,
    entry: Any,
    pending: list[RoundRecord],
    read_numbers: Callable[[MixtureState, Mapping[str, Any]], None],
) -> tuple[list[Any], list[tuple[Live, int]]]:
    """Return the settled rounds and the checkpoints, as `Live.restore` takes them."""
    if not isinstance(entry, dict) or entry.keys() != HISTORY:
        raise ValueError(f"history must have {', '.join(sorted(HISTORY))}")
    entries: list[Any] = [
        _read_settled(state, record, further)
        for record, further in read_blocks(state, entry["rounds"], ["ids", "settled", "outcomes"])
    ]
    records = {record.ticket: record for record in (*(e[0] for e in entries), *pending)}
    for place in check_list("departures", entry["departures"]):
        entries.insert(check_whole("departures", place, len(entries) + 1), None)
    checkpoints = [
        _read_checkpoint(state, then, records, read_numbers)
        for then in check_list("checkpoints", entry["checkpoints"])
    ]
    return entries, checkpoints


def _read_settled(
    state: MixtureState, record: RoundRecord, further: Mapping[str, Any]
) -> tuple[RoundRecord, np.ndarray, int]:
    """Return a settled round."""
    rows, classes, _ = record.forecasts.shape
    outcomes = check_floats("outcomes", further["outcomes"], (rows,), -1e100, 1e100, missing=True)
    known = outcomes[~np.isnan(outcomes)]
    if state.settings.loss.of_classes and classes > 1 and not np.isin(known, range(classes)).all():
        raise ValueError(f"outcomes of ticket {record.ticket} must be classes in 0..{classes - 1}")
    name = further["ids"]
    record = record._replace(id=None if name is None else check_id(name))
    return record, outcomes, check_whole("settled", further["settled"], state.rounds + 1)


def _read_checkpoint(
    state: MixtureState,
    entry: Mapping[str, Any],
    records: Mapping[int, RoundRecord],
    read_numbers: Callable[[MixtureState, Mapping[str, Any]], None],
) -> tuple[Live, int]:
    """Return a checkpoint, and the number of entries of the history since."""
    live, other = state.live, MixtureState.new(state.settings)
    experts, items, cells, classes = (
        check_whole(name, entry[name], len(words) + 1)
        for name, words in zip(AXES, _words(live), strict=True)
    )
    other.join(live.names[:experts])
    item_indices(other.live, live.items[:items])
    other.live.join(other.live.version, [], [], live.cells[:cells], live.classes[:classes])
    if len(other.names) != experts:
        raise ValueError("a checkpoint must have the plain combinations")
    read_numbers(other, entry)
    gone = live.retired
    retired = [name for name in live.names[:experts] if name in gone]
    other.live.restore(None, retired, [], [])
    tickets = check_list("pending", entry["pending"])
    then = other.live
    pending = [records[check_whole("ticket", ticket)] for ticket in tickets]
    then.replace_pending(then.version, [], pending, then.next_ticket, then.expired)
    return then, check_whole("since", entry["since"])
