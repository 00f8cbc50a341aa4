"""Servers that are killed, and databases that fail: nothing acknowledged is lost or learned twice.

A server is killed at a random moment under load, started again, and asked: every acknowledged
request is in its log with the answer that was given, no key is there twice, and its state is, to
the bit, that of an uninterrupted replay, whose predictions are those that were answered.
"""

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.service.faulty import proxied
from tests.service.postgres import Cluster, cluster, programs
from tests.service.sending import Connection
from tests.torture.accounts import OPTIONS, Account, Harm, Sender, load
from tests.torture.command import Commands, Running, commands
from tests.torture.disks import can_mount, fill, mounted
from tests.torture.result import Result, is_sentence, one_line

SECONDS = 60.0
"""How long a server may take to start, or a database to come back."""

DISK = 2 << 20
"""The bytes of a disk that gets full."""

KILLS_EACH = 40
"""After so many kills a new database is begun."""


class Site:
    """A database, and the servers on it, one after another."""

    def __init__(self, starter: Commands, folder: Path, db: str) -> None:
        self.starter, self.folder, self.db = starter, folder, db
        self.running: Running | None = None
        self.url = ""

    def begin(self, *, real: bool = False) -> None:
        """Start a server, and do not wait for it."""
        words = ["serve", "--db", self.db, "--port", "0"]
        with (self.folder / "err").open("wb") as err, open(os.devnull, "r+b") as null:
            self.running = self.starter.start(words, [null, null, err], real=real)

    def wait(self) -> None:
        """Wait until the server answers; one that finds the database in use begins again."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            said = self.said()
            if said.startswith("{") and "\n" in said:
                first = json.loads(said.partition("\n")[0])
                if "url" in first:
                    self.url = first["url"]
                    return
            assert self.running is not None
            if self.running.poll() is not None:
                if "is in use by" not in said:
                    raise Harm(f"no server: exit code {self.running.poll()}, {said[-300:]!r}")
                time.sleep(0.02)  # PostgreSQL has not noticed yet that the first one is gone
                self.begin()
            time.sleep(0.002)
        raise Harm(f"the server did not start in {SECONDS} s: {self.said()[-300:]!r}")

    def said(self) -> str:
        """Return what the server wrote to stderr."""
        return (self.folder / "err").read_text("utf-8", errors="replace")

    def end(self, number: int = signal.SIGKILL) -> int | None:
        """End the server."""
        if self.running is None:
            return None
        self.running.send(number)
        return self.running.code()


@contextmanager
def site(starter: Commands, db: str | None = None) -> Iterator[Site]:
    """Make a folder, with a database in it unless one is given; end its server at the end."""
    with tempfile.TemporaryDirectory() as folder:
        made = Site(starter, Path(folder), db or str(Path(folder) / "a.db"))
        try:
            yield made
        finally:
            made.end()


async def created(url: str, accounts: list[Account]) -> None:
    """Create the mixtures that are not there yet."""
    async with Connection(url) as connection:
        for account in accounts:
            status, body = await connection.ask(
                "POST", "/v1/mixtures", {"name": account.name, **OPTIONS}
            )
            if status not in {201, 409}:
                raise Harm(f"a mixture was not created: {status} {body!r}")


async def checked(url: str, accounts: list[Account]) -> None:
    """Check all accounts."""
    async with Connection(url) as connection:
        for account in accounts:
            await account.check(connection)


def crew(rng: np.random.Generator, mixtures: int, senders: int) -> list[Sender]:
    """Return senders, spread over new mixtures."""
    accounts = [Account(f"m{k}") for k in range(mixtures)]
    return [
        Sender(accounts[k % mixtures], k, np.random.default_rng(rng.integers(2**63)))
        for k in range(senders)
    ]


def accounts_of(senders: list[Sender]) -> list[Account]:
    """Return the accounts of senders, each once."""
    return list(dict.fromkeys(sender.account for sender in senders))


async def _killed(place: Site, senders: list[Sender], rng: np.random.Generator) -> None:
    """Send until the server is killed, at a random moment."""
    after = float(rng.choice([0.005, 0.05, 0.3, 0.8])) * rng.random()

    async def kill() -> None:
        await asyncio.sleep(after)
        if rng.random() < 0.1 and place.running is not None:
            place.running.send(signal.SIGTERM)  # it is about to stop in peace
            await asyncio.sleep(0.03 * rng.random())
        await asyncio.get_running_loop().run_in_executor(None, place.end)

    await asyncio.gather(load(place.url, senders, lambda: False), kill())


def kills(
    result: Result, starter: Commands, count: int, rng: np.random.Generator,
    new_database: Callable[[], str | None],
) -> int:  # fmt: skip
    """Kill so many servers; return the number of acknowledged requests."""
    acknowledged = 0
    for begun in range(0, count, KILLS_EACH):
        mixtures, many = ((1, 8), (3, 8), (2, 16))[int(rng.integers(3))]
        senders = crew(rng, mixtures, many)
        accounts = accounts_of(senders)
        with site(starter, new_database()) as place:
            for k in range(begun, min(begun + KILLS_EACH, count)):
                wrong = None
                try:
                    place.begin(real=k % 100 == 99)
                    if rng.random() < 0.05:  # while it starts
                        time.sleep(0.2 * rng.random())
                        place.end()
                        place.begin()
                    place.wait()
                    asyncio.run(created(place.url, accounts))
                    asyncio.run(checked(place.url, accounts))
                    asyncio.run(_killed(place, senders, rng))
                except Exception as error:
                    wrong = f"{place.db[:12]} #{k}: {one_line(error)}"
                result.count(wrong)
                if wrong:
                    break
            else:
                try:
                    place.begin()
                    place.wait()
                    asyncio.run(checked(place.url, accounts))
                except Exception as error:
                    result.count(f"the end of {place.db[:12]}: {one_line(error)}")
        acknowledged += sum(len(account.told) for account in accounts)
    return acknowledged


async def _hindered(
    place: Site, senders: list[Sender], hinder: Callable[[], object], free: Callable[[], object]
) -> int:  # fmt: skip
    """Hinder the database for a while under load; return how many requests waited for it."""
    until = time.monotonic() + 0.3
    await load(place.url, senders, lambda: time.monotonic() > until)
    hinder()
    until = time.monotonic() + 0.6
    await load(place.url, senders, lambda: time.monotonic() > until)
    async with Connection(place.url) as connection:
        status, body = await connection.ask("GET", "/healthz")
        if status != 200:
            raise Harm(f"/healthz says {status} while the database is hindered: {body!r}")
    free()
    refused = sum(len(account.open) for account in accounts_of(senders))
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:  # until all that was refused is done
        last = time.monotonic() + 0.2
        await load(place.url, senders, lambda: time.monotonic() > last, patient=True)  # noqa: B023
        if not any(account.open for account in accounts_of(senders)):
            break
    return refused


def _limit(place: Site, size: int) -> None:
    """Let no file of the server grow beyond a size; a negative one lets them grow again."""
    assert place.running is not None
    soft = resource.RLIM_INFINITY if size < 0 else size
    resource.prlimit(place.running.pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))


def scene(
    result: Result, what: str, place: Site, senders: list[Sender], play: Callable[[], object]
) -> None:
    """Start a server, do something to it, and count what is wrong with what it says then."""
    wrong, accounts = None, accounts_of(senders)
    try:
        place.begin()
        place.wait()
        asyncio.run(created(place.url, accounts))
        play()
        asyncio.run(checked(place.url, accounts))
    except Exception as error:
        wrong = f"{what}: {one_line(error)}"
    result.count(wrong)


def again(place: Site) -> None:
    """Kill a server, and start another."""
    place.end()
    place.begin()
    place.wait()


def send(url: str, senders: list[Sender], seconds: float) -> None:
    """Let all send for a while."""
    until = time.monotonic() + seconds
    asyncio.run(load(url, senders, lambda: time.monotonic() > until))


def full(result: Result, starter: Commands, count: int, rng: np.random.Generator) -> int:
    """Let the files of a database be as large as they may get; return how often it was refused."""
    refused: list[int] = []
    for k in range(count):
        senders = crew(rng, 2, 6)
        size = int(rng.integers(0, 200_000))
        with site(starter) as place:

            def play(
                place: Site = place, senders: list[Sender] = senders, size: int = size
            ) -> None:
                hinder, free = partial(_limit, place, size), partial(_limit, place, -1)
                refused.append(asyncio.run(_hindered(place, senders, hinder, free)))
                again(place)

            scene(result, f"files that may not grow #{k}", place, senders, play)
    return sum(refused)


def filled(result: Result, starter: Commands, count: int, rng: np.random.Generator) -> None:
    """Fill the disk of a database, and kill the server on it."""
    for k in range(count):
        senders, leave = crew(rng, 1, 4), int(rng.integers(0, 65536))
        with mounted(DISK) as disk, site(starter, str(disk / "a.db")) as place:

            def play(
                place: Site = place, senders: list[Sender] = senders, disk: Path = disk,
                leave: int = leave,
            ) -> None:  # fmt: skip
                fill(disk, leave, DISK)
                send(place.url, senders, 0.5)
                place.end()
                (disk / "filler").unlink()
                again(place)

            scene(result, f"a full disk #{k}", place, senders, play)


def gone(
    result: Result, starter: Commands, count: int, rng: np.random.Generator, where: Cluster
) -> None:
    """Stop PostgreSQL at once under load, and start it again."""
    for k in range(count):
        senders, stop = crew(rng, 2, 6), partial(where.stop, ("immediate", "fast")[k % 2])
        with site(starter, where.new_database()) as place:

            def play(
                place: Site = place, senders: list[Sender] = senders, stop: Any = stop
            ) -> None:
                asyncio.run(_hindered(place, senders, stop, where.start))

            scene(result, f"PostgreSQL was away #{k}", place, senders, play)


def cut(result: Result, starter: Commands, count: int, rng: np.random.Generator) -> int:
    """Cut connections in the middle of requests and answers; return the number of cuts."""
    cuts: list[int] = []
    for k in range(count):
        senders, seed = crew(rng, 2, 6), int(rng.integers(2**31))
        with site(starter) as place:

            def play(
                place: Site = place, senders: list[Sender] = senders, seed: int = seed
            ) -> None:
                with proxied(place.url, seed, 0.2) as proxy:
                    until = time.monotonic() + 2.0
                    while time.monotonic() < until:
                        send(proxy.url, senders, until - time.monotonic())
                    cuts.append(proxy.cuts.total() - proxy.cuts["well"])
                send(place.url, senders, 0.1)

            scene(result, f"connections were cut #{k}", place, senders, play)
    return sum(cuts)


def crowds(result: Result, starter: Commands, seconds: float, rng: np.random.Generator) -> None:
    """Let 64 clients use one mixture, and 128 use a hundred."""
    for mixtures, many in ((1, 64), (100, 128)):
        senders = crew(rng, mixtures, many)
        with site(starter) as place:

            def play(place: Site = place, senders: list[Sender] = senders) -> None:
                send(place.url, senders, seconds)

            scene(result, f"{many} clients on {mixtures} mixtures", place, senders, play)
        told = sum(len(account.told) for account in accounts_of(senders))
        result.notes.append(f"{many} clients on {mixtures} mixtures: {told:,} requests")


def read_only(result: Result, starter: Commands) -> None:
    """Start a server on a file that cannot be written: it says so and ends."""
    with mounted(DISK) as disk, site(starter, str(disk / "a.db")) as place:
        place.begin()
        place.wait()
        place.end(signal.SIGTERM)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        place.begin()
        assert place.running is not None
        code, said = place.running.code(), place.said()
        wrong = None if code == 2 and is_sentence(said) else f"exit code {code}: {said[-200:]!r}"
        result.count(wrong and f"a read-only disk: {wrong}")


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Kill 1,000 servers with a file of SQLite, and 300 with PostgreSQL; and hinder the others."""
    result = Result("serve")
    if sys.platform == "win32":
        return result
    with commands() as starter:
        asked = kills(result, starter, 6 if quick else 1000, rng, lambda: None)
        result.notes.append(f"kill -9, SQLite: {result.tried} kills, {asked:,} acknowledged")
        many = cut(result, starter, 1 if quick else 20, rng)
        result.notes.append(f"connections cut: {many:,}")
        refused = full(result, starter, 1 if quick else 40, rng)
        result.notes.append(f"files that may not grow: {refused:,} requests waited for room")
        crowds(result, starter, 1.0 if quick else 10.0, rng)
        if can_mount():
            filled(result, starter, 1 if quick else 40, rng)
            read_only(result, starter)
        else:
            result.notes.append("no full or read-only disk: this process may not mount")
        if programs() is None:
            result.notes.append("no PostgreSQL here: left out")
            return result
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)  # PostgreSQL is another user, where this one is root
            with cluster(Path(folder) / "pg") as where:
                before = result.tried
                asked = kills(result, starter, 4 if quick else 300, rng, where.new_database)
                tried = result.tried - before
                result.notes.append(f"kill -9, PostgreSQL: {tried} kills, {asked:,} acknowledged")
                gone(result, starter, 1 if quick else 20, rng, where)
    return result
