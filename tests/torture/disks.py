"""Full disks and folders that cannot be written: a sentence, and the old file stays."""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from normalhedge.mixtures import Mixture
from tests.torture.command import Commands, Session, commands
from tests.torture.ledger import Ledger
from tests.torture.result import Result, is_sentence, one_line
from tests.torture.scenes import numbers
from tests.torture.snapshot import difference, snapshot

SIZE = 64 << 10


@contextmanager
def mounted(size: int = SIZE) -> Iterator[Path]:
    """Mount a small file system for a while, of 64 kB if nothing else is said."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "disk"
        place.mkdir()
        options = ["-o", f"size={size}"]
        mount = ["mount", "-t", "tmpfs", *options, "torture", str(place)]
        subprocess.run(mount, check=True, capture_output=True)
        try:
            yield place
        finally:
            subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)


def can_mount() -> bool:
    """Tell whether this process may mount."""
    if os.geteuid():
        return False
    try:
        with mounted():
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def fill(place: Path, leave: int, size: int = SIZE) -> None:
    """Fill a disk but for so many bytes."""
    filler = place / "filler"
    filler.unlink(missing_ok=True)
    with filler.open("wb", buffering=0) as file:
        try:
            for _ in range(2 * size // 512):
                file.write(bytes(512))
        except OSError:
            pass
        file.truncate(max(file.tell() - leave, 0))


def _saved(mixture: Mixture, path: Path) -> tuple[bool, str | None]:
    """Save; return whether it worked, and what is wrong with how it failed."""
    try:
        mixture.save(path)
    except (OSError, ValueError) as error:
        return False, None if is_sentence(str(error)) else f"no sentence: {str(error)[:200]!r}"
    except Exception as error:
        return False, one_line(error)
    return True, None


def _save_there(place: Path, hinder: Callable[[], object]) -> str | None:
    """Save where it is hindered; the old file must stay, and nothing beside it."""
    path = place / "state.json"
    old, new = numbers(), numbers()
    old.save(path)
    before = sorted(one.name for one in place.iterdir())
    for k in range(60):
        new.update(new.predict({f"n{j}": 1.0 + j for j in range(k + 1)}).ticket, 1.0)
    hinder()
    done, wrong = _saved(new, path)
    if wrong:
        return wrong
    expected = snapshot(new if done else old, history=False)
    try:
        wrong = difference(snapshot(Mixture.load(path), history=False), expected)
    except ValueError as error:
        return f"saved={done}, then {error}"
    left = {one.name for one in place.iterdir()} - {*before, "filler"}
    return wrong or (f"left behind: {sorted(left)}" if left and not done else None)


def _stream_there(
    starter: Commands, place: Path, rng: np.random.Generator, hinder: Callable[[], object],
    relieve: Callable[[], object],
) -> str | None:  # fmt: skip
    """Stream where it is hindered: what was answered is there when the hindrance is gone."""
    ledger = Ledger()
    with tempfile.TemporaryDirectory() as folder:
        session = Session(starter, Path(folder), place / "state.json")
        session.start([json.dumps({"a": 1.0, "b": 2.0})]).code()
        wrong = ledger.check([{"a": 1.0, "b": 2.0}], session.answers())
        hinder()
        lines = ledger.lines(1500, rng, 0.05)
        code = session.start([json.dumps(line) for line in lines]).code()
        answers, said = session.answers(), session.said().strip()
        if wrong is None and "Traceback" in said:
            wrong = f"a traceback: {said[-200:]!r}"
        if wrong is None and code != 2 and len(answers) < len(lines):
            wrong = f"exit code {code}, {len(answers)} answers: {said[-200:]!r}"
        wrong = wrong or ledger.check(lines, answers)
        relieve()
        if wrong:
            return wrong
        wrong = ledger.catch_up(lines[len(answers) :], session.state)
        if wrong is None:
            probe = ledger.probe()
            session.start([json.dumps(probe)]).code()
            wrong = ledger.check([probe], session.answers()) or (
                None if session.answers() else session.said().strip()[-200:]
            )
        return wrong and f"exit code {code}, {len(answers)} answered: {wrong}"


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Save and stream on a disk of 64 kB that is nearly full, and on one that is read-only."""
    result = Result("disks")
    with commands() as starter:
        if not can_mount():
            result.notes.append("full disks and read-only mounts skipped: they need root")
        else:
            for _ in range(1 if quick else 60):
                _try_disk(result, starter, rng)
        if os.geteuid():
            with tempfile.TemporaryDirectory() as folder, ExitStack() as after:
                after.callback(Path(folder).chmod, 0o755)
                wrong = _save_there(Path(folder), lambda: Path(folder).chmod(0o555))
                result.count(wrong and f"save, read-only folder: {wrong}")
    return result


def _try_disk(result: Result, starter: Commands, rng: np.random.Generator) -> None:
    leave = int(rng.integers(0, 30_000))
    with mounted() as place:
        wrong = _save_there(place, lambda: fill(place, leave))
        result.count(wrong and f"save #with {leave} bytes left: {wrong}")
    with mounted() as place:
        wrong = _stream_there(
            starter, place, rng, lambda: fill(place, leave), (place / "filler").unlink
        )
        result.count(wrong and f"stream #with {leave} bytes left: {wrong}")
    with mounted() as place:
        wrong = _save_there(place, lambda: _remount(place, "ro"))
        result.count(wrong and f"save #on a read-only mount: {wrong}")
    with mounted() as place:
        wrong = _stream_there(
            starter, place, rng, lambda: _remount(place, "ro"), lambda: _remount(place, "rw")
        )
        result.count(wrong and f"stream #on a read-only mount: {wrong}")


def _remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True, capture_output=True)
