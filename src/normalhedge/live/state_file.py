"""The state of a stream on disk: a file, and a journal of the operations since it was written.

However the process ends, `StateFile.load` returns the state after the last appended operation. At
the end, and when the journal has become long, the state is written again and the journal is
emptied: first the state, whole or not at all, with the number of its last operation; then the
journal. If the process is killed in between, the journal has operations that the state already
contains; `load` skips them by their numbers.
"""

import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from normalhedge.boundary import whole_files
from normalhedge.live.journal import Journal, Operation, journal_of, replay

T = TypeVar("T")


class StateFile(ABC, Generic[T]):
    """A state on disk with a journal, used by one process (see `normalhedge.live.owner.Owner`)."""

    def __init__(self, path: Path, *, sync: bool = False) -> None:
        self.path = path
        self.sync = sync
        self._target = Path(os.path.realpath(path))
        self._identity, self._sequence, self._size = "", 0, 0
        self._journal: Journal | None = None

    @abstractmethod
    def read(self) -> tuple[T, int, str]:
        """Return the state, the number of operations it contains, and its journal's identity."""

    @abstractmethod
    def write(self, state: T, sequence: int, journal: str, target: Path) -> int:
        """Write the state whole or not at all; return the number of bytes."""

    @abstractmethod
    def redo(self, state: T, operation: Operation) -> None:
        """Apply an operation of the journal to a state."""

    @abstractmethod
    def limit(self, size: int) -> int:
        """Return how many bytes a journal may have beside a state of ``size`` bytes."""

    def load(self) -> T | None:
        """Return the state after all operations; None if there is no state yet."""
        journal = journal_of(self._target)
        if whole_files.refuse_special(self._target) is None:
            if journal.exists():
                raise ValueError(f"there is {journal}, but not the state {self.path} it belongs to")
            return None
        state, self._sequence, self._identity = self.read()
        redo = partial(self.redo, state)
        self._sequence = replay(journal, redo, self._sequence, self._identity)
        return state

    def begin(self, state: T) -> None:
        """Write the state, and begin a journal for the operations that follow."""
        self._identity = self._identity or secrets.token_hex(8)
        self._write(state)
        self._journal = Journal(
            journal_of(self._target), self._identity, self._sequence, sync=self.sync
        )

    def append(self, operations: Sequence[Operation]) -> None:
        """Append operations to the journal; they then survive the end of the process."""
        assert self._journal is not None
        self._journal.append(operations)
        self._sequence = self._journal.sequence

    def can_be_repeated(self, operation: Operation) -> bool:
        """Tell whether a journal can repeat an operation; else the state is written at once."""
        del operation
        return True

    def keep(self, state: T, operations: Sequence[Operation]) -> None:
        """Append operations to the journal, or write the state if one cannot be repeated."""
        if all(map(self.can_be_repeated, operations)):
            self.append(operations)
            return
        assert self._journal is not None
        before, self._sequence = self._sequence, self._sequence + len(operations)
        try:
            self._write(state)
        except BaseException:
            self._sequence = before
            raise
        self._journal.sequence = self._sequence
        self._journal.begin()

    def fold_if_long(self, state: T) -> None:
        """Write the state and empty the journal, if the journal has become long."""
        assert self._journal is not None
        if self._journal.size > self.limit(self._size):
            self._write(state)
            self._journal.begin()

    def finish(self, state: T) -> None:
        """Write the state and remove the journal."""
        self._write(state)
        self.abandon()
        journal_of(self._target).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Close the journal; the two files together contain all appended operations."""
        if self._journal is not None:
            self._journal.close(remove=False)
            self._journal = None

    def _write(self, state: T) -> None:
        self._size = self.write(state, self._sequence, self._identity, self._target)
