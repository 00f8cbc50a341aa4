"""A lock beside a file, so that only one process writes the file."""

import os
import shlex
import socket
import sys
from datetime import datetime
from pathlib import Path

from normalhedge.boundary.terminal import clipped, shown

try:
    import fcntl
except ImportError:  # Windows: files are not locked there
    fcntl = None  # type: ignore[assignment]


class Owner:
    """The right to write a file: a context manager that only one process can enter at a time.

    It is a lock of the operating system on ``FILE.lock``. It ends when the process ends, so a lock
    file that a dead process left behind does no harm. On systems without such locks, other
    processes are not kept out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = Path(f"{os.path.realpath(path)}.lock")
        self._handle: int | None = None

    def __enter__(self) -> "Owner":
        """Take the lock, and write this process's signature into it."""
        while fcntl is not None:
            handle = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The previous holder may have removed the file after it was opened here.
                if _is_same(handle, self.lock):
                    os.ftruncate(handle, 0)
                    os.write(handle, _signature().encode("utf-8", "backslashreplace"))
                    self._handle, handle = handle, -1
                    break
            except BlockingIOError:
                signature = os.pread(handle, 1000, 0).decode("utf-8", "replace").strip()
                holder = clipped(shown(signature), 300) or "another process"
                raise ValueError(f"{self.path} is in use by {holder}") from None
            finally:
                if handle >= 0:
                    os.close(handle)
        return self

    def __exit__(self, *_: object) -> None:
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
    """Return the number, host, start time and command of this process."""
    command = shlex.join([Path(sys.argv[0]).name or "python", *sys.argv[1:]])
    since = datetime.now().astimezone().isoformat(" ", "seconds")
    return f"process {os.getpid()} on {socket.gethostname()} since {since}: {clipped(command)}\n"
