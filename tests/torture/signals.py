"""SIGTERM and SIGINT into the real command at random moments, while lines stream."""

import json
import os
import select
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.torture.command import Commands, Running, Session, commands
from tests.torture.ledger import Ledger, Line
from tests.torture.result import Result

LINES = 3000
CHAIN = 5
"""How often the same state is continued."""

GOOD = {0, 130, 143, -signal.SIGINT, -signal.SIGTERM}


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Send 2,000 signals."""
    return tried("signals", 8 if quick else 2000, rng, [signal.SIGTERM, signal.SIGINT])


def tried(name: str, count: int, rng: np.random.Generator, numbers: list[signal.Signals]) -> Result:
    """End so many streams by signals, and look at what is left."""
    result = Result(name)
    answered = 0
    with commands() as starter:
        while result.tried < count:
            seed = int(rng.integers(1 << 30))
            with tempfile.TemporaryDirectory() as folder:
                answered += _chain(starter, Path(folder), seed, numbers, result)
    result.notes.append(f"{answered:,} lines answered")
    return result


def _chain(
    starter: Commands, folder: Path, seed: int, numbers: list[signal.Signals], result: Result
) -> int:
    """Continue one state a few times, each ended by a signal; until something is wrong."""
    rng, ledger, answered = np.random.default_rng(seed), Ledger(), 0
    newcomers = float(rng.choice([0.0, 0.05, 0.5]))
    for link in range(CHAIN):
        number = numbers[int(rng.integers(len(numbers)))]
        real = rng.uniform() < 0.03
        session = Session(starter, folder, folder / "state.json", real=bool(real))
        lines = ledger.lines(LINES, rng, newcomers)
        if rng.uniform() < 0.7:
            how, delay = "file", float(rng.uniform(0.0, 0.12)) + 0.5 * real
            ended = _from_file(session, lines, number, delay)
        else:
            how, delay = "pipe", float(rng.uniform(0.0, 0.06)) + 0.5 * real
            ended = _through_pipes(session, lines, number, delay)
        wrong, count = _judge(session, ledger, lines, ended, number, rng)
        answered += count
        place = f"seed {seed} #link {link}, {number.name} after {delay * 1e3:.1f} ms, by {how}"
        result.count(wrong and f"{place}, newcomers {newcomers}, {count} answered: {wrong}")
        if wrong:
            break
    return answered


def _from_file(
    session: Session, lines: list[Line], number: int, delay: float
) -> tuple[int | None, list[Line]]:
    running = session.start([json.dumps(line) for line in lines])
    time.sleep(delay)
    running.send(number)
    code = running.code()
    return code, session.answers()


def _through_pipes(
    session: Session, lines: list[Line], number: int, delay: float
) -> tuple[int | None, list[Line]]:
    """Write lines as fast as they are taken, and read the answers, until the end."""
    (given, feed), (read, out) = os.pipe(), os.pipe()
    with (session.folder / "err").open("wb") as err:
        running = session.starter.start(session.words, [given, out, err], real=session.real)
    os.close(given)
    os.close(out)
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    os.set_blocking(feed, False)
    heard, sent = _converse(running, data, (feed, read), number, time.monotonic() + delay)
    os.close(read)
    code = running.code()
    whole, _, _ = heard.decode().rpartition("\n")
    del sent
    return code, [json.loads(line) for line in whole.splitlines()]


def _converse(
    running: Running, data: bytes, ends: tuple[int, int], number: int, due: float
) -> tuple[bytes, bool]:
    feed, read = ends
    heard, sent, feeding = b"", False, True
    while True:
        if not sent and time.monotonic() >= due:
            running.send(number)
            sent = True
        wait = 0.05 if sent else max(min(due - time.monotonic(), 0.05), 0.0)
        ready, free, _ = select.select([read], [feed] if feeding else [], [], wait)
        if free:
            try:
                data = data[os.write(feed, data[:4096]) :]
                feeding = bool(data)
            except BrokenPipeError:
                feeding = False
            if not feeding:
                os.close(feed)
        if ready:
            more = os.read(read, 1 << 16)
            if not more:
                break
            heard += more
        if sent and time.monotonic() > due + 120.0:
            break
    if feeding:
        os.close(feed)
    return heard, sent


def _judge(
    session: Session,
    ledger: Ledger,
    lines: list[Line],
    ended: tuple[int | None, list[Line]],
    number: int,
    rng: np.random.Generator,
) -> tuple[str | None, int]:
    """Return what is wrong with what a stream left behind, and how many lines it answered."""
    (code, answers), said = ended, session.said()
    killed = number == signal.SIGKILL
    wrong = None
    if code is None:
        wrong = f"it did not end: {session.starter.stuck}"
    elif code not in GOOD | ({-signal.SIGKILL} if killed else set()):
        wrong = f"exit code {code}: {said[-200:]!r}"
    elif "Traceback" in said and 0 < len(answers) < len(lines):  # else Python began or ended
        wrong = f"a traceback: {said[-200:]!r}"
    wrong = wrong or ledger.check(lines, answers)
    rest = lines[len(answers) :] if killed else []
    return wrong or _continue(session, ledger, rest, rng), len(answers)


def _continue(
    session: Session, ledger: Ledger, rest: list[Line], rng: np.random.Generator
) -> str | None:
    """Start again on the same state; return what is wrong with it, or None.

    ``rest`` are lines that may have been taken, though they were not answered.
    """
    wrong = ledger.catch_up(rest, session.state)
    if wrong:
        return wrong
    again, wait = ledger.probes(rng)
    first = ledger.probe()
    asked: list[Line] = [first, *again, *wait]
    running = session.start([json.dumps(line) for line in asked])
    code, answers = running.code(), session.answers()
    if code is None or len(answers) != len(asked):
        count = f"{len(answers)} answers to {len(asked)} probes"
        return f"started again: exit code {code}, {count}: {session.said()[-200:]!r}"
    wrong = ledger.check([first], answers[:1])
    if wrong:
        return wrong
    for line, answer in zip(again, answers[1:], strict=False):
        if "settled" in answer:
            return f"ticket {line['ticket']} was settled twice"
    for line, answer in zip(wait, answers[1 + len(again) :], strict=True):
        if line["ticket"] in ledger.mixture.pending:
            ledger.take(line)
            if _key(answer) != {"settled": line["ticket"]}:
                return f"ticket {line['ticket']} was lost: {answer}"
    ledger.ids = {k: v for k, v in ledger.ids.items() if v in ledger.mixture.pending}
    return None


def _key(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "line"}
