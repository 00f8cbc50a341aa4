"""Save mixtures in files and load them: versioned JSON with a checksum, exact to the bit.

A file is one line of JSON whose first entry is the checksum of the rest, so that a file with any
changed byte is refused. Its ``sequence`` and ``journal`` tell which operations of the journal
beside it (see `normalhedge.live.journal`) the file holds already.
"""

from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from normalhedge.boundary import whole_files
from normalhedge.boundary.terminal import clipped, shown
from normalhedge.live import sealed_file
from normalhedge.live.journal import Operation, journal_of, refuse_beside, replay
from normalhedge.mixtures.files._schema import FORMAT, SEALED, VERSION, read_mixture, write_mixture
from normalhedge.mixtures.losses import Loss, LossFunction
from normalhedge.mixtures.state import MixtureState

T = TypeVar("T")

ATTEMPTS = 5
"""The number of attempts to read a state while a stream folds its journal into it."""


class Snapshot(NamedTuple):
    """The content of a file."""

    state: MixtureState  # the state of the mixture
    sequence: int = 0  # the number of operations of its journal that it holds
    journal: str = ""  # the name of its journal; empty if it has none


def save(state: MixtureState, path: Path, *, history: bool = True) -> int:
    """Write a mixture, and return the number of bytes.

    If anything goes wrong, a previous file stays as it was.
    """
    refuse_beside(path, "blend")
    return write_snapshot(Snapshot(state), path, history=history)


def write_snapshot(snapshot: Snapshot, path: Path, *, history: bool = True) -> int:
    """Write a mixture with its place in its journal; return the number of bytes."""
    text = snapshot_text(snapshot, history=history)
    whole_files.write_whole(path, lambda part: part.write_text(text, "ascii"))
    return len(text)


def snapshot_text(snapshot: Snapshot, *, history: bool = True) -> str:
    """Return the text of a file with this content, in ASCII; with or without the history."""
    place = {"sequence": snapshot.sequence, "journal": snapshot.journal}
    return sealed_file.sealed(place | write_mixture(snapshot.state, history=history))


def load(
    path: Path,
    loss: Loss | LossFunction | None,
    make: Callable[[MixtureState], T],
    redo: Callable[[T, Operation], None],
) -> T:
    """Return the mixture of a file, after the operations of a journal beside it."""
    for attempt in range(ATTEMPTS):
        state, sequence, journal = read_snapshot(path, loss)
        mixture = make(state)
        try:
            replay(journal_of(path), partial(redo, mixture), sequence, journal)
            break
        except ValueError:
            # A stream may have folded its journal between the two reads.
            if attempt == ATTEMPTS - 1 or _sequence(path) == sequence:
                raise
    return mixture


def _sequence(path: Path) -> int:
    return int(_read_content(path).get("sequence", 0))


def read_snapshot(path: Path, loss: Loss | LossFunction | None = None) -> Snapshot:
    """Return the content of a file, without its journal; refuse a file that is not a mixture."""
    return _snapshot(_read_content(path), str(path), loss)


def read_snapshot_text(data: bytes, source: str, most: float = inf) -> Snapshot:
    """Return the content of a text that `snapshot_text` wrote; refuse any other text.

    A mixture that would take more than so many bytes is refused, too.
    """
    content = sealed_file.open_sealed(
        data, source, FORMAT, range(1, VERSION + 1), SEALED, "a mixture"
    )
    return _snapshot(content, source, None, most)


def _snapshot(
    content: dict[str, Any], source: str, loss: Loss | LossFunction | None, most: float = inf
) -> Snapshot:
    """Return the content of a file from its entries."""
    try:
        state = read_mixture(content, loss, most)
        place = content.get("sequence", 0), content.get("journal", "")
        if type(place[0]) is not int or place[0] < 0 or not isinstance(place[1], str):
            raise ValueError("sequence and journal must be a number and a word")
        return Snapshot(state, *place)
    except KeyError as error:
        raise ValueError(f"{source} cannot be read: {error} is missing") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{source} cannot be read: {clipped(shown(str(error)))}") from None
    except (RecursionError, MemoryError):
        raise ValueError(f"{source} cannot be read: it is nested too deeply or too large") from None


def _read_content(path: Path) -> dict[str, Any]:
    """Return the content of a file of any version, its checksum verified."""
    return sealed_file.read(path, FORMAT, range(1, VERSION + 1), SEALED, "a mixture")
