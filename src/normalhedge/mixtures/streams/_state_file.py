"""The file in which a stream keeps its mixture."""

from pathlib import Path

from normalhedge.live import state_file
from normalhedge.mixtures._mixture import Mixture
from normalhedge.mixtures.files import Snapshot, read_snapshot, write_snapshot
from normalhedge.mixtures.state import CANNOT_BE_REPEATED, Operation

FOLDED = 1 << 23
"""The journal is folded into the state when it has this many bytes (two seconds to replay) ..."""

RATIO = 4
"""... and this many times the size of the state, so that large states are not written too often."""


class MixtureFile(state_file.StateFile[Mixture]):
    """A mixture on disk: its state, and a journal of the operations since."""

    def read(self) -> tuple[Mixture, int, str]:
        """Return the mixture of the file, the number of operations it holds, and its journal."""
        state, sequence, journal = read_snapshot(self.path)
        return Mixture.of(state), sequence, journal

    def write(self, thing: Mixture, sequence: int, journal: str, target: Path) -> int:
        """Write the mixture, all or nothing; return the number of bytes."""
        return write_snapshot(Snapshot(thing, sequence, journal), target)

    def redo(self, thing: Mixture, operation: Operation) -> None:
        """Repeat an operation of the journal."""
        thing.redo(operation)

    def can_be_repeated(self, operation: Operation) -> bool:
        """Tell whether a journal can repeat an operation."""
        return CANNOT_BE_REPEATED not in operation

    def limit(self, size: int) -> int:
        """Return the largest size of a journal beside a state of this size, in bytes."""
        return max(FOLDED, RATIO * size)
