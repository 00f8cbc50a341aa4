"""Where a stream keeps its mixture: a state, and a journal of what was done since it was written.

Whatever ends the process, `StateFile.load` returns the mixture as it was when the last operations
were appended. The state is written anew, and the journal begun anew, when the journal is long and
at the end: first the state, all or nothing, with the number of the last operation in it; then the
journal. A process that is killed in between leaves operations in the journal which the state holds
already; their numbers say so.
"""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from normalhedge import _files
from normalhedge.mixtures.journal import Journal, journal_of, replay
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.operations import Operation
from normalhedge.mixtures.saved import Snapshot, read_snapshot, write_snapshot

FOLDED = 1 << 23
"""The journal is folded into the state when it has this many bytes: some two seconds to replay."""

RATIO = 4
"""... and this many times as many as the state, so that large states are not written too often."""


class StateFile:
    """A mixture on disk, for one process: see `normalhedge._owner.Owner`.

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

    def load(self) -> Mixture | None:
        """Return the mixture with all that was done; none if there is none yet.

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
        snapshot = read_snapshot(self.path)
        self._identity, self._sequence = snapshot.journal, snapshot.sequence
        self._sequence = replay(journal, *snapshot)
        return snapshot.mixture

    def begin(self, mixture: Mixture) -> None:
        """Write the state, and begin a journal for what follows."""
        self._identity = self._identity or secrets.token_hex(8)
        self._write(mixture)
        self._journal = Journal(
            journal_of(self._target), self._identity, self._sequence, sync=self.sync
        )

    def append(self, operations: Sequence[Operation]) -> None:
        """Write down what was done; when this returns it survives the end of the process."""
        assert self._journal is not None
        self._journal.append(operations)
        self._sequence = self._journal.sequence

    def fold_if_long(self, mixture: Mixture) -> None:
        """Write the state and begin the journal anew, if it has become long."""
        assert self._journal is not None
        if self._journal.size > max(FOLDED, RATIO * self._size):
            self._write(mixture)
            self._journal.begin()

    def finish(self, mixture: Mixture) -> None:
        """Write the state and remove the journal."""
        self._write(mixture)
        self.abandon()
        journal_of(self._target).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Leave state and journal as they are: together they hold all that was appended."""
        if self._journal is not None:
            self._journal.close(remove=False)
            self._journal = None

    def _write(self, mixture: Mixture) -> None:
        snapshot = Snapshot(mixture, self._sequence, self._identity)
        self._size = write_snapshot(snapshot, self._target)
