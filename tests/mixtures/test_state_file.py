"""The state and the journal of a stream: sudden ends, damage and mismatches."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.live.journal import journal_of, read_journal
from normalhedge.mixtures.files._saved import read_snapshot
from normalhedge.mixtures.state._operations import Operation
from normalhedge.mixtures.streams import _state_file as state_file
from normalhedge.mixtures.streams._state_file import MixtureFile
from normalhedge.mixtures.streams._stream import Stream
from tests.rules import either


def lines(count: int, seed: int = 0) -> list[str]:
    """Return a stream in which names join, ids and tickets settle, and some lines are refused."""
    rng, out = random.Random(seed), []
    waiting: list[dict[str, Any]] = []
    for k in range(count):
        said: dict[str, Any] = {
            f"m{i}": rng.gauss(0, 1) for i in range(rng.randint(1, 3 + k // 40))
        }
        line: dict[str, Any] = {"forecasts": said}
        if k % 3 == 0:
            line["confidence"] = {"m0": 0.5} if k else None
        if k % 4 == 0:
            line["id"] = f"round {k}"
        waiting.append({"id": line["id"]} if "id" in line else {"ticket": k})
        out.append(json.dumps(line))
        if k % 7 == 0:
            out.append('{"forecasts": {"m0": "x"}}')
        while len(waiting) > 3:
            late = waiting.pop(rng.randrange(3)) | {"outcome": rng.gauss(0, 1)}
            out.append(json.dumps(late))
    return out


def same(one: Mixture, two: Mixture) -> None:
    """Assert that two mixtures are equal to the bit."""
    assert one.names == two.names
    assert one.next_ticket == two.next_ticket
    assert list(one.pending) == list(two.pending)
    assert {k: v for k, v in one.ids.items() if v in one.pending} == two.ids
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one.live, name), getattr(two.live, name))


def kept(
    path: Path, said: list[str], batch: int = 5, hedger: str | None = None
) -> tuple[Mixture, MixtureFile]:
    """Answer lines and keep them, as the command does, up to a sudden end."""
    file = MixtureFile(path)
    mixture = file.load() or Mixture(hedger)
    done: list[Operation] = []
    stream = Stream(mixture, done.append)
    file.begin(mixture)
    for start in range(0, len(said), batch):
        done.clear()
        list(stream.answers(said[start : start + batch]))
        file.append(done)
        file.fold_if_long(mixture)
    return mixture, file


@either
@pytest.mark.parametrize("long", [1 << 23, 2000])
def test_a_sudden_end_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: int, hedger: str | None
) -> None:
    monkeypatch.setattr(state_file, "FOLDED", long)
    monkeypatch.setattr(state_file, "RATIO", 0)
    path, said = tmp_path / "state.json", lines(120)
    whole, _ = kept(tmp_path / "whole.json", said, hedger=hedger)
    for part in (said[:70], said[70:71], [], said[71:]):
        mixture, file = kept(path, part, hedger=hedger)
        same(mixture, Mixture.load(path))
        file.abandon()
    same(whole, Mixture.load(path))
    assert read_snapshot(path).sequence > 0
    assert journal_of(path).exists()
    with pytest.raises(ValueError, match="holds rounds of a stream"):
        Mixture().save(path)
    mixture, file = kept(path, [])
    file.finish(mixture)
    assert not journal_of(path).exists()
    same(whole, Mixture.of(read_snapshot(path).state))
    Mixture.load(path).save(path)


@either
def test_a_kill_between_state_and_journal_counts_nothing_twice(
    tmp_path: Path, hedger: str | None
) -> None:
    path = tmp_path / "state.json"
    mixture, file = kept(path, lines(20), hedger=hedger)
    text = journal_of(path).read_bytes()
    file.finish(mixture)
    journal_of(path).write_bytes(text)  # as if it had not been removed
    same(mixture, Mixture.load(path))
    kept(path, lines(20)[-1:])


@either
def test_a_line_that_was_not_written_to_its_end_is_cut_off(
    tmp_path: Path, hedger: str | None
) -> None:
    path = tmp_path / "state.json"
    kept(path, lines(6), batch=1, hedger=hedger)
    text = journal_of(path).read_bytes()
    found = read_journal(journal_of(path)).operations
    for end in range(len(text)):
        journal_of(path).write_bytes(text[:end])
        left = read_journal(journal_of(path)).operations
        whole = max(text[: end + 1].count(b"\n") - 1, 0)
        assert left == found[:whole]
        if end % 9 == 0:
            Mixture.load(path)
    mixture, _ = kept(path, ['{"m0": 1.0}'])
    same(mixture, Mixture.load(path))


def test_damage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    kept(path, lines(6))
    journal = journal_of(path)
    text = journal.read_bytes()
    for place in range(len(text)):
        journal.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
        with pytest.raises(ValueError, match=r"journal is (damaged|not)"):
            read_journal(journal)
    first, *rest = text.splitlines(keepends=True)
    for changed in (rest[:2] + rest[3:], rest[1:], [*rest, rest[-1]], [rest[1], rest[0]]):
        journal.write_bytes(b"".join([first, *changed]))
        with pytest.raises(ValueError, match=r"is damaged|begins at 2, not at 1"):
            Mixture.load(path)
    journal.write_bytes(b"".join(rest))
    with pytest.raises(ValueError, match="is not the journal of a stream"):
        Mixture.load(path)


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    for path in (one, two):
        kept(path, lines(3))
    journal_of(one).write_bytes(journal_of(two).read_bytes())
    with pytest.raises(ValueError, match="belongs to another state"):
        MixtureFile(one).load()
    one.unlink()
    with pytest.raises(ValueError, match=r"there is .*journal, but not the state"):
        MixtureFile(one).load()
    two_text = two.read_text()
    journal_of(two).unlink()
    mixture, file = kept(two, lines(9)[5:])
    file.finish(mixture)
    kept(two, lines(3)[:1])
    two.write_text(two_text)  # an older one
    with pytest.raises(ValueError, match=r"begins at|does not fit"):
        MixtureFile(two).load()


def test_the_journal_is_as_private_as_its_state(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    Mixture().save(path)
    path.chmod(0o600)
    kept(path, lines(2))
    assert journal_of(path).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("torn", [0, 7])
def test_a_tail_of_zeros_is_told(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "state.json"
    kept(path, lines(6), batch=1)
    whole = journal_of(path).read_bytes()
    before = Mixture.load(path)
    journal_of(path).write_bytes(whole + b"0123456"[:torn] + bytes(100))
    with pytest.warns(RuntimeWarning, match="ends in 100 zero bytes, as a power cut leaves them"):
        same(before, Mixture.load(path))
