"""Two servers on one database: the owner ends each minute under load, and the other takes over.

Clients send requests of all kinds, and send again what was not answered, to whichever server is
ready. After each change, every account must be right: see `tests.torture.serve`.
"""

import asyncio
import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from tests.service.postgres import cluster, programs
from tests.service.sending import Connection
from tests.torture.accounts import Account, Harm, Sender
from tests.torture.command import Commands, Running, commands
from tests.torture.result import Result, one_line
from tests.torture.serve import SECONDS, accounts_of, checked, created, crew

CHANGES, PERIOD, RATE = 60, 60.0, 40.0
"""How often the owner changes, after how many seconds, and the requests of all in a second."""

READS = ("/summary", "/history?limit=50", "/pending", "/alarms", "/log?after=0", "/state", "")


class Server:
    """A server that stands by, or owns the database."""

    def __init__(self, starter: Commands, folder: Path, number: int, db: str) -> None:
        self.log = folder / f"err{number}"
        words = ["serve", "--wait", "--db", db, "--port", "0"]
        with self.log.open("wb") as err, open(os.devnull, "r+b") as null:
            files: list[IO[bytes] | int] = [null, null, err]
            self.running: Running = starter.start(words, files)

    def lines(self) -> list[dict[str, Any]]:
        """Return the whole lines of its log."""
        whole, _, _ = self.log.read_text("utf-8", errors="replace").rpartition("\n")
        return [json.loads(line) for line in whole.splitlines()]

    async def url(self, what: str) -> str:
        """Wait until it says that it stands by, or that it has started; return its address."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for line in self.lines():
                if line["what"] == what:
                    return str(line["url"])
            if self.running.poll() is not None:
                raise Harm(f"a server ended: {self.log.read_text('utf-8')[-300:]!r}")
            await asyncio.sleep(0.02)
        raise Harm(f"a server was not {what!r} in {SECONDS} s: {self.lines()[-3:]}")


class Pair:
    """The owner of a database and its stand-by, with clients of both."""

    def __init__(self, starter: Commands, folder: Path, db: str, senders: list[Sender]) -> None:
        self.starter, self.folder, self.db, self.senders = starter, folder, db, senders
        self.servers: list[Server] = []
        self.begun = 0
        self.url = ""  # of the owner
        self.read_count = self.cut = 0

    def begin(self) -> Server:
        """Start one more server."""
        self.begun += 1
        self.servers.append(Server(self.starter, self.folder, self.begun, self.db))
        return self.servers[-1]

    async def change(self, number: int) -> float:
        """End the owner; return the seconds until the stand-by has taken over."""
        owner = self.servers.pop(0)
        owner.running.send(number)
        begun = time.monotonic()
        self.url = await self.servers[0].url("started")
        taken = time.monotonic() - begun
        code = await asyncio.to_thread(owner.running.code)
        if code != (0 if number == signal.SIGTERM else -number):
            raise Harm(f"signal {number} ended the owner with code {code}")
        await self.begin().url("standing by")
        return taken

    async def send(self, sender: Sender, seconds: float, pause: float) -> None:
        """Send at a modest rate for a while, and until all is answered."""
        until = time.monotonic() + seconds
        while time.monotonic() < until or sender.waiting:
            if time.monotonic() > until + SECONDS:
                raise Harm(f"{sender.waiting} were not answered in {SECONDS} s")
            try:
                async with Connection(self.url) as connection:
                    while time.monotonic() < until or sender.waiting:
                        await sender.send(connection)
                        await asyncio.sleep(pause * sender.rng.exponential())
            except OSError:
                self.cut += 1
                await asyncio.sleep(0.05)

    async def read(self, accounts: list[Account], seconds: float) -> None:
        """Read everything once a second, as dashboards and exports do."""
        until, turn = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            turn += 1
            account, path = accounts[turn % len(accounts)], READS[turn % len(READS)]
            try:
                async with Connection(self.url) as connection:
                    status, body = await connection.ask("GET", f"{account.path}{path}")
            except OSError:
                status, body = 503, b""
            if status not in {200, 503}:
                raise Harm(f"{path} got {status}: {body[:200]!r}")
            self.read_count += 1
            await asyncio.sleep(1.0)

    async def play(self, result: Result, changes: int, period: float, rate: float) -> None:
        """Change owners under load, and count what is wrong after each change."""
        accounts, taken = accounts_of(self.senders), []
        rng = self.senders[0].rng
        first = self.begin()
        self.url = await first.url("started")
        await self.begin().url("standing by")
        await created(self.url, accounts)
        pause = len(self.senders) / rate
        for k in range(changes):
            wrong = None
            try:
                loads = [self.send(sender, period, pause) for sender in self.senders]

                async def change() -> None:
                    await asyncio.sleep(period * rng.random())
                    number = signal.SIGTERM if rng.random() < 0.3 else signal.SIGKILL
                    taken.append(await self.change(number))

                await asyncio.gather(change(), self.read(accounts, period), *loads)
                await checked(self.url, accounts)
            except Exception as error:
                wrong = f"{self.db[:12]} #{k}: {one_line(error)}"
            result.count(wrong)
            if wrong:
                break
        told = sum(len(account.told) for account in accounts)
        result.notes.append(
            f"{self.db.partition(':')[0][-10:]}: {len(taken)} changes, {told:,} acknowledged, "
            f"{self.read_count:,} reads, {self.cut:,} connections cut; ready after "
            f"{np.median(taken):.2f} s, at most {max(taken):.2f} s"
        )


@contextmanager
def pair(starter: Commands, folder: Path, db: str, rng: np.random.Generator) -> Iterator[Pair]:
    """Keep two servers; end them at the end."""
    folder.mkdir()
    made = Pair(starter, folder, db, crew(rng, 4, 8))
    try:
        yield made
    finally:
        for server in made.servers:
            server.running.send(signal.SIGKILL)
            server.running.code()


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Let the owner of a file of SQLite, and of a PostgreSQL, change each minute for an hour."""
    result = Result("standby")
    changes, period, rate = (2, 1.5, 100.0) if quick else (CHANGES, PERIOD, RATE)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)  # PostgreSQL is another user, where this one is root
        starter = stack.enter_context(commands())
        databases = [str(folder / "sqlite.db")]
        if programs() is None:
            result.notes.append("no PostgreSQL here: left out")
        else:
            databases.append(stack.enter_context(cluster(folder / "pg")).new_database())
        pairs = [
            stack.enter_context(pair(starter, folder / f"pair{k}", db, rng))
            for k, db in enumerate(databases)
        ]

        async def play() -> None:
            await asyncio.gather(*(one.play(result, changes, period, rate) for one in pairs))

        asyncio.run(play())
    return result
