"""Mixtures in files: versioned JSON with a checksum, to the bit, written all or nothing.

Version 3 is one line of JSON whose first entry is the checksum of all that follows, so that a file
in which any byte was changed is refused whole. Its ``sequence`` and ``journal`` say which of the
operations in a journal beside it (see `normalhedge._journal`) it holds already.
"""

import math
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from normalhedge import _files, _sealed
from normalhedge._journal import journal_of, replay
from normalhedge._terminal import clipped, shown
from normalhedge.mixtures.losses import Loss, LossFunction
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.operations import redo
from normalhedge.mixtures.restored import OPTIONS, check_entries, restored
from normalhedge.mixtures.tickets import Waiting

FORMAT = "normalhedge mixture"
VERSION = 3
"""Version 1 had regrets in place of ledgers: its hedgers were those on discounted regrets. Version
2 had no checksum."""

SEALED = 3
"""The first version with a checksum."""

ATTEMPTS = 5
"""How often a state is read anew that a stream folds at the same time."""


class Snapshot(NamedTuple):
    """A mixture as a file holds it.

    Attributes
    ----------
    mixture
        The mixture.
    sequence
        How many operations of its journal it holds.
    journal
        What its journal is called; empty if it has none.
    """

    mixture: Mixture
    sequence: int = 0
    journal: str = ""


def save(mixture: Mixture, path: Path) -> None:
    """Write a mixture; what was there before stays if anything goes wrong.

    Raises
    ------
    ValueError
        If there is a journal beside the file: it belongs to a stream that runs, or was killed.
    """
    if journal_of(path).exists():
        raise ValueError(
            f"{journal_of(path)} holds rounds of a stream that runs or was killed: "
            f"'normalhedge blend - --state {path} </dev/null' puts them into {path}"
        )
    write_snapshot(Snapshot(mixture), path)


def write_snapshot(snapshot: Snapshot, path: Path) -> int:
    """Write a mixture with its place in its journal; return how many bytes it took."""
    text = _sealed.sealed(_written(snapshot))
    _files.write_whole(path, lambda part: part.write_text(text, "ascii"))
    return len(text)


def load(path: Path, loss: Loss | LossFunction | None) -> Mixture:
    """Return the mixture that was written; refuse what cannot be one, in a sentence.

    What a stream did since, as its journal tells, is done again.
    """
    for attempt in range(ATTEMPTS):
        snapshot = read_snapshot(path, loss)
        try:
            redone = partial(redo, snapshot.mixture)
            replay(journal_of(path), redone, snapshot.sequence, snapshot.journal)
            break
        except ValueError:
            # A stream may have folded its journal between the two reads.
            if attempt == ATTEMPTS - 1 or _sequence(path) == snapshot.sequence:
                raise
    return snapshot.mixture


def _sequence(path: Path) -> int:
    return int(_parsed(path).get("sequence", 0))


def read_snapshot(path: Path, loss: Loss | LossFunction | None = None) -> Snapshot:
    """Return what a file holds, without its journal; refuse what cannot be a mixture."""
    found = _parsed(path)
    try:
        check_entries(found)
        mixture = restored(found, loss)
        place = found.get("sequence", 0), found.get("journal", "")
        if type(place[0]) is not int or place[0] < 0 or not isinstance(place[1], str):
            raise ValueError("sequence and journal must be a number and a word")
        return Snapshot(mixture, *place)
    except KeyError as error:
        raise ValueError(f"{path} cannot be read: {error} is missing") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{path} cannot be read: {clipped(shown(str(error)))}") from None
    except (RecursionError, MemoryError):
        raise ValueError(f"{path} cannot be read: it is nested too deeply or too large") from None


def _parsed(path: Path) -> dict[str, Any]:
    """Return the content of a file of any version, its checksum verified."""
    return _sealed.read(path, FORMAT, range(1, VERSION + 1), SEALED, "a mixture")


def _written(snapshot: Snapshot) -> dict[str, Any]:
    mixture, games = snapshot.mixture, snapshot.mixture.games
    return {
        "format": FORMAT,
        "version": VERSION,
        "sequence": snapshot.sequence,
        "journal": snapshot.journal,
        "recipe": mixture.recipe.to_plain(),
        **{name: read(mixture) for name, read in OPTIONS.items()},
        "names": mixture.names,
        "items": mixture.items,
        "rounds": mixture.rounds,
        "expired": mixture.expired,
        "next_ticket": mixture.next_ticket,
        "weights": games.weights.tolist(),
        "ledgers": games.ledgers.tolist(),
        "commons": games.totals.tolist(),
        "joined_late": mixture.joined_late,
        "marks": games.marks.tolist(),
        "ranges": games.ranges.tolist(),
        "pool_ranges": games.pool_ranges.tolist(),
        "sums": games.expert_sums.tolist(),
        "totals": games.total_sums.tolist(),
        "last_times": list(mixture.last_times.items()),
        "time_kind": mixture.time_kind,
        # Those of rounds that expired are of no use any more.
        "ids": {name: t for name, t in mixture.ids.items() if t in mixture.pending},
        "pending": [
            {
                "ticket": ticket,
                "forecasts": _nulls(waiting.forecasts),
                "confidence": [] if waiting.confidence is None else waiting.confidence.tolist(),
                "values": _nulls(waiting.values),
                "items": waiting.items.tolist(),
                "number": waiting.number,
                "keys": len(waiting.keys) if isinstance(waiting.keys, range) else waiting.keys,
                "blend": None if ticket not in mixture.waiting else _due(mixture.waiting[ticket]),
            }
            for ticket, waiting in mixture.pending.items()
        ],
    }


def _due(waiting: Waiting) -> dict[str, Any]:
    return {**waiting._asdict(), "outcomes": _nulls(waiting.outcomes)}


def _nulls(array: np.ndarray) -> Any:
    """Return nested lists with None for NaN, which JSON does not have; infinity counts as NaN."""
    if array.ndim > 1:
        return [_nulls(part) for part in array]
    return [value if math.isfinite(value) else None for value in array.tolist()]
