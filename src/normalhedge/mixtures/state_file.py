"""Where a stream keeps its mixture."""

from pathlib import Path

from normalhedge import _state_file
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.operations import Operation, redo
from normalhedge.mixtures.saved import Snapshot, read_snapshot, write_snapshot

FOLDED = 1 << 23
"""The journal is folded into the state when it has this many bytes: some two seconds to replay."""

RATIO = 4
"""... and this many times as many as the state, so that large states are not written too often."""


class StateFile(_state_file.StateFile[Mixture]):
    """A mixture on disk."""

    def read(self) -> tuple[Mixture, int, str]:
        """Return what the file holds, how many operations of its journal, and whose that is."""
        return read_snapshot(self.path)

    def write(self, thing: Mixture, sequence: int, journal: str, target: Path) -> int:
        """Write the mixture, all or nothing; return how many bytes it took."""
        return write_snapshot(Snapshot(thing, sequence, journal), target)

    def redo(self, thing: Mixture, operation: Operation) -> None:
        """Do an operation again."""
        redo(thing, operation)

    def limit(self, size: int) -> int:
        """Return how many bytes a journal may have beside a state of this size."""
        return max(FOLDED, RATIO * size)
