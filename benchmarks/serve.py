"""``nox -s bench-serve``: a server and its load, in two processes on this machine.

Every figure has the processor time that the server took, because requests a second say little on a
machine that does other things as well.
"""

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.threads import cores
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.streams._stream import Stream
from normalhedge.service._recovery import compressed_state
from normalhedge.service._storage import Batch, Event, MixtureRow, SnapshotRow
from normalhedge.service.server import storage_of
from tests.service.postgres import cluster, programs
from tests.service.running import process
from tests.service.sending import Connection

EXPERTS, CONNECTIONS = 5, 64
TICKS = os.sysconf("SC_CLK_TCK")
OPTIONS: dict[str, Any] = {"max_pending": 10_000, "history": 200, "max_names": 10_000}


class Spent(NamedTuple):
    """The time and the processor time that some requests took.

    Attributes
    ----------
    done
        The number of requests.
    seconds, server, client
        The time, and the processor times of the server and of this process.
    delays
        The seconds that each request took.
    """

    done: int
    seconds: float
    server: float
    client: float
    delays: np.ndarray

    def __str__(self) -> str:
        """Return the rate and the processor time of a request."""
        return (
            f"{self.done / self.seconds:,.0f}/s, {self.server / self.done * 1e6:,.0f} us of the "
            f"processor each (this side: {self.client / self.done * 1e6:,.0f} us)"
        )

    def delay(self, percent: float) -> float:
        """Return a percentile of the delays, in milliseconds."""
        return float(np.percentile(self.delays, percent)) * 1e3


def processor(pid: int) -> float:
    """Return the processor time that a process has taken, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid: int) -> float:
    """Return the memory of a process, in megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


Work = Callable[[Connection, int], Awaitable[int]]
"""Sends requests over a connection, which has a number; returns how many."""


async def spent(
    url: str, pid: int, work: Work, seconds: float, *, rate: float | None = None, connections: int
) -> Spent:
    """Let all connections work for a while; with a rate, begin so many pieces of work a second."""
    delays: list[float] = []
    count = 0

    async def one(number: int, connection: Connection) -> None:
        nonlocal count
        due = begun + number / rate if rate else 0.0
        while (now := time.perf_counter()) < until:
            if rate:
                await asyncio.sleep(max(0.0, due - now))
                now, due = due, due + connections / rate  # a late start counts as a delay
            made = await work(connection, number)
            count += made
            delays.append(time.perf_counter() - now)

    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(Connection(url)) for _ in range(connections)]
        await asyncio.gather(*(connection.ask("GET", "/healthz") for connection in opened))
        begun = time.perf_counter()
        server, client, until = processor(pid), time.process_time(), begun + seconds
        await asyncio.gather(*(one(k, connection) for k, connection in enumerate(opened)))
    taken = time.perf_counter() - begun
    return Spent(
        count, taken, processor(pid) - server, time.process_time() - client, np.array(delays)
    )


def rounds(seed: int, count: int, experts: int = EXPERTS) -> list[dict[str, float]]:
    """Return forecasts of some rounds."""
    rng = np.random.default_rng(seed)
    return [
        {f"model {k}": value for k, value in enumerate(row)}
        for row in rng.normal(size=(count, experts)).tolist()
    ]


class Player:
    """Plays rounds of one mixture: forecasts and their outcome, in turns."""

    def __init__(self, name: str, count: int = 200) -> None:
        self.path = f"/v1/mixtures/{name}"
        self.bodies = [
            json.dumps({"forecasts": forecasts}).encode() for forecasts in rounds(0, count)
        ]
        self.turn = 0
        self.waiting: dict[int, int] = {}

    async def play(self, connection: Connection, number: int) -> int:
        """Send the forecasts of a round and its outcome, each with a key."""
        self.turn += 1
        key, body = f"{os.getpid()}-{self.turn}", self.bodies[self.turn % len(self.bodies)]
        status, answer = await connection.ask("POST", f"{self.path}/predict", body, f"p{key}")
        assert status == 200, answer
        ticket = answer[10 : answer.index(b",")].decode()
        settled = f'{{"ticket":{ticket},"outcome":{number % 7}.5}}'.encode()
        status, answer = await connection.ask("POST", f"{self.path}/outcome", settled, f"o{key}")
        assert status == 200, answer
        return 2

    async def step(self, connection: Connection, number: int) -> int:
        """Send one request: forecasts, or the outcome of the last ones of this connection."""
        self.turn += 1
        key, ticket = f"x{os.getpid()}-{self.turn}", self.waiting.pop(number, None)
        verb, body = "predict", self.bodies[(self.turn + number) % len(self.bodies)]
        if ticket is not None:
            verb, body = "outcome", f'{{"ticket":{ticket},"outcome":{number % 7}.5}}'.encode()
        status, answer = await connection.ask("POST", f"{self.path}/{verb}", body, key)
        assert status == 200, answer
        if ticket is None:
            self.waiting[number] = int(answer[10 : answer.index(b",")])
        return 1


class BatchPlayer:
    """Plays rounds of a mixture of its own for each connection, a hundred in each request."""

    def __init__(self, size: int = 100) -> None:
        self.size = size
        self.ticket: dict[int, int] = {}
        self.forecasts = rounds(1, size)

    async def play(self, connection: Connection, number: int) -> int:
        """Send a hundred rounds: the outcome of the round before, and new forecasts."""
        first = self.ticket.get(number, 0)
        lines: list[dict[str, Any]] = []
        for k, forecasts in enumerate(self.forecasts):
            line: dict[str, Any] = {"forecasts": forecasts}
            if first + k:
                line |= {"ticket": first + k - 1, "outcome": (first + k) % 5 + 0.5}
            lines.append(line)
        status, answer = await connection.ask(
            "POST", f"/v1/mixtures/batch{number}/rounds", {"rounds": lines}, f"b{first}"
        )
        assert status == 200, answer[:500]
        assert b'"error"' not in answer, answer[:500]
        self.ticket[number] = first + self.size
        return self.size


async def create(url: str, *names: str, **settings: Any) -> None:
    """Create mixtures."""
    async with Connection(url) as connection:
        for name in names:
            status, answer = await connection.ask(
                "POST", "/v1/mixtures", {"name": name, **settings}
            )
            assert status == 201, answer


async def listen(url: str, path: str, stack: AsyncExitStack) -> None:
    """Open a dashboard: read events until the end."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nhost: {host}:{port}\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")

    async def read() -> None:
        while await reader.read(1 << 16):
            pass

    task = asyncio.ensure_future(read())
    stack.callback(writer.close)
    stack.callback(task.cancel)


@contextmanager
def started(db: str) -> Iterator[tuple[str, int]]:
    """Run a server; yield its address and its process."""
    with process("--db", db) as (url, child):
        yield url, child.pid


def syncs(folder: str, count: int = 50) -> float:
    """Return how long the disk takes to write a page through, in milliseconds: the median."""
    taken = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(count):
            file.write(bytes(4096))
            file.flush()
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - start)
    return float(np.median(taken)) * 1e3


def requests(db: str, what: str, seconds: float) -> Iterator[str]:
    """Yield the rates of single requests and of batches, and the delays at half the load."""
    with started(db) as (url, pid):
        names = ["one", *(f"many{k}" for k in range(16)), *(f"batch{k}" for k in range(8))]
        asyncio.run(create(url, *names))
        one = Player("one")
        asyncio.run(spent(url, pid, one.play, 0.5, connections=CONNECTIONS))
        found = asyncio.run(spent(url, pid, one.play, seconds, connections=CONNECTIONS))
        yield f"{what}: predict and outcome, {CONNECTIONS} connections: {found} (goal 2,000/s)"
        many = [Player(f"many{k}") for k in range(16)]

        async def spread(connection: Connection, number: int) -> int:
            return await many[number % 16].play(connection, number)

        again = asyncio.run(spent(url, pid, spread, seconds, connections=CONNECTIONS))
        yield f"{what}: the same on 16 mixtures: {again}"
        rate = min(1000.0, found.done / found.seconds / 2)
        half = asyncio.run(spent(url, pid, one.step, seconds, rate=rate, connections=CONNECTIONS))
        yield (
            f"{what}: at {rate:,.0f} requests/s: half of them within {half.delay(50):.1f} ms, "
            f"99 % within {half.delay(99):.1f} ms (goal 25 ms); {half}"
        )
        batches = BatchPlayer()
        asyncio.run(spent(url, pid, batches.play, 0.5, connections=8))
        found = asyncio.run(spent(url, pid, batches.play, seconds, connections=8))
        yield f"{what}: rounds in batches of 100: {found} (goal 20,000/s)"


def dashboards(db: str, seconds: float) -> Iterator[str]:
    """Yield what 100 open dashboards cost, measured in turns."""

    async def measure(url: str, pid: int, player: Player, *, open_ones: int) -> Spent:
        async with AsyncExitStack() as stack:
            for k in range(open_ones):
                path = "/v1/events" if k % 2 else "/v1/mixtures/one/events"
                await listen(url, path, stack)
            return await spent(url, pid, player.step, seconds, rate=200.0, connections=CONNECTIONS)

    with started(db) as (url, pid):
        asyncio.run(create(url, "one"))
        player = Player("one")
        taken: dict[int, list[float]] = {0: [], 100: []}
        for _ in range(4):
            for count in (0, 100):
                found = asyncio.run(measure(url, pid, player, open_ones=count))
                taken[count].append(found.server / found.seconds)
    without, with_them = (float(np.median(taken[count])) for count in (0, 100))
    yield (
        f"100 open dashboards at 200 requests/s: {100 * (with_them - without):.1f} % of a core "
        f"(goal 10 %; the requests themselves {100 * without:.1f} %)"
    )


def write_log(db: str, mixtures: int, each: int) -> None:
    """Write a log of so many mixtures with so many events each, as a server does."""
    mixture = Mixture(**OPTIONS)
    done: list[dict[str, Any]] = []
    stream = Stream(mixture, done.append)
    first = compressed_state(mixture)
    rows: list[tuple[str, str, str, int | None]] = []
    states: dict[int, bytes] = {}
    for k, forecasts in enumerate(rounds(2, each // 2)):
        for kind, line in (
            ("predict", {"forecasts": forecasts}),
            ("outcome", {"ticket": k, "outcome": k % 5 + 0.5}),
        ):
            answer: dict[str, Any] = {}
            done.clear()
            stream.reply(line, answer)
            ticket = k if kind == "predict" else None
            rows.append((kind, json.dumps(done[0]), json.dumps(answer), ticket))
            if len(rows) % 1000 == 0:
                states[len(rows)] = compressed_state(mixture)
    storage, sequence, now = storage_of(db), 0, time.time()
    storage.open()
    with closing(storage):
        for number in range(1, mixtures + 1):
            sequence += 1
            row = MixtureRow(number, f"m{number}", now, json.dumps(OPTIONS))
            event = Event(sequence, 0, now, "create", None, None, "{}", "{}", 0, None)
            storage.append(
                Batch([event], [SnapshotRow(number, sequence, first, kept=True, previous=0)], [row])
            )
            begun, last = sequence, 0
            for start in range(0, len(rows), 500):
                part = rows[start : start + 500]
                events = [
                    Event(begun + start + k + 1, number, now, kind, f"{number}-{start + k}",
                          b"0" * 16, body, answer, 1, ticket)
                    for k, (kind, body, answer, ticket) in enumerate(part)
                ]  # fmt: skip
                snapshots = []
                if start + len(part) in states:
                    place, state = begun + start + len(part), states[start + len(part)]
                    snapshots, last = (
                        [SnapshotRow(number, place, state, kept=False, previous=last)],
                        place,
                    )
                storage.append(Batch(events, snapshots))
            sequence = begun + len(rows)


def restart(db: str, mixtures: int = 100, each: int = 10_000) -> Iterator[str]:
    """Yield how long a server needs to start with a million events."""
    write_log(db, mixtures, each)
    size = Path(db).stat().st_size / 1e6
    start = time.perf_counter()
    with process("--db", db) as (url, child):

        async def ask() -> tuple[float, float]:
            async with Connection(url) as connection:
                while (await connection.ask("GET", "/readyz"))[0] != 200:
                    await asyncio.sleep(0.01)
                for k in range(1, mixtures + 1):
                    body = {"forecasts": rounds(3, 1)[0]}
                    path = f"/v1/mixtures/m{k}/predict"
                    status, answer = await connection.ask("POST", path, body)
                    assert status == 200, answer
                    if k == 1:
                        first = time.perf_counter() - start
                return first, time.perf_counter() - start

        first, every = asyncio.run(ask())
        taken = processor(child.pid)
    yield (
        f"restart with {mixtures * each:,} events of {mixtures} mixtures ({size:,.0f} MB): the "
        f"first prediction after {first:.1f} s (goal 5 s), one of each mixture after {every:.1f} "
        f"s; {taken:.1f} s of the processor"
    )


def space(db: str, mixtures: int = 1000, experts: int = 20) -> Iterator[str]:
    """Yield the memory of a server with many mixtures."""

    async def fill(url: str) -> None:
        lines = [{"forecasts": forecasts} for forecasts in rounds(4, 20, experts)]
        for k, line in enumerate(lines[1:]):
            line |= {"ticket": k, "outcome": 0.5}  # type: ignore[dict-item]
        async with Connection(url) as connection:
            for k in range(mixtures):
                path = f"/v1/mixtures/m{k}/rounds"
                status, answer = await connection.ask("POST", path, {"rounds": lines})
                assert status == 200, answer

    with started(db) as (url, pid):
        before = memory(pid)
        asyncio.run(create(url, *(f"m{k}" for k in range(mixtures))))
        asyncio.run(fill(url))
        after = memory(pid)
    yield (
        f"{mixtures:,} mixtures of {experts} experts: {after:,.0f} MB (goal 300 MB), of which "
        f"{before:,.0f} MB without any"
    )


def chantilly() -> Iterator[str]:
    """Say whether chantilly, which has the same purpose, can still be installed and imported."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        for words in (
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "chantilly"],
            ["-c", "import chantilly"],
        ):
            done = subprocess.run(
                [f"{folder}/bin/python", *words], capture_output=True, text=True, check=False
            )
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no reason"])[-1]
                yield f"chantilly: left out, as it cannot be installed or imported: {last}"
                return
    yield "chantilly can be imported: run it beside"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each rate")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        choices=("sqlite", "postgres", "dashboards", "restart", "space",
                                 "chantilly"))  # fmt: skip
    given = parser.parse_args()
    print(
        f"{platform.machine()}, {cores()} cores, Python {platform.python_version()}, "
        f"load {os.getloadavg()[0]:.1f} at the start\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        print(f"the disk writes a page through in {syncs(folder):.1f} ms\n")
        parts: dict[str, Callable[[], Iterator[str]]] = {
            "sqlite": lambda: requests(f"{folder}/a.db", "SQLite", given.seconds),
            "dashboards": lambda: dashboards(f"{folder}/b.db", given.seconds),
            "restart": lambda: restart(f"{folder}/c.db"),
            "space": lambda: space(f"{folder}/d.db"),
            "postgres": lambda: postgres(Path(folder), given.seconds),
            "chantilly": chantilly,
        }
        for name, part in parts.items():
            if not given.only or name in given.only:
                for line in part():
                    print(line, flush=True)


def postgres(folder: Path, seconds: float) -> Iterator[str]:
    """Yield the rates with PostgreSQL, where it is installed."""
    if programs() is None:
        yield "PostgreSQL: not installed here"
        return
    with cluster(folder / "pg") as where:
        yield from requests(where.new_database(), "PostgreSQL", seconds)


if __name__ == "__main__":
    main()
