"""Where a stream keeps its state: a file, and a journal of what was done since it was written.

Whatever ends the process, `StateFile.load` returns the state as it was when the last operations
were appended. The state is written anew, and the journal begun anew, when the journal is long and
at the end: first the state, all or nothing, with the number of the last operation in it; then the
journal. A process that is killed in between leaves operations in the journal which the state holds
already; their numbers say so.
"""

import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from normalhedge import _files
from normalhedge._journal import Journal, Operation, journal_of, replay

T = TypeVar("T")


class StateFile(ABC, Generic[T]):
    """Something on disk, for one process: see `normalhedge._owner.Owner`.

    Parameters
    ----------
    path
        The file of the state; its journal is beside it. A link is followed.
    sync
        Whether what was appended must survive a power cut, too, and not only the end of the
        process.
    """

    def __init__(self, path: Path, *, sync: bool = False) -> None:
        self.path = path
        self.sync = sync
        self._target = Path(os.path.realpath(path))
        self._identity, self._sequence, self._size = "", 0, 0
        self._journal: Journal | None = None

    @abstractmethod
    def read(self) -> tuple[T, int, str]:
        """Return what the file holds, how many operations of its journal, and whose that is."""

    @abstractmethod
    def write(self, thing: T, sequence: int, journal: str, target: Path) -> int:
        """Write the state, all or nothing; return how many bytes it took."""

    @abstractmethod
    def redo(self, thing: T, operation: Operation) -> None:
        """Do an operation again."""

    @abstractmethod
    def limit(self, size: int) -> int:
        """Return how many bytes a journal may have beside a state of this size."""

    def load(self) -> T | None:
        """Return the state with all that was done; none if there is none yet.

        Raises
        ------
        ValueError
            If state or journal are damaged or do not belong together.
        """
        journal = journal_of(self._target)
        if _files.refuse_special(self._target) is None:
            if journal.exists():
                raise ValueError(f"there is {journal}, but not the state {self.path} it belongs to")
            return None
        thing, self._sequence, self._identity = self.read()
        redone = partial(self.redo, thing)
        self._sequence = replay(journal, redone, self._sequence, self._identity)
        return thing

    def begin(self, thing: T) -> None:
        """Write the state, and begin a journal for what follows."""
        self._identity = self._identity or secrets.token_hex(8)
        self._write(thing)
        self._journal = Journal(
            journal_of(self._target), self._identity, self._sequence, sync=self.sync
        )

    def append(self, operations: Sequence[Operation]) -> None:
        """Write down what was done; when this returns it survives the end of the process."""
        assert self._journal is not None
        self._journal.append(operations)
        self._sequence = self._journal.sequence

    def fold_if_long(self, thing: T) -> None:
        """Write the state and begin the journal anew, if it has become long."""
        assert self._journal is not None
        if self._journal.size > self.limit(self._size):
            self._write(thing)
            self._journal.begin()

    def finish(self, thing: T) -> None:
        """Write the state and remove the journal."""
        self._write(thing)
        self.abandon()
        journal_of(self._target).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Leave state and journal as they are: together they hold all that was appended."""
        if self._journal is not None:
            self._journal.close(remove=False)
            self._journal = None

    def _write(self, thing: T) -> None:
        self._size = self.write(thing, self._sequence, self._identity, self._target)
