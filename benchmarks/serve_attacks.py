"""``nox -s bench-serve``: one client attacks a server, and another one plays and reads on.

Each attack is repeated until the other client has played for long enough. What counts is how long
the other client waits, beside its own waits without an attack, and the memory of the server.
"""

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.serve import Player, create, listen, rounds
from tests.service.running import process
from tests.service.sending import Connection

GOAL_MS, GOAL_MB = 50.0, 500.0
RATE, CONNECTIONS = 200.0, 8
READ_RATE, READERS = 20.0, 4
READS = ("", "/history?limit=20", "/summary", "/pending?limit=20", "/alarms", "/peek")
"""What the other client reads of its mixture in turn, beside its rounds."""


class Waits(NamedTuple):
    """The waits of the other client, in milliseconds."""

    half: float
    most: float  # 99 % are not longer
    longest: float
    # Processor time of the server between a request and its answer: what the wait would be on a
    # machine without other work
    most_worked: float
    longest_worked: float

    def __str__(self) -> str:
        return (
            f"{self.half:.1f} / {self.most:.1f} / {self.longest:.0f} ms "
            f"(processor: {self.most_worked:.1f} / {self.longest_worked:.0f} ms)"
        )


def peak(pid: int) -> float:
    """Return the largest memory that a process ever had, in megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


async def ask(url: str, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    """Send one request on a connection of its own."""
    async with Connection(url) as connection:
        return await connection.ask(method, path, body)


async def take(url: str, path: str, *, give_up: float = 120.0) -> tuple[int, int]:
    """Read an answer and throw it away; return its status and its bytes."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"GET {path} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\r\n".encode()
    )
    size, status = 0, 0
    try:
        async with asyncio.timeout(give_up):
            while part := await reader.read(1 << 18):
                status = status or int(part[9:12])
                size += len(part)
    finally:
        writer.close()
    return status, size


class Attack(NamedTuple):
    """An attack: what it needs, and what it does again and again."""

    prepare: Callable[[str], Awaitable[None]]  # with the address
    strike: Callable[[str], Awaitable[str]]  # with the address; returns what was answered
    restarts: bool = False  # whether the server is started again between the two


async def nothing(url: str) -> None:
    """Prepare nothing."""
    del url


def named(count: int, value: Any, name: str = "n") -> dict[str, Any]:
    """Return a dictionary with many names."""
    return {f"{name}{k}": value for k in range(count)}


async def fill_history(url: str) -> None:
    """Play a million rounds in a thousand requests."""
    await create(url, "long")
    await fill_named(url, "long", 1000)


async def read_history(url: str) -> str:
    """Ask for the last round."""
    status, size = await take(url, "/v1/mixtures/long/history?limit=1")
    return f"{status}, {size:,} bytes"


async def open_dashboards(url: str) -> str:
    """Open four dashboards: each asks for the last 500 rounds, the summary and the mixtures."""
    paths = ("/v1/mixtures/long/history?limit=500", "/v1/mixtures/long/summary", "/v1/mixtures")
    found = await asyncio.gather(*(take(url, path) for path in paths * 4))
    return f"{sorted({status for status, _ in found})}, {sum(size for _, size in found):,} bytes"


_wide = itertools.count(os.getpid() * 1000)


async def grow(url: str) -> str:
    """Let a mixture have one expert for 3,000 items, then 3,000 experts for one item."""
    name = f"wide{next(_wide)}"
    await create(url, name)
    path, seen = f"/v1/mixtures/{name}/predict", []
    for body in ({"a": named(3000, 1.0, "i")}, named(3000, {"i0": 1.0}, "e")):
        status, answer = await ask(url, "POST", path, {"forecasts": body})
        seen.append(f"{status} {answer.decode()[:150] if status >= 400 else ''}".strip())
    return "; ".join(seen)


async def export_log(url: str) -> str:
    """Export the events."""
    status, size = await take(url, "/v1/mixtures/long/log?events=true")
    return f"{status}, {size / 1e6:,.0f} MB"


async def snapshot(url: str) -> str:
    """Let 1,000 rounds of 10,000 experts wait, until a snapshot is due."""
    name = f"deep{next(_wide)}"
    await create(url, name)
    path, seen, body = f"/v1/mixtures/{name}", set(), {"forecasts": named(10_000, 1.0, "e")}
    status, answer = await ask(url, "POST", f"{path}/predict", body)
    if status >= 400:
        return f"{status} {answer.decode()[:200]}"
    small = {"rounds": [{"forecasts": {"e0": 1.0}}] * 100}
    for _ in range(11):
        status, answer = await ask(url, "POST", f"{path}/rounds", small)
        refused = answer.decode().partition('"error":')[2][:200]
        seen.add(f"{status} {refused}".strip())
    status, size = await take(url, f"{path}/state")
    return f"{'; '.join(sorted(seen))}; state {status}, {size / 1e6:.1f} MB"


async def season(url: str) -> str:
    """Create a mixture with an endless season, and use it."""
    status, answer = await ask(
        url, "POST", "/v1/mixtures",
        {"name": f"season{next(_wide)}", "interval": 0.9, "season": 1_000_000_000},
    )  # fmt: skip
    return f"{status} {answer.decode()[:200]}"


async def long_season(url: str) -> str:
    """Create a mixture with the longest season, and predict many items."""
    name = f"season{next(_wide)}"
    levels = [0.5, 0.6, 0.7, 0.8, 0.9]
    body = {"name": name, "interval": levels, "season": 1_000_000}
    status, answer = await ask(url, "POST", "/v1/mixtures", body)
    if status < 400:
        forecasts = {"forecasts": {"a": named(100, 1.0, "i")}}
        status, answer = await ask(url, "POST", f"/v1/mixtures/{name}/predict", forecasts)
    return f"{status} {answer.decode()[:200]}"


async def many_answers(url: str) -> str:
    """Send a small request whose answer is large: 10,000 rounds of 10,000 experts."""
    name = f"answers{next(_wide)}"
    await create(url, name)
    path = f"/v1/mixtures/{name}"
    await ask(url, "POST", f"{path}/predict", {"forecasts": named(10_000, 1.0, "e")})
    body = {"rounds": [{"forecasts": {"e0": 1.0}}] * 10_000}
    status, answer = await ask(url, "POST", f"{path}/rounds", body)
    return f"{status}, {len(answer) / 1e6:.1f} MB, {answer.count(b'error')} refused"


async def nested(url: str) -> str:
    """Send two megabytes of empty lists, four times at once."""
    body = b'{"rounds": [{"forecasts": {"a": [' + b",".join([b"[]"] * 600_000) + b"]}}]}"
    path = "/v1/mixtures/one/rounds"
    found = await asyncio.gather(*(ask(url, "POST", path, body) for _ in range(4)))
    return "; ".join(sorted({f"{status} {answer.decode()[:150]}" for status, answer in found}))


async def fill_directory(url: str) -> None:
    """Create many mixtures."""
    async with Connection(url) as connection:
        for k in range(3000):
            path = "/v1/mixtures"
            status, answer = await connection.ask("POST", path, {"name": f"m{k}"})
            assert status == 201, answer
            status, answer = await connection.ask(
                "POST", f"{path}/m{k}/predict", {"forecasts": {"a": 1.0, "b": 2.0}}
            )
            assert status == 200, answer


async def list_mixtures(url: str) -> str:
    """List the mixtures, and ask for the metrics."""
    found = await asyncio.gather(take(url, "/v1/mixtures"), take(url, "/metrics"))
    return ", ".join(f"{status} {size:,} bytes" for status, size in found)


async def fill_pending(url: str) -> None:
    """Let 10,000 rounds with long ids wait."""
    await create(url, "waiting")
    async with Connection(url) as connection:
        for k in range(10):
            lines = [{"forecasts": {"a": 1.0}, "id": f"{k}-{j}-" + "x" * 100} for j in range(1000)]
            status, answer = await connection.ask(
                "POST", "/v1/mixtures/waiting/rounds", {"rounds": lines}
            )
            assert status == 200, answer


async def list_pending(url: str) -> str:
    """List the rounds that wait."""
    status, size = await take(url, "/v1/mixtures/waiting/pending")
    return f"{status}, {size:,} bytes"


async def watch_batches(url: str) -> str:
    """Listen to a mixture while it plays batches of 1,000 rounds."""
    name = f"watched{next(_wide)}"
    await create(url, name)
    async with AsyncExitStack() as stack:
        for _ in range(4):
            await listen(url, f"/v1/mixtures/{name}/events", stack)
        await fill_named(url, name, 8)
        await asyncio.sleep(0.5)
    return "listened"


async def fill_named(url: str, name: str, batches: int, size: int = 1000) -> None:
    """Play some batches."""
    forecasts = rounds(1, size)
    async with Connection(url) as connection:
        for batch in range(batches):
            lines: list[dict[str, Any]] = []
            for k, forecast in enumerate(forecasts):
                number = batch * size + k
                line: dict[str, Any] = {"forecasts": forecast}
                if number:
                    line |= {"ticket": number - 1, "outcome": number % 5 + 0.5}
                lines.append(line)
            status, answer = await connection.ask(
                "POST", f"/v1/mixtures/{name}/rounds", {"rounds": lines}
            )
            assert status == 200, answer[:300]


async def at_once(url: str, path: str, count: int = 8) -> str:
    """Ask for the same on many connections at once."""
    found = await asyncio.gather(*(take(url, path) for _ in range(count)))
    return f"{sorted({status for status, _ in found})}, {sum(size for _, size in found):,} bytes"


async def scan_history(url: str) -> str:
    """Ask for rounds of a time when there were none: the whole log is looked through."""
    return await at_once(url, "/v1/mixtures/long/history?limit=1&since=9e9")


async def long_pages(url: str) -> str:
    """Ask for the longest pages of history."""
    return await at_once(url, "/v1/mixtures/long/history?limit=10000")


WIDE = 6


async def fill_wide(url: str) -> None:
    """Make mixtures that take nearly as much memory as one may."""
    forecasts = named(8000, 1.0, "e")
    async with Connection(url) as connection:
        for k in range(WIDE):
            await create(url, f"w{k}")
            for turn in range(10):
                lines = [
                    {"forecasts": forecasts | {f"e{turn}": 2.0 + j}} | (
                        {"ticket": turn * 10 + j - 1, "outcome": 1.5} if turn + j else {}
                    )
                    for j in range(10)
                ]  # fmt: skip
                status, answer = await connection.ask(
                    "POST", f"/v1/mixtures/w{k}/rounds", {"rounds": lines}
                )
                assert status == 200, answer[:300]


async def correct_wide(url: str) -> str:
    """Correct early outcomes of wide mixtures, so that all later rounds are played again."""

    async def correct(k: int) -> str:
        body = {"ticket": next(_wide) % 60 + 20, "outcome": next(_wide) / 1e3}
        status, answer = await ask(url, "POST", f"/v1/mixtures/w{k}/correct", body)
        return f"{status} {answer.decode()[:100]}"

    return "; ".join(sorted(set(await asyncio.gather(*map(correct, range(WIDE))))))


async def visit_wide(url: str) -> str:
    """Use wide mixtures in turn, which do not all fit in the memory."""
    body = {"forecasts": {"e0": 1.0}}
    paths = [f"/v1/mixtures/w{k}/peek" for k in range(WIDE)]
    found = await asyncio.gather(*(ask(url, "POST", path, body) for path in paths))
    return f"{sorted({status for status, _ in found})}"


async def export_wide(url: str) -> str:
    """Export states of wide mixtures."""
    return await at_once(url, f"/v1/mixtures/w{next(_wide) % WIDE}/state")


async def summarise_wide(url: str) -> str:
    """Ask for summaries of wide mixtures, each after a change."""
    name = f"w{next(_wide) % WIDE}"
    await ask(url, "POST", f"/v1/mixtures/{name}/predict", {"forecasts": {"e0": 1.0}})
    return await at_once(url, f"/v1/mixtures/{name}/summary")


ATTACKS: dict[str, Attack] = {
    "history": Attack(fill_history, read_history),
    "dashboards": Attack(fill_history, open_dashboards),
    "log": Attack(fill_history, export_log),
    "cells": Attack(nothing, grow, restarts=True),
    "snapshot": Attack(nothing, snapshot),
    "season": Attack(nothing, season),
    "long-season": Attack(nothing, long_season),
    "answers": Attack(nothing, many_answers),
    "nested": Attack(nothing, nested),
    "mixtures": Attack(fill_directory, list_mixtures),
    "pending": Attack(fill_pending, list_pending),
    "watched": Attack(nothing, watch_batches),
    "scan": Attack(fill_history, scan_history),
    "long-pages": Attack(fill_history, long_pages),
    "corrections": Attack(fill_wide, correct_wide),
    "visits": Attack(fill_wide, visit_wide),
    "states": Attack(fill_wide, export_wide),
    "summaries": Attack(fill_wide, summarise_wide),
}


Step = Callable[[Connection, int], Awaitable[Any]]


async def play(url: str, pid: int, player: Player, seconds: float) -> tuple[Waits, Waits]:
    """Play and read as the other client; return how long the rounds waited, and the reads."""
    turns = itertools.count()

    async def read(connection: Connection, number: int) -> None:
        del number
        path = READS[next(turns) % len(READS)]
        body = player.bodies[0] if path == "/peek" else None
        method = "GET" if body is None else "POST"
        status, answer = await connection.ask(method, player.path + path, body)
        assert status == 200, answer

    rounds_, reads = await asyncio.gather(
        steady(url, pid, player.step, seconds, RATE, CONNECTIONS),
        steady(url, pid, read, seconds, READ_RATE, READERS),
    )
    return rounds_, reads


async def steady(
    url: str, pid: int, step: Step, seconds: float, rate: float, connections: int
) -> Waits:
    """Send requests at fixed times, however late others were answered."""
    walls: list[float] = []
    works: list[float] = []

    async def one(number: int, connection: Connection) -> None:
        due = begun + number / rate
        while due < until:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            worked, due_now, due = work(pid), due, due + connections / rate
            await step(connection, number)
            walls.append(time.perf_counter() - due_now)
            works.append(work(pid) - worked)

    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(Connection(url)) for _ in range(connections)]
        begun = time.perf_counter()
        until = begun + seconds
        await asyncio.gather(*(one(k, connection) for k, connection in enumerate(opened)))
    wall, worked = np.array(walls) * 1e3, np.array(works) * 1e3
    return Waits(*np.percentile(wall, [50, 99, 100]), *np.percentile(worked, [99, 100]))


def work(pid: int) -> float:
    """Return the processor time that all threads of a process have taken, in seconds."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((thread / "schedstat").read_text("ascii").split()[0])
        except OSError:  # it has ended
            continue
    return total / 1e9


async def strike_until_killed(name: str, url: str) -> None:
    """Repeat an attack; print a line about each strike."""
    while True:
        begun = time.perf_counter()
        answer = await ATTACKS[name].strike(url)
        print(json.dumps([time.perf_counter() - begun, answer[:400]]), flush=True)
        await asyncio.sleep(0.05)


async def under_attack(
    url: str, pid: int, player: Player, name: str, seconds: float
) -> tuple[tuple[Waits, Waits], list[list[Any]]]:
    """Play while another process repeats an attack; return the waits and the strikes."""
    command = [sys.executable, "-m", "benchmarks.serve_attacks", "--strike", name, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        await asyncio.sleep(1.5)  # it starts
        waits = await play(url, pid, player, seconds)
        first = await asyncio.to_thread(child.stdout.readline)
        child.kill()
        lines = [first, *child.stdout]
    return waits, [json.loads(line) for line in lines if line.endswith(b"\n")]


def attacked(name: str, folder: str, seconds: float) -> str:
    """Return a line about an attack."""
    attack = ATTACKS[name]
    db = f"{folder}/{attack.prepare.__name__}.db"

    async def begin(url: str) -> None:
        await create(url, "one")
        await attack.prepare(url)

    if not Path(db).exists():
        with process("--db", db) as (url, child):
            asyncio.run(begin(url))
            child.terminate()
            child.wait(60)
    with process("--db", db) as (url, child):
        player = Player("one")
        player.turn = time.time_ns() // 1000  # its keys are new in a database that was used before
        alone = asyncio.run(play(url, child.pid, player, seconds / 2))
        waits, strikes = asyncio.run(under_attack(url, child.pid, player, name, seconds))
        again = asyncio.run(play(url, child.pid, player, seconds / 2))
        memory = peak(child.pid)
        player.waiting.clear()
    if attack.restarts:
        with process("--db", db) as (url, child):
            asyncio.run(play(url, child.pid, player, 1.0))
            memory = max(memory, peak(child.pid))
    good = all(min(one.most, one.most_worked) < GOAL_MS for one in waits) and memory < GOAL_MB
    told = "\n".join(
        f"    {what}: half / 99 % / all within {during}, without the attack {before} before and "
        f"{after} after"
        for what, during, before, after in zip(
            ("rounds", "reads"), waits, alone, again, strict=True
        )
    )
    return (
        f"{name}: {'good' if good else 'BAD'}; {memory:,.0f} MB; {len(strikes)} strikes of at most "
        f"{max(strikes)[0]:.1f} s: {strikes[0][1]}\n{told}"
    )


def main() -> None:
    """Print a line for each attack."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve_attacks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="for each attack")
    parser.add_argument("--only", action="append", default=[], choices=ATTACKS)
    parser.add_argument("--strike", nargs=2, metavar=("NAME", "URL"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.strike:
        asyncio.run(strike_until_killed(*given.strike))
    with tempfile.TemporaryDirectory() as folder:
        for name in ATTACKS:
            if not given.only or name in given.only:
                print(attacked(name, folder, given.seconds), flush=True)


if __name__ == "__main__":
    main()
