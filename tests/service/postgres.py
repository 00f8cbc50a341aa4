"""A private cluster of PostgreSQL for tests, where its programs are installed."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path

USER = "postgres"


def programs() -> Path | None:
    """Return the folder of the programs of PostgreSQL; None if there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = sorted(glob("/usr/lib/postgresql/*/bin/initdb"))
    return Path(folders[-1]).parent if folders else None


class Cluster:
    """A cluster in a folder, which listens on a socket in the folder alone."""

    def __init__(self, folder: Path) -> None:
        found = programs()
        assert found is not None
        self.bin, self.folder, self.data = found, folder, folder / "data"
        self.databases = 0
        folder.mkdir(mode=0o755, exist_ok=True)
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, USER)
        self._run("initdb", "-D", str(self.data), "-A", "trust", "-U", USER, "--no-sync")
        self.start()

    def _run(self, program: str, *options: str) -> None:
        command = [str(self.bin / program), *options]
        if os.getuid() == 0:
            command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr.decode()

    def start(self) -> None:
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder}"
        self._run(
            "pg_ctl", "-D", str(self.data), "-o", options, "-l", str(self.folder / "log"), "-w",
            "start",
        )  # fmt: skip

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop")

    def address(self, database: str) -> str:
        return f"postgresql://{USER}@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """Return the address of a new database."""
        self.databases += 1
        name = f"db{self.databases}"
        self._run("createdb", "-h", str(self.folder), "-U", USER, name)
        return self.address(name)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Run a cluster."""
    made = Cluster(folder)
    try:
        yield made
    finally:
        made.stop()
