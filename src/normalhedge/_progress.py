"""Progress of long work: one protocol for all functions that report it."""

from typing import Protocol


class Progress(Protocol):
    """A listener that long work keeps informed, such as a bar in a terminal.

    A function first calls `total` once, then `done` after each piece of work. The units are its
    own; only their share of the total matters. Several threads may call `done` and `say`.
    """

    def total(self, units: float) -> None:
        """Announce how many units of work there are."""

    def done(self, units: float, what: str) -> None:
        """Report finished work.

        Parameters
        ----------
        units
            The units that were finished since the last report; zero if only the name changes.
        what
            The name of the piece of work.
        """

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
        """Ignore finished work.

        Parameters
        ----------
        units, what
            Ignored.
        """

    def say(self, sentence: str) -> None:
        """Ignore a sentence."""


SILENT = Silent()
