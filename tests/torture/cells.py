"""Damaged cells of ``paper`` and ``compare``, and what killed processes leave behind."""

import os
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary import whole_files
from normalhedge.research._cells import Cells
from tests.torture.files import Damage, cuts, flips
from tests.torture.result import Report, Result, isolated, one_line
from tests.torture.snapshot import difference

KEY = {"setting": "torture", "seed": 1}
FOREIGN = (".part-mine.txt", ".part-", ".part-abc.json", ".partial", "notes.part-1")
"""Files of other people's."""


def content() -> dict[str, Any]:
    """Return the arrays of a cell."""
    return {
        "regret": np.arange(12.0).reshape(3, 4),
        "hedgers": np.array(["normal-hedge", "hedge"]),
        "runs": np.array(7),
    }


def scrambles(data: bytes, count: int, seed: int) -> Iterator[Damage]:
    """Yield the file with several changes: bytes, pieces swapped, doubled or cleared."""
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 5))):
            a, b = sorted(int(x) for x in rng.integers(0, len(changed) + 1, 2))
            b = min(b, a + int(rng.integers(1, 64)))
            kind = int(rng.integers(4))
            if kind == 0:
                changed[a:b] = rng.bytes(b - a)
            elif kind == 1:
                changed[a:a] = changed[a:b]
            elif kind == 2:
                changed[a:b] = bytes(b - a)
            else:
                del changed[a:b]
        yield bytes(changed), f"scramble {k} of seed {seed}"


def damaged(quick: bool, seed: int) -> Any:
    """Return the work that loads damaged cells."""

    def work(start: int, report: Report) -> None:
        warnings.simplefilter("ignore")
        with tempfile.TemporaryDirectory() as folder:
            said: list[str] = []
            cells = Cells(Path(folder), said.append)
            cells.save("cell", KEY, content())
            path = Path(folder) / "cell.npz"
            data = path.read_bytes()
            rng = np.random.default_rng(seed)
            ways = [flips(data, 1 if not quick else 9, rng) for _ in range(1 if quick else 8)]
            ways += [cuts(data, 1 if not quick else 9, rng)]
            ways += [scrambles(data, 200 if quick else 50_000, seed)]
            all_ = (damage for way in ways for damage in way)
            for k, (changed, what) in enumerate(all_):
                if k >= start:
                    path.write_bytes(changed)
                    said.clear()
                    wrong = _load(cells, said)
                    report(wrong and f"{what}: {wrong}")

    return work


def _load(cells: Cells, said: list[str]) -> str | None:
    try:
        found = cells.load("cell", KEY)
    except Exception as error:
        return one_line(error)
    if found is None:
        return "no word of it" if any("\n" in one for one in said) else None
    return difference(dict(sorted(found.items())), dict(sorted(content().items())))


def _leave(folder: Path) -> None:
    """Be killed while writing a cell."""
    child = os.fork()
    if child == 0:
        path = folder / "cell.npz"
        whole_files.write_whole(path, lambda _: os.kill(os.getpid(), signal.SIGKILL))
    os.waitpid(child, 0)


def leftovers(start: int, report: Report) -> None:
    """Look at what is swept: what a killed process left, and nothing else."""
    if start:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in FOREIGN:
            (folder / one).write_text("mine", "utf-8")
        before = {path.name for path in folder.iterdir()}
        _leave(folder)
        left = {path.name for path in folder.iterdir()} - before
        Cells(folder, lambda _: None)
        after = {path.name for path in folder.iterdir()}
        gone = sorted(before - after)
        report(f"Cells removed files of other people's: {gone}" if gone else None)
        stays = sorted(left & after)
        report(f"what a killed process left stays: {stays}" if stays else None)
    with tempfile.TemporaryDirectory() as name:
        report(_beside_a_writer(Path(name)))


def _beside_a_writer(folder: Path) -> str | None:
    """Open the folder while another process writes a cell there; return what is wrong."""
    (read, begun), (opened, done) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.close(done)

        def write(part: Path) -> None:
            part.write_bytes(b"half")
            os.write(begun, b"1")
            os.read(opened, 1)
            with part.open("ab") as file:
                file.write(b" and half")

        try:
            whole_files.write_whole(folder / "cell.npz", write)
        except BaseException:
            os._exit(1)
        os._exit(0)
    os.close(begun)
    os.close(opened)
    os.read(read, 1)
    Cells(folder, lambda _: None)
    os.close(done)
    os.close(read)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    path = folder / "cell.npz"
    if code or not path.exists() or path.read_bytes() != b"half and half":
        return "Cells removed what another process was writing"
    return None


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Damage a cell 50,000 times; leave files behind."""
    result = Result("cells")
    seed = int(rng.integers(1 << 30))
    isolated(result, f"cell, seed {seed}", damaged(quick, seed), 1800.0)
    isolated(result, "leftovers", leftovers, 60.0)
    return result
