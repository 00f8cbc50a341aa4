"""One owner for a file: a lock beside it that says who holds it."""

import os
import shlex
import socket
import sys
from datetime import datetime
from pathlib import Path
from types import TracebackType

from normalhedge._terminal import clipped, shown

try:
    import fcntl
except ImportError:  # Windows: two processes are not kept apart there
    fcntl = None  # type: ignore[assignment]


class Owner:
    """The one process that may write a file, from entering the context until it is left.

    The lock is one of the operating system, on ``FILE.lock``: it ends with the process, however
    that ends, so that a lock file which a dead process left is no obstacle. Where the operating
    system has no such locks nobody is kept out.

    Parameters
    ----------
    path
        The file; it need not exist yet.

    Raises
    ------
    ValueError
        On entering, if another process, or this one, holds the lock: it says who and since when.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = Path(f"{os.path.realpath(path)}.lock")
        self._handle: int | None = None

    def __enter__(self) -> "Owner":
        """Take the lock and sign it."""
        while fcntl is not None:
            handle = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The holder before may have removed the file that was opened just now.
                if _is_same(handle, self.lock):
                    os.ftruncate(handle, 0)
                    os.write(handle, _signature().encode("utf-8", "backslashreplace"))
                    self._handle, handle = handle, -1
                    break
            except BlockingIOError:
                said = os.pread(handle, 1000, 0).decode("utf-8", "replace").strip()
                holder = clipped(shown(said), 300) or "another process"
                raise ValueError(f"{self.path} is in use by {holder}") from None
            finally:
                if handle >= 0:
                    os.close(handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the lock."""
        if self._handle is not None:
            if _is_same(self._handle, self.lock):
                self.lock.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None


def _is_same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _signature() -> str:
    """Return who this is: process, host, command, time."""
    command = shlex.join([Path(sys.argv[0]).name or "python", *sys.argv[1:]])
    since = datetime.now().astimezone().isoformat(" ", "seconds")
    return f"process {os.getpid()} on {socket.gethostname()} since {since}: {clipped(command)}\n"
