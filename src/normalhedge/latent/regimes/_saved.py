"""Regimes in files: versioned JSON with a checksum, exact to the bit, written all or nothing."""

import math
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from normalhedge.boundary import whole_files
from normalhedge.boundary.terminal import clipped, shown
from normalhedge.latent.regimes._rule import RegimesRule, RegimesState
from normalhedge.latent.regimes._saved_objects import Reader, Writer
from normalhedge.latent.regimes._saved_version_1 import read_version_1
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.live import sealed_file
from normalhedge.live.journal import Operation, journal_of, refuse_beside, replay

FORMAT = "normalhedge regimes"
VERSION = 2

ATTEMPTS = 5
"""How often a file is read again if a stream folds its journal at the same time."""

MOST_STATES = 1000
"""The largest number of states that is accepted."""


class Learner(Protocol):
    """Regimes: the class `Regimes`, which imports this module."""

    _state: RegimesState

    @property
    def settings(self) -> RegimesSettings:
        """The settings."""

    @classmethod
    def at(cls, rule: RegimesRule, state: RegimesState) -> Self:
        """Return regimes that have learned a state."""

    def observe(self, y: Any) -> None:
        """Learn the next observation."""


T = TypeVar("T", bound=Learner)


def save(regimes: Learner, path: Path) -> None:
    """Write regimes to a file; if anything fails, the old file stays."""
    refuse_beside(path, "latent")
    write(regimes, path)


def write(regimes: Learner, path: Path, extra: dict[str, Any] | None = None) -> int:
    """Write regimes to a file; return its size in bytes."""
    writer = Writer()
    # The lineup follows from the candidates.
    root = writer.plain((regimes.settings, regimes._state._replace(lineup=None)))
    content = {"format": FORMAT, "version": VERSION, "extra": extra or {}, "root": root}
    text = sealed_file.sealed({**content, "objects": writer.objects})
    whole_files.write_whole(path, lambda part: part.write_text(text, "ascii"))
    return len(text)


def load(path: Path, kind: type[T]) -> T:
    """Return the regimes of a file, and learn the observations in the journal beside it."""
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
    """Learn an observation in the form of a journal."""
    given = value if isinstance(value, list) else [value]
    regimes.observe([math.nan if part is None else float(part) for part in given])


def read(path: Path, kind: type[T]) -> tuple[T, dict[str, Any]]:
    """Return the regimes of a file, and its further entries."""
    found = sealed_file.read(path, FORMAT, range(1, VERSION + 1), 1, "regimes")
    try:
        extra, objects = found["extra"], found["objects"]
        if not isinstance(objects, list) or not isinstance(extra, dict):
            raise ValueError("objects must be a list, and extra an object")
        with np.errstate(all="ignore"):
            if found["version"] == 1:
                settings, state = read_version_1(objects, found["root"])
            else:
                settings, state = Reader(objects).value(found["root"])
            regimes = kind.at(*_checked(settings, state))
    except KeyError as error:
        raise ValueError(f"{path} cannot be read: {clipped(str(error))} is missing") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{path} cannot be read: {clipped(shown(str(error)))}") from None
    except (AssertionError, RecursionError, MemoryError):
        raise ValueError(f"{path} cannot be read: its parts do not fit together") from None
    return regimes, extra


def _checked(settings: Any, state: Any) -> tuple[RegimesRule, RegimesState]:
    """Return the rule and the state; refuse a state that cannot continue, by a trial."""
    if type(settings) is not RegimesSettings or type(state) is not RegimesState:
        raise ValueError("the root object is not of the class Regimes")
    if settings.most > MOST_STATES:
        raise ValueError("numbers of states must be whole numbers")
    if type(state.rounds) is not int or state.rounds < 0:
        raise ValueError("rounds must be a whole number")
    rule = RegimesRule(settings)
    state = rule.restore(state)
    state.naming.parameters()
    rule.forecast(state, 2)
    if state.lineup is not None:
        rule.learn(state, np.full((1, len(state.previous)), np.nan))
    return rule, state
