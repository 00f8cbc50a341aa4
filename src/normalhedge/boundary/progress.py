"""Progress of long work: one protocol for all functions that report it."""

from collections.abc import Callable
from threading import Lock
from typing import Protocol

from normalhedge.boundary.notebook import NotebookBar, in_notebook


class Progress(Protocol):
    """A listener that long work keeps informed, such as a bar in a terminal.

    A function first calls `total` once, then `done` after each piece of work. The units are its
    own; only their share of the total matters. Several threads may call `done` and `say`.
    """

    def total(self, units: float) -> None:
        """Announce how many units of work there are."""

    def done(self, units: float, what: str) -> None:
        """Report finished work."""

    def say(self, sentence: str) -> None:
        """Pass on a sentence that the user should read."""


class Silent:
    """A progress that ignores every report.

    Examples
    --------
    >>> Silent().done(1.0, "the first half")
    """

    def total(self, units: float) -> None:
        """Ignore the total."""

    def done(self, units: float, what: str) -> None:
        """Ignore finished work."""

    def say(self, sentence: str) -> None:
        """Ignore a sentence."""


SILENT = Silent()

Listener = Progress | Callable[[float], object] | None
"""The argument ``progress`` of long work: a `Progress`, a function that is called with the share of
the work that is done, or None: a bar below the cell of a notebook, and nothing elsewhere. `SILENT`
shows nothing anywhere."""


class _OfShares(Silent):
    """A progress that calls a function with the share of the work that is done."""

    def __init__(self, function: Callable[[float], object]) -> None:
        self._function = function
        self._total, self._finished = 1.0, 0.0
        self._lock = Lock()

    def total(self, units: float) -> None:
        self._total = units

    def done(self, units: float, what: str) -> None:  # noqa: ARG002
        with self._lock:
            self._finished += units
            self._function(min(self._finished / self._total, 1.0))


def listener(progress: Listener) -> Progress:
    """Return the progress that an argument ``progress`` stands for.

    Examples
    --------
    >>> told = listener(print)
    >>> told.total(4)
    >>> told.done(1, "the first of four")
    0.25
    """
    if progress is None:
        return NotebookBar() if in_notebook() else SILENT
    return _OfShares(progress) if callable(progress) else progress


class PieceOfWork:
    """A progress for a piece of larger work, of which it finishes some units."""

    def __init__(self, whole: Progress, units: float, what: str) -> None:
        self._whole, self._units, self._what, self._total = whole, units, what, 1.0

    def total(self, units: float) -> None:
        """Announce how many units of its own the piece has."""
        self._total = units

    def done(self, units: float, what: str) -> None:  # noqa: ARG002
        """Report finished work."""
        self._whole.done(units / self._total * self._units, self._what)

    def say(self, sentence: str) -> None:
        """Pass on a sentence."""
        self._whole.say(sentence)


def shares(progress: Listener, what: str) -> Callable[[float], object]:
    """Return a function that reports the finished share of the work.

    Examples
    --------
    >>> shares(print, "reading")(0.5)
    0.5
    """
    reported, before = listener(progress), 0.0
    reported.total(1.0)

    def report(share: float) -> None:
        nonlocal before
        reported.done(share - before, what)
        before = share

    return report
