"""Regimes in files: versioned JSON with a checksum, exact to the bit, written all or nothing."""

import copy
import math
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from normalhedge import _files, _sealed
from normalhedge._journal import Operation, journal_of, refuse_beside, replay
from normalhedge._terminal import clipped, shown
from normalhedge.latent.regimes.saved_objects import Reader, Writer

FORMAT = "normalhedge regimes"
VERSION = 1

ATTEMPTS = 5
"""How often a file is read again if a stream folds its journal at the same time."""

MOST_STATES = 1000
"""The largest number of states that is accepted."""


class Learner(Protocol):
    """An object that learns observations: `Regimes`, which imports this module."""

    def observe(self, y: Any) -> None:
        """Learn the next observation."""


T = TypeVar("T", bound=Learner)


def save(regimes: Learner, path: Path) -> None:
    """Write regimes to a file; if anything fails, the old file stays.

    Parameters
    ----------
    regimes
        The regimes.
    path
        The file.

    Raises
    ------
    ValueError
        If there is a journal beside the file: it belongs to a stream that runs, or was killed.
    """
    refuse_beside(path, "latent")
    write(regimes, path)


def write(regimes: Learner, path: Path, extra: dict[str, Any] | None = None) -> int:
    """Write regimes to a file; return its size in bytes.

    Parameters
    ----------
    regimes, path
        As for `save`.
    extra
        Further entries of the file, in plain JSON.
    """
    writer = Writer(type(regimes))
    root = writer.plain(regimes)
    content = {"format": FORMAT, "version": VERSION, "extra": extra or {}, "root": root}
    text = _sealed.sealed({**content, "objects": writer.objects})
    _files.write_whole(path, lambda part: part.write_text(text, "ascii"))
    return len(text)


def load(path: Path, kind: type[T]) -> T:
    """Return the regimes of a file, and learn the observations in the journal beside it.

    Parameters
    ----------
    path
        The file; refused if it is damaged.
    kind
        The class of the regimes.
    """
    for attempt in range(ATTEMPTS):
        regimes, extra = read(path, kind)
        place = extra.get("sequence", 0), extra.get("journal", "")
        try:
            replay(journal_of(path), partial(_redo, regimes), *place)
            break
        except ValueError:
            # A stream may have folded its journal between the two reads.
            if attempt == ATTEMPTS - 1 or read(path, kind)[1] == extra:
                raise
    return regimes


def _redo(regimes: Learner, operation: Operation) -> None:
    observe(regimes, operation["observe"])


def observe(regimes: Learner, value: float | list[float | None] | None) -> None:
    """Learn an observation in the form of a journal.

    Parameters
    ----------
    regimes
        The regimes.
    value
        A number, or a list with one for each column; None where it is missing.
    """
    given = value if isinstance(value, list) else [value]
    regimes.observe([math.nan if part is None else float(part) for part in given])


def read(path: Path, kind: type[T]) -> tuple[T, dict[str, Any]]:
    """Return the regimes of a file, and its further entries.

    Parameters
    ----------
    path, kind
        As for `load`.
    """
    found = _sealed.read(path, FORMAT, range(1, VERSION + 1), 1, "regimes")
    try:
        extra, objects = found["extra"], found["objects"]
        if not isinstance(objects, list) or not isinstance(extra, dict):
            raise ValueError("objects must be a list, and extra an object")
        with np.errstate(all="ignore"):
            regimes: T = Reader(objects, kind).value(found["root"])
            _check(regimes, kind)
    except KeyError as error:
        raise ValueError(f"{path} cannot be read: {clipped(str(error))} is missing") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{path} cannot be read: {clipped(shown(str(error)))}") from None
    except (AssertionError, RecursionError, MemoryError):
        raise ValueError(f"{path} cannot be read: its parts do not fit together") from None
    return regimes, extra


def _check(regimes: Any, kind: Any) -> None:
    """Refuse regimes that cannot continue: use a copy of them, and let it miss an observation."""
    if type(regimes) is not kind:
        raise ValueError("the root object is not of the class Regimes")
    numbers = regimes.numbers
    if not numbers or not all(type(k) is int and 1 <= k <= MOST_STATES for k in numbers):
        raise ValueError("numbers of states must be whole numbers")
    if type(regimes.rounds) is not int or regimes.rounds < 0:
        raise ValueError("rounds must be a whole number")
    trial = copy.deepcopy(regimes)
    repr(trial)
    trial.support()
    trial.forecast(2)
    if trial.rounds:
        trial._learn(np.full((1, len(trial._previous)), np.nan))
