"""Two and eight processes on one state file: one works, the others say why they do not."""

import contextlib
import os
import select
import signal
import tempfile
import time
from pathlib import Path
from typing import IO

import numpy as np

from normalhedge.mixtures import Mixture
from tests.torture.command import Commands, Running, commands
from tests.torture.result import Result, is_sentence

SECONDS = 10.0


class Rival:
    """A command on the common state whose stdin is kept open."""

    def __init__(self, starter: Commands, folder: Path, number: int, *, real: bool) -> None:
        self.error = folder / f"err{number}"
        given, self.feed = os.pipe()
        self.read, out = os.pipe()
        with self.error.open("wb") as err:
            files: list[IO[bytes] | int] = [given, out, err]
            words = ["blend", "-", "--state", str(folder / "state.json")]
            self.running: Running = starter.start(words, files, real=real)
        os.close(given)
        os.close(out)
        self.heard = b""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.feed, b'{"a": 1.0, "b": 2.0}\n')

    def listen(self, seconds: float) -> None:
        """Read answers, until there is one or the process has ended."""
        until = time.monotonic() + seconds
        while b"\n" not in self.heard and time.monotonic() < until:
            ready, _, _ = select.select([self.read], [], [], 0.01)
            if ready:
                more = os.read(self.read, 1 << 16)
                if not more:
                    return
                self.heard += more

    def close(self, number: int | None) -> int | None:
        """End it, by a signal or by the end of its lines; return the exit code."""
        if number is not None:
            self.running.send(number)
        os.close(self.feed)
        code = self.running.code()
        os.close(self.read)
        return code

    @property
    def said(self) -> str:
        """What it wrote to stderr."""
        return self.error.read_text("utf-8", errors="replace").strip()


def _contest(
    starter: Commands, folder: Path, count: int, end: int | None, *, real: bool
) -> str | None:
    """Start so many at once, and end them; return what is wrong, or None."""
    path = folder / "state.json"
    before = Mixture.load(path).next_ticket if path.exists() else 0
    rivals = [Rival(starter, folder, k, real=real) for k in range(count)]
    for rival in rivals:
        rival.listen(SECONDS)
    at_work = [rival for rival in rivals if rival.heard]
    wrong = None if len(at_work) == 1 else f"{len(at_work)} of {count} work on one file"
    for rival in rivals:
        code = rival.close(end if rival in at_work else None)
        refused = code == 2 and is_sentence(rival.said)
        if rival not in at_work and wrong is None and not refused:
            wrong = f"exit code {code}: {rival.said[-200:]!r}"
    if wrong is None and f'"ticket": {before}'.encode() not in at_work[0].heard:
        wrong = f"ticket {before} was due: {at_work[0].heard[:80]!r}"
    after = Rival(starter, folder, 0, real=real)  # the file is free again, however that one ended
    after.listen(SECONDS)
    code = after.close(None)
    if wrong is None and (code != 0 or f'"ticket": {before + 1}'.encode() not in after.heard):
        wrong = f"afterwards: exit code {code}, {after.heard[:60]!r} {after.said[-200:]!r}"
    return wrong


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Let two and eight processes begin at once; the one at work ends well, by SIGTERM, by -9."""
    result = Result("processes")
    ends: list[int | None] = [None, signal.SIGTERM, signal.SIGKILL]
    with commands() as starter:
        for k in range(4 if quick else 120):
            count = (2, 8)[k % 2]
            end = ends[int(rng.integers(len(ends)))]
            real = k % 30 == 29
            with tempfile.TemporaryDirectory() as folder:
                for again in range(1 if quick else 2):
                    wrong = _contest(starter, Path(folder), count, end, real=real)
                    what = f"{count} processes #{k}.{again}, ended by {end}"
                    result.count(wrong and f"{what}: {wrong}")
                    if wrong:
                        break
    return result
