"""Save mixtures in files and load them: versioned JSON with a checksum, exact to the bit.

Version 3 is one line of JSON whose first entry is the checksum of the rest, so that a file with any
changed byte is refused. Its ``sequence`` and ``journal`` tell which operations of the journal
beside it (see `normalhedge.live.journal`) the file holds already.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from normalhedge._core import Live
from normalhedge.boundary import whole_files
from normalhedge.boundary.terminal import clipped, shown
from normalhedge.live import sealed_file
from normalhedge.live.journal import Operation, journal_of, refuse_beside, replay
from normalhedge.mixtures.files._restored import FIELDS, check_entries, restored
from normalhedge.mixtures.losses import Loss, LossFunction
from normalhedge.mixtures.state import (
    LIMITS,
    Books,
    DeferredOutcome,
    IntervalSettings,
    LastTable,
    RoundRecord,
    TableFacts,
)

T = TypeVar("T")

FORMAT = "normalhedge mixture"
VERSION = 4
"""Version 1 had regrets in place of ledgers, as all hedgers then used discounted regrets. Version 2
had no checksum, version 3 no regrets in units of the loss."""

SEALED = 3
"""The first version with a checksum."""

ATTEMPTS = 5
"""The number of attempts to read a state while a stream folds its journal into it."""


class Snapshot(NamedTuple):
    """The content of a file."""

    books: Books  # the memory of the mixture
    sequence: int = 0  # the number of operations of its journal that it holds
    journal: str = ""  # the name of its journal; empty if it has none


def save(books: Books, path: Path) -> None:
    """Write a mixture; if anything goes wrong, a previous file stays as it was."""
    refuse_beside(path, "blend")
    write_snapshot(Snapshot(books), path)


def write_snapshot(snapshot: Snapshot, path: Path) -> int:
    """Write a mixture with its place in its journal; return the number of bytes."""
    text = snapshot_text(snapshot)
    whole_files.write_whole(path, lambda part: part.write_text(text, "ascii"))
    return len(text)


def snapshot_text(snapshot: Snapshot) -> str:
    """Return the text of a file with this content, in ASCII."""
    return sealed_file.sealed(_written(snapshot))


def load(
    path: Path,
    loss: Loss | LossFunction | None,
    make: Callable[[Books], T],
    redo: Callable[[T, Operation], None],
) -> T:
    """Return the mixture of a file, after the operations of a journal beside it."""
    for attempt in range(ATTEMPTS):
        books, sequence, journal = read_snapshot(path, loss)
        mixture = make(books)
        try:
            replay(journal_of(path), partial(redo, mixture), sequence, journal)
            break
        except ValueError:
            # A stream may have folded its journal between the two reads.
            if attempt == ATTEMPTS - 1 or _sequence(path) == sequence:
                raise
    return mixture


def _sequence(path: Path) -> int:
    return int(_parsed(path).get("sequence", 0))


def read_snapshot(path: Path, loss: Loss | LossFunction | None = None) -> Snapshot:
    """Return the content of a file, without its journal; refuse a file that is not a mixture."""
    return _snapshot(_parsed(path), str(path), loss)


def read_snapshot_text(data: bytes, source: str) -> Snapshot:
    """Return the content of a text that `snapshot_text` wrote; refuse any other text."""
    found = sealed_file.opened(data, source, FORMAT, range(1, VERSION + 1), SEALED, "a mixture")
    return _snapshot(found, source, None)


def _snapshot(found: dict[str, Any], source: str, loss: Loss | LossFunction | None) -> Snapshot:
    """Return the content of a file from its entries."""
    try:
        check_entries(found)
        books = restored(found, loss)
        place = found.get("sequence", 0), found.get("journal", "")
        if type(place[0]) is not int or place[0] < 0 or not isinstance(place[1], str):
            raise ValueError("sequence and journal must be a number and a word")
        return Snapshot(books, *place)
    except KeyError as error:
        raise ValueError(f"{source} cannot be read: {error} is missing") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{source} cannot be read: {clipped(shown(str(error)))}") from None
    except (RecursionError, MemoryError):
        raise ValueError(f"{source} cannot be read: it is nested too deeply or too large") from None


def _parsed(path: Path) -> dict[str, Any]:
    """Return the content of a file of any version, its checksum verified."""
    return sealed_file.read(path, FORMAT, range(1, VERSION + 1), SEALED, "a mixture")


def _written(snapshot: Snapshot) -> dict[str, Any]:
    books, live = snapshot.books, snapshot.books.live
    facts = TableFacts.of(live)
    rounds = [RoundRecord(*record) for t in live.tickets() if (record := live.pending_round(t))]
    return {
        "format": FORMAT,
        "version": VERSION,
        "sequence": snapshot.sequence,
        "journal": snapshot.journal,
        "recipe": books.settings.to_plain(),
        **{name: getattr(books.settings, name) for name in LIMITS},
        "names": live.names,
        "items": live.items,
        "rounds": live.rounds,
        "expired": live.expired,
        "next_ticket": live.next_ticket,
        **{entry: getattr(live, field).tolist() for entry, field in FIELDS.items()},
        "joined_late": live.joined_late,
        "left": live.left,
        "seeded": live.seeded,
        "retired": sorted(live.retired),
        "last_times": list(facts.last_times.items()),
        "time_kind": facts.time_kind,
        "last_table": None if facts.last_table is None else _last_table(facts.last_table),
        "intervals": None if books.intervals is None else _intervals(books.intervals, live, rounds),
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
                "blend": None
                if record.ticket not in facts.deferred
                else _due(facts.deferred[record.ticket]),
            }
            for record in rounds
        ],
    }


def _last_table(last: LastTable) -> dict[str, Any]:
    """Return what a file holds of the last table, with the mixture before it."""
    return {
        "before": None if last.before is None else _written(Snapshot(last.before)),
        "until": list(last.until.items()),
        "digest": last.digest,
        "mark": list(last.mark),
    }


def _intervals(
    intervals: IntervalSettings, live: Live, rounds: Sequence[RoundRecord]
) -> dict[str, Any]:
    """Return what a file holds of the intervals. Infinite bounds in tokens become null."""
    return {
        "levels": list(intervals.conformal.levels),
        "season": intervals.conformal.season,
        "games": live.intervals.tolist(),
        "predicted": live.interval_rounds.tolist(),
        "tokens": [[r.ticket, _nulls(r.tokens)] for r in rounds if r.tokens is not None],
    }


def _due(deferred: DeferredOutcome) -> dict[str, Any]:
    return {**deferred._asdict(), "outcomes": _nulls(deferred.outcomes)}


def _nulls(array: np.ndarray) -> Any:
    """Return nested lists with None for NaN and infinity, which JSON does not have."""
    if array.ndim > 1:
        return [_nulls(part) for part in array]
    return [value if math.isfinite(value) else None for value in array.tolist()]
