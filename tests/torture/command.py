"""The real command as a process: started, fed, signalled and read."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

PYTHON = [sys.executable, *(["-S"] if sys.flags.no_site else [])]
"""Without site-packages where the bench itself is run so: see ``nox -s sanitize``."""

SECONDS = 120.0
"""How long a command may take to end. A busy disk can take half of it; a hang lasts for ever."""


class Running:
    """A command that runs; ``code`` waits for its end."""

    def __init__(self, pid: int, commands: "Commands", owner: subprocess.Popen[bytes] | None):
        self.pid = pid
        self._commands = commands
        self._owner = owner
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        if self._code is None:
            self._code = self._owner.poll() if self._owner else self._commands.ask(self.pid)
        return self._code

    def send(self, number: int) -> None:
        """Send a signal, if it is still there."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def code(self, seconds: float = SECONDS) -> int | None:
        """Wait for the end; None, and an end by force, if it does not come."""
        until = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < until:
            time.sleep(0.0005)
        if self._code is None:
            self._commands.stuck = f"state and times of the process: {_state(self.pid)}"
            self.send(signal.SIGKILL)
            while self.poll() is None:
                time.sleep(0.001)
            return None
        return self._code


def _state(pid: int) -> str:
    """Return what Linux says of a process: R runs, S sleeps, D waits for a disk; ticks used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError as error:
        return str(error)
    return f"{fields[0]} {fields[11]} {fields[12]}"


class Commands:
    """Starts commands: forked from a process that has imported all, or really from the start."""

    def __init__(self) -> None:
        self.stuck = ""
        own, other = socket.socketpair()
        self._socket = own
        with other:
            self._server = subprocess.Popen(
                [*PYTHON, "-m", "tests.torture.zygote", str(other.fileno())],
                pass_fds=[other.fileno()],
                stderr=subprocess.DEVNULL,
            )

    def ask(self, request: Any, files: list[int] | None = None) -> Any:
        """Ask the process that forks."""
        socket.send_fds(self._socket, [json.dumps(request).encode()], files or [])
        return json.loads(self._socket.recv(1 << 16))

    def start(
        self, words: list[str], files: list[IO[bytes] | int], *, real: bool = False
    ) -> Running:
        """Start ``normalhedge`` with these words, reading and writing these three files."""
        if real:
            process = subprocess.Popen(
                [*PYTHON, "-m", "normalhedge", *words],
                stdin=files[0], stdout=files[1], stderr=files[2],
            )  # fmt: skip
            return Running(process.pid, self, process)
        numbers = [one if isinstance(one, int) else one.fileno() for one in files]
        return Running(self.ask(words, numbers), self, None)

    def close(self) -> None:
        """End the process that forks."""
        self._socket.close()
        self._server.wait()


@contextlib.contextmanager
def commands() -> Iterator[Commands]:
    """Keep the process that forks while it is used."""
    found = Commands()
    try:
        yield found
    finally:
        found.close()


class Session:
    """A stream with a state file, from a file of lines to a file of answers."""

    def __init__(self, starter: Commands, folder: Path, state: Path, *, real: bool = False) -> None:
        self.starter = starter
        self.folder = folder
        self.state = state
        self.words = ["blend", "-", "--state", str(state)]
        self.real = real

    def start(self, lines: list[str]) -> Running:
        """Start it on these lines."""
        (self.folder / "in").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        with (
            (self.folder / "in").open("rb") as given,
            (self.folder / "out").open("wb") as out,
            (self.folder / "err").open("wb") as err,
        ):
            return self.starter.start(self.words, [given, out, err], real=self.real)

    def answers(self) -> list[dict[str, Any]]:
        """Return the answers that were written whole."""
        whole, _, _ = (self.folder / "out").read_text("utf-8").rpartition("\n")
        return [json.loads(line) for line in whole.splitlines()]

    def said(self) -> str:
        """Return what was written to stderr."""
        return (self.folder / "err").read_text("utf-8", errors="replace")
