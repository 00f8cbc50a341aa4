"""Rounds in a file: the pending ones, and blocks of rounds of one form.

A block has the tickets, the numbers and the arrays of rounds that follow one another and have the
same shape and keys. Before version 6 each pending round had an entry of its own.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from normalhedge.live.arrays import write_array
from normalhedge.mixtures.files._entries import check_floats, check_list, check_whole, check_words
from normalhedge.mixtures.files._intervals import read_token_pairs, read_tokens
from normalhedge.mixtures.rules import CONTEXTS
from normalhedge.mixtures.state import MixtureState, RoundRecord

ROUND = frozenset(
    {"ticket", "forecasts", "confidence", "values", "items", "number", "keys", "blend"}
)
"""The entries of a pending round before version 6; ``blend`` holds the outcomes of a table, or
null. A round with contexts has ``cells``, too."""

ARRAYS = ("forecasts", "values", "items", "confidence", "tokens", "cells")
"""The arrays of a round. The last three are null where a round has none."""

BLOCK = frozenset({"shape", "tickets", "numbers", "keys", *ARRAYS})
"""The entries of a block; pending and settled rounds have further ones."""


def write_blocks(
    records: Sequence[RoundRecord], further: Mapping[str, Sequence[Any]]
) -> list[dict[str, Any]]:
    """Return rounds as blocks; ``further`` has an entry for each round, by its name."""
    blocks, start = list[dict[str, Any]](), 0
    for (shape, keys, _), group in groupby(records, _form):
        rounds = list(group)
        stop = start + len(rounds)
        block: dict[str, Any] = {
            "shape": list(shape),
            "tickets": [record.ticket for record in rounds],
            "numbers": [record.number for record in rounds],
            "keys": len(keys) if isinstance(keys, range) else keys,
        }
        for name in ARRAYS:
            arrays = [getattr(record, name) for record in rounds]
            block[name] = None if arrays[0] is None else write_array(np.stack(arrays))
        blocks.append(block | {name: list(part[start:stop]) for name, part in further.items()})
        start = stop
    return blocks


def _form(record: RoundRecord) -> tuple[Any, ...]:
    """Return the features of a round that all rounds of a block share."""
    absent = tuple(getattr(record, name) is None for name in ARRAYS[3:])
    return record.forecasts.shape, record.keys, absent


def read_blocks(
    state: MixtureState, blocks: Any, further: Sequence[str]
) -> Iterator[tuple[RoundRecord, dict[str, Any]]]:
    """Yield the rounds of blocks, each with its further entries."""
    for block in check_list("rounds", blocks):
        if block.keys() != BLOCK | set(further):
            raise ValueError(f"a block of rounds must have {', '.join(sorted(BLOCK))}")
        rows, classes, n = (
            check_whole("shape", k, 1 << 31) for k in check_list("shape", block["shape"], 3)
        )
        tickets = check_list("tickets", block["tickets"])
        count, parts = len(tickets), dict[str, Any]()
        numbers = check_list("numbers", block["numbers"], count)
        tokens = 1 + state.intervals.conformal.sizes[1] if state.intervals else 0
        widths = (
            (rows, classes, n), (rows, classes * state.live.value_count), (rows,), (n,),
            (rows, tokens), (rows, CONTEXTS),
        )  # fmt: skip
        for name, width in zip(ARRAYS, widths, strict=True):
            whole = name in {"items", "cells"}
            parts[name] = None if block[name] is None else check_floats(
                name, block[name], (count, *width), -math.inf, math.inf,
                missing=not whole, integral=whole,
            )  # fmt: skip
        extras = {name: check_list(name, block[name], count) for name in further}
        for k in range(count):
            entry = {name: None if part is None else part[k] for name, part in parts.items()}
            entry |= {"ticket": tickets[k], "number": numbers[k], "keys": block["keys"]}
            yield _read_round(state, entry), {name: part[k] for name, part in extras.items()}


def bytes_of_blocks(state: MixtureState, blocks: Sequence[Mapping[str, Any]]) -> float:
    """Return the bytes that the rounds of blocks take once they are read."""
    size = 0.0
    for block in blocks:
        rows, classes, n = (
            check_whole("shape", k, 1 << 31) for k in check_list("shape", block["shape"], 3)
        )
        round_size = rows * (classes * (n + state.live.value_count) + 8.0) + n
        size += 8.0 * round_size * len(check_list("tickets", block["tickets"]))
    return size


def write_pending(state: MixtureState, deferred: Mapping[int, Any]) -> dict[str, Any]:
    """Return the pending rounds; ``deferred`` has the outcomes of tables, by ticket."""
    live = state.live
    records = [RoundRecord(*record) for t in live.tickets() if (record := live.pending_round(t))]
    outcomes = [deferred.get(record.ticket) for record in records]
    return {"ids": live.ids, "pending": write_blocks(records, {"blend": outcomes})}


def read_pending(state: MixtureState, content: Mapping[str, Any]) -> list[tuple[RoundRecord, Any]]:
    """Return the pending rounds of a file of any version, each with its outcomes of a table."""
    if content["version"] < 6:
        pairs = _read_entries(state, content)
    else:
        blocks = read_blocks(state, content["pending"], ["blend"])
        pairs = [(record, further["blend"]) for record, further in blocks]
    for (earlier, _), (later, _) in pairwise(pairs):
        if later.ticket <= earlier.ticket:
            raise ValueError(f"ticket {later.ticket} is out of order")
    ids = _read_ids(state, {record.ticket for record, _ in pairs}, content)
    return [(record._replace(id=ids.get(record.ticket)), entry) for record, entry in pairs]


def _read_entries(state: MixtureState, content: Mapping[str, Any]) -> list[tuple[RoundRecord, Any]]:
    """Return the pending rounds of a file before version 6."""
    tokens = {} if state.intervals is None else read_token_pairs(content["intervals"])
    pairs = list[tuple[RoundRecord, Any]]()
    for entry in check_list("pending", content["pending"]):
        if entry.keys() - {"cells"} != ROUND:
            raise ValueError(f"a pending round must have {', '.join(sorted(ROUND))}")
        confidence = entry["confidence"]
        if confidence is None:
            raise ValueError("confidence must have shape (experts,), or be []")
        further = {
            "confidence": None if confidence == [] else confidence,
            "tokens": tokens.pop(entry["ticket"], None),
            "cells": entry.get("cells"),
        }
        pairs.append((_read_round(state, entry | further), entry["blend"]))
    if tokens:
        raise ValueError("each token must belong to a different pending round")
    return pairs


def _read_round(state: MixtureState, entry: Mapping[str, Any]) -> RoundRecord:
    """Return a round from its entries."""
    ticket = check_whole("ticket", entry["ticket"], state.next_ticket)
    table, keys = entry["forecasts"], entry["keys"]
    try:  # the shape of the first of each list; `check_floats` compares the others
        rows, classes, n = len(table), len(table[0]), len(table[0][0])
    except (TypeError, LookupError):
        raise ValueError(f"ticket {ticket} has no forecasts") from None
    forecasts = check_floats(
        "forecasts", table, (rows, classes, n), -math.inf, math.inf, missing=True
    )
    width = classes * state.live.value_count
    values = check_floats("values", entry["values"], (rows, width), -1e100, 1e100, missing=True)
    last = len(state.items) - 1
    if len(entry["items"]) != rows or n > len(state.names):
        raise ValueError(f"ticket {ticket} does not fit its forecasts")
    items = check_floats("items", entry["items"], (rows,), 0, last, integral=True)
    confidence = entry["confidence"]
    if confidence is not None:
        confidence = check_floats("confidence", confidence, (n,), 0.0, 1.0)
    keys = _read_keys(keys)
    if (1 if keys is None else len(keys)) != rows:
        raise ValueError(f"ticket {ticket} does not fit its keys")
    awake = np.any(np.all(np.abs(forecasts) < 1e100, axis=1), axis=1)
    loss = state.settings.loss
    fits = classes == len(loss.levels) if loss.of_levels else (classes > 1) == loss.of_classes
    if not fits and (classes > 1 or awake.any()):
        raise ValueError(f"ticket {ticket} does not fit the loss, with {classes} classes")
    if (np.isnan(values[:, :classes]).any(axis=1) & awake).any() and confidence is None:
        raise ValueError(f"ticket {ticket} has no prediction")
    record = RoundRecord(
        ticket, check_whole("number", entry["number"], state.rounds), forecasts, confidence, values,
        items.astype(np.int32), keys, None, None, _read_cells(state, rows, entry["cells"]),
    )  # fmt: skip
    return record._replace(tokens=read_tokens(state, record, entry["tokens"]))


def _read_keys(keys: Any) -> Any:
    """Return the keys of the rows of a round."""
    if isinstance(keys, list):
        return tuple(check_words("keys", keys))
    return None if keys is None else range(check_whole("keys", keys, 1 << 31))


def _read_cells(state: MixtureState, rows: int, values: Any) -> np.ndarray | None:
    """Return the cells of the contexts of a round."""
    if values is None:
        return None
    last = len(state.live.cells) - 1
    cells = check_floats("cells", values, (rows, CONTEXTS), -1, last, integral=True)
    return cells.astype(np.int32)


def _read_ids(state: MixtureState, tickets: set[int], content: Mapping[str, Any]) -> dict[int, str]:
    """Return the ids that a stream gave pending rounds, by ticket: JSON texts, all different."""
    ids = dict(content["ids"])
    for name, ticket in ids.items():
        check_whole("id", ticket, state.next_ticket)
        if content["version"] > 2 and ticket not in tickets:
            raise ValueError(f"id {name} belongs to no pending round")
        check_id(name)
    if len(set(ids.values())) < len(ids):
        raise ValueError("two ids belong to the same round")
    return {ticket: name for name, ticket in ids.items()}


def check_id(name: Any) -> str:
    """Return the id of a round, which must be JSON."""
    if json.dumps(json.loads(name)) != name:
        raise ValueError(f"id {name} is not written as JSON")
    return str(name)
