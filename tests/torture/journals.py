"""Damaged journals: cut, they hold what came before; changed anywhere else, they are refused."""

import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from normalhedge.live.journal import journal_of
from normalhedge.mixtures import Mixture
from tests.torture.command import Session, commands
from tests.torture.ledger import Ledger
from tests.torture.result import Report, Result, isolated
from tests.torture.snapshot import Snapshot, difference, loaded, snapshot, unusable

LINES = 40

Damaged = tuple[bytes, set[int], str]
"""A journal, which of the states it may give if it is accepted, and what was done to it."""


def killed(seed: int) -> tuple[bytes, bytes, list[Snapshot]]:
    """Return the state and the journal that a killed stream leaves; and the states on its way."""
    ledger = Ledger()
    lines = ledger.lines(LINES, np.random.default_rng(seed), 0.3)
    with commands() as starter, tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state.json"
        session = Session(starter, Path(folder), state)
        given, feed = os.pipe()
        with (Path(folder) / "out").open("wb") as out, (Path(folder) / "err").open("wb") as err:
            running = starter.start(session.words, [given, out, err])
        os.close(given)
        os.write(feed, "".join(json.dumps(line) + "\n" for line in lines).encode())
        until = time.monotonic() + 20.0
        while len(session.answers()) < LINES and time.monotonic() < until:
            time.sleep(0.005)
        running.send(signal.SIGKILL)
        running.code()
        os.close(feed)
        data, journal = state.read_bytes(), journal_of(state).read_bytes()
    states = [_seen(ledger.mixture)]
    for line in lines:
        ledger.take(line)
        states.append(_seen(ledger.mixture))
    return data, journal, states


def _seen(mixture: Mixture) -> Snapshot:
    """Return all but the ids, which the mixture beside the stream has not."""
    return {key: part for key, part in snapshot(mixture, history=False).items() if key != "ids"}


def damages(journal: bytes, quick: bool, seed: int) -> Iterator[Damaged]:
    """Yield journals that were cut, flipped, and whose lines were moved about."""
    lines = journal.splitlines(keepends=True)
    assert len(lines) == LINES + 1, f"{len(lines)} lines for {LINES} operations"
    edges = np.cumsum([0, *(len(line) for line in lines)])
    last, stride = len(lines) - 1, 67 if quick else 1
    yield journal, {last}, "as it was"
    for k in range(0, len(journal), stride):
        whole = int(np.searchsorted(edges, k, "right")) - 2
        nearly = int(np.searchsorted(edges, k + 1, "right")) - 2
        yield journal[:k], {max(whole, 0), max(nearly, 0)}, f"cut to {k} of {len(journal)} bytes"
    for repeat in range(1 if quick else 4):
        rng = np.random.default_rng([seed, repeat])
        for k in range(int(rng.integers(stride)), len(journal), stride):
            mask = int(rng.integers(1, 256))
            changed = journal[:k] + bytes([journal[k] ^ mask]) + journal[k + 1 :]
            fine = {last, last - 1} if k >= edges[last] else {last}
            yield changed, fine, f"byte {k} ^ {mask}"
    for k in range(1 if not quick else 11, last, 1 if not quick else 13):
        yield b"".join(lines[:k] + lines[k + 1 :]), {last}, f"line {k} dropped"
        yield b"".join([*lines[:k], lines[k], *lines[k:]]), {last}, f"line {k} doubled"
        swapped = [*lines[:k], lines[k + 1], lines[k], *lines[k + 2 :]]
        yield b"".join(swapped), {last}, f"lines {k} and {k + 1} swapped"
    for more in (b"\n", b"x\n", b"\0" * 4096, b"{}\n", lines[0], lines[last], b"\xff" * 30):
        yield journal + more, {last}, f"{more[:20]!r} appended"


def judge(path: Path, states: list[Snapshot], fine: set[int]) -> str | None:
    """Load a state beside a damaged journal; return what is wrong, or None."""
    mixture, wrong = loaded(path)
    if mixture is None:
        return wrong
    found = _seen(mixture)
    differ = [difference(found, states[k]) for k in sorted(fine)]
    if None not in differ:
        return f"loaded with other content: {differ[-1]}"
    return unusable(mixture, summary=False)


def run_journals(result: Result, quick: bool, seed: int) -> None:
    """Damage the journal of a killed stream."""
    data, journal, states = killed(seed)

    def work(start: int, report: Report) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.json"
            path.write_bytes(data)
            for k, (changed, fine, what) in enumerate(damages(journal, quick, seed)):
                if k >= start:
                    journal_of(path).write_bytes(changed)
                    wrong = judge(path, states, fine)
                    report(wrong and f"{what}: {wrong}")

    isolated(result, f"journal, seed {seed}", work, 1800.0)
