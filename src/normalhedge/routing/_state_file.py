"""The file in which a stream keeps its router."""

from pathlib import Path

from normalhedge.live import state_file
from normalhedge.live.journal import Operation
from normalhedge.routing._files import RouterSnapshot, read_snapshot, write_snapshot
from normalhedge.routing._router import Router

FOLDED = 1 << 22
"""The journal is folded into the state when it has this many bytes, and is as long as the state."""


class RouterFile(state_file.StateFile[Router]):
    """A router on disk: its state, and a journal of the operations since."""

    def read(self) -> tuple[Router, int, str]:
        snapshot = read_snapshot(self.path)
        router = Router.of(snapshot.settings, snapshot.core)
        return router, snapshot.sequence, snapshot.journal

    def write(self, state: Router, sequence: int, journal: str, target: Path) -> int:
        return write_snapshot(
            RouterSnapshot(state.settings, state._core, sequence, journal), target
        )

    def redo(self, state: Router, operation: Operation) -> None:
        state.redo(operation)

    def limit(self, size: int) -> int:
        return max(FOLDED, size)
