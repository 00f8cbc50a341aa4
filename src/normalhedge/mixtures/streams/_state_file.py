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
        snapshot = read_snapshot(self.path)
        return Mixture.of(snapshot.state), snapshot.sequence, snapshot.journal

    def write(self, state: Mixture, sequence: int, journal: str, target: Path) -> int:
        return write_snapshot(Snapshot(state, sequence, journal), target)

    def redo(self, state: Mixture, operation: Operation) -> None:
        state.redo(operation)

    def can_be_repeated(self, operation: Operation) -> bool:
        return CANNOT_BE_REPEATED not in operation

    def limit(self, size: int) -> int:
        return max(FOLDED, RATIO * size)
