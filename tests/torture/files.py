"""Damaged files: every byte flipped, cut at every length, edits of the JSON and of the journal."""

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from normalhedge.live.sealed_file import sealed
from normalhedge.mixtures import Mixture
from tests.torture.edits import by_depth, edited
from tests.torture.journals import run_journals
from tests.torture.result import Report, Result, isolated
from tests.torture.scenes import blended, numbers, things, warm_up
from tests.torture.snapshot import Snapshot, difference, loaded, snapshot, unusable

VERSION_2 = Path(__file__).with_name("version2.json")
"""A file without a checksum: what is accepted of it need not be the same, but it must be usable."""

Damage = tuple[bytes, str]


def flips(data: bytes, stride: int, rng: np.random.Generator) -> Iterator[Damage]:
    """Yield the file with one byte changed."""
    for k in range(int(rng.integers(stride)), len(data), stride):
        mask = 1 << int(rng.integers(8)) if rng.uniform() < 0.7 else int(rng.integers(1, 256))
        yield data[:k] + bytes([data[k] ^ mask]) + data[k + 1 :], f"byte {k} ^ {mask}"


def cuts(data: bytes, stride: int, rng: np.random.Generator) -> Iterator[Damage]:
    """Yield the file cut off."""
    for k in range(int(rng.integers(stride)), len(data), stride):
        yield data[:k], f"cut to {k} of {len(data)} bytes"


def edits(
    data: bytes, count: int, seed: int, sign: Callable[[str], str] | None
) -> Iterator[Damage]:
    """Yield the file with values changed; with the checksum made good again, if asked for."""
    text = data.decode()
    ways = by_depth(json.loads(text))
    for k in range(count):
        new, what = edited(text, ways, np.random.default_rng([seed, k]))
        if sign is not None:
            new = sign(new)
        yield new.encode("utf-8", "surrogatepass"), f"edit {k} of seed {seed}: {what}"


def judge(path: Path, original: Snapshot | None) -> str | None:
    """Load a damaged file; return what is wrong with what happens, or None.

    What is accepted must be the original, if there is one, and it must be usable.
    """
    mixture, wrong = loaded(path)
    if mixture is None:
        return wrong
    if original is not None:
        wrong = difference(snapshot(mixture, history=False), original)
        wrong = wrong and f"loaded with other content: {wrong}"
    return wrong or unusable(mixture)


def damaged(
    make: Callable[[], Iterator[Damage]], original: Snapshot | None, name: str = "state.json"
) -> Callable[[int, Report], None]:
    """Return the work that loads the damaged files one by one."""

    def work(start: int, report: Report) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            for k, (data, what) in enumerate(make()):
                if k < start:
                    continue
                path.write_bytes(data)
                wrong = judge(path, original)
                report(wrong and f"{what}: {wrong}")

    return work


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Damage files of several mixtures; 100,000 edits in all."""
    result = Result("files")
    warm_up()
    seed = int(rng.integers(1 << 30))
    for name, make in {"numbers": numbers, "things": things, "blended": blended}.items():
        mixture = make()
        with tempfile.TemporaryDirectory() as folder:
            mixture.save(Path(folder) / "state.json")
            data = (Path(folder) / "state.json").read_bytes()
            original = snapshot(Mixture.load(Path(folder) / "state.json"), history=False)
        if wrong := difference(snapshot(mixture, history=False), original):
            result.count(f"{name}, as saved: {wrong}")
        _damage(result, name, data, original, quick, seed)
    _damage(result, "version 2", VERSION_2.read_bytes(), None, quick, seed)
    run_journals(result, quick, seed)
    return result


def _damage(
    result: Result, name: str, data: bytes, original: Snapshot | None, quick: bool, seed: int
) -> None:
    stride, count = (101, 120) if quick else (1, 25_000)
    kinds: dict[str, Callable[[], Iterator[Damage]]] = {
        "flip": lambda: flips(data, stride, np.random.default_rng(seed)),
        "cut": lambda: cuts(data, stride, np.random.default_rng(seed)),
        "edit": lambda: edits(data, count, seed, None),
    }
    for kind, damages in kinds.items():
        isolated(result, f"{kind} of {name}, seed {seed}", damaged(damages, original), 1800.0)
    if original is not None:  # what somebody edits and signs must be usable, if it is accepted
        signed = damaged(lambda: edits(data, count, seed, resealed), None)
        isolated(result, f"signed edit of {name}, seed {seed}", signed, 1800.0)


def resealed(text: str) -> str:
    """Return a file with a checksum that is right; as it is, if it cannot have one."""
    try:
        content = json.loads(text)
        del content["checksum"]
        return sealed(content)
    except (ValueError, TypeError, LookupError, RecursionError):
        return text
