"""Files: every change is refused, what is replaced keeps its mode, owner and links."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import Mixture, _files, blend
from normalhedge._files import sweep, write_whole
from normalhedge._sealed import sealed
from normalhedge.experiments.cells import Cells
from normalhedge.mixtures.restored import ENTRIES
from normalhedge.mixtures.stream import Stream
from tests.rules import SINGLE, either

HERE = Path(__file__).parent
OLD = [
    HERE / "data" / "mixture-1.json",
    *sorted((HERE / "frozen").glob("saved_v*.json")),
]


def busy(path: Path, mixture: Mixture | None = None) -> str:
    """Save a mixture with a bit of everything; return the text of the file."""
    stream = Stream(mixture or Mixture("squint", even=0.1, include=["mean"]))
    lines: list[dict[str, Any]] = [{"forecasts": {"a": 1.0, "é": 2.0}, "id": k} for k in range(4)]
    lines += [{"id": 1, "outcome": 1.5}, {"forecasts": {"a": 1, "b": 2}, "confidence": {"a": 0.5}}]
    list(stream.answers(map(json.dumps, lines)))
    stream.mixture.save(path)
    return path.read_text()


def of_a_table(path: Path) -> dict[str, Any]:
    """Save a mixture that waits for the outcomes of a table; return its content, as version 2."""
    days = list(range(6))
    table = pa.table(
        {"ds": days, "y": [*map(float, days[:4]), None, None], "a": 1.0 * np.array(days)}
    )
    blend(table, "y", time="ds", lag=1, hedger=SINGLE).mixture.save(path)
    return version_2(json.loads(path.read_text()))


def version_2(found: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in found.items() if k in ENTRIES[2]} | {"version": 2}


def refused(path: Path, text: str | bytes) -> str:
    """Return the sentence with which a file is refused."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=path.name) as caught:
        Mixture.load(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return str(caught.value)


def test_every_byte_counts(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    text = busy(path).encode()
    for place in range(0, len(text), 3):  # `make torture` tries them all
        flip = (1, 32)[place % 2]
        refused(path, text[:place] + bytes([text[place] ^ flip]) + text[place + 1 :])
    for end in range(0, len(text), 17):
        refused(path, text[:end])
    for changed in (text + b"\n", b" " + text, text.replace(b", ", b",", 1), text + text):
        refused(path, changed)
    path.write_bytes(text)
    again = tmp_path / "again.json"
    Mixture.load(path).save(again)
    assert again.read_bytes() == text


def test_some_bytes_of_a_long_file(tmp_path: Path) -> None:
    path, again = tmp_path / "state.json", tmp_path / "again.json"
    text = busy(path, Mixture()).encode()
    Mixture.load(path).save(again)
    assert again.read_bytes() == text
    for place in range(0, len(text), 97):
        refused(path, text[:place] + bytes([text[place] ^ (1, 32)[place % 2]]) + text[place + 1 :])
    for end in range(0, len(text), 997):
        refused(path, text[:end])


def test_a_checksum_that_is_missing_or_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    found = json.loads(busy(path))
    assert found["version"] == 3
    assert found["sequence"] == 0
    assert next(iter(found)) == "checksum"
    assert "was changed after it was written" in refused(path, json.dumps(found | {"rounds": 7}))
    assert "'checksum' is not an entry" in refused(path, json.dumps(found | {"version": 2}))
    del found["checksum"]
    assert "was changed after it was written" in refused(path, json.dumps(found))
    path.write_text(json.dumps(version_2(found)))
    assert Mixture.load(path).rounds == 5
    path.write_text(sealed(found))
    assert Mixture.load(path).rounds == 5


@pytest.mark.parametrize("old", OLD, ids=lambda path: path.stem)
def test_earlier_versions_are_read_and_become_version_3(old: Path, tmp_path: Path) -> None:
    mixture, path = Mixture.load(old), tmp_path / "state.json"
    mixture.save(path)
    again = Mixture.load(path)
    assert json.loads(path.read_text())["version"] == 3
    for ticket, waiting in mixture.pending.items():
        for mine, other in zip(waiting, again.pending[ticket], strict=True):
            np.testing.assert_array_equal(mine, other)
    assert (mixture.weights == again.weights).all()


def walk(found: Any) -> list[tuple[Any, Any]]:
    """Return every place of nested lists and dicts."""
    pairs = found.items() if isinstance(found, dict) else enumerate(found)
    places = []
    for key, value in list(pairs):
        places.append((found, key))
        if isinstance(value, dict | list):
            places += walk(value)
    return places


WRONG: list[Any] = [None, True, "x", [], {}, [[]], -1, 10**30, 1e308, -0.5, [None], "1.5"]


@pytest.mark.filterwarnings("ignore:infinite forecasts")
@pytest.mark.parametrize("old", OLD[1:], ids=lambda path: path.stem)
def test_what_is_accepted_of_earlier_versions_can_be_used(old: Path, tmp_path: Path) -> None:
    text, path = old.read_text(), tmp_path / "state.json"
    rng, accepted = np.random.default_rng(0), 0
    for _ in range(150):
        found = json.loads(text)
        places = walk(found)
        where, key = places[rng.integers(len(places))]
        where[key] = WRONG[rng.integers(len(WRONG))]
        path.write_text(json.dumps(found))
        try:
            mixture = Mixture.load(path)
        except ValueError:
            continue
        accepted += 1
        str(mixture.summary())
        mixture.save(path)
        for ticket, waiting in list(mixture.pending.items()):
            keys = waiting.keys
            outcome: Any = 0.5
            if keys is not None:
                outcome = [0.5] * len(keys) if isinstance(keys, range) else dict.fromkeys(keys, 0.5)
            mixture.update(ticket, outcome)
        mixture.predict(dict.fromkeys(mixture.names, 1.0))
    assert accepted < 40  # numbers within their range


EDITS: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda f: f["pending"][0].update(confidence=[[]]), "confidence must lie in"),
    (lambda f: f["pending"][0].update(confidence=None), "confidence must have shape"),
    (lambda f: f["pending"][0]["values"][0].__setitem__(0, "1.0"), "values must lie in"),
    (lambda f: f["pending"][0].update(forecasts=[]), "has no forecasts"),
    (lambda f: f["pending"].append(f["pending"][0]), "out of order"),
    (lambda f: f["pending"][0].update(number=f["rounds"]), "number must be below"),
    (lambda f: f["pending"][0].update(number=True), "number must be a whole number"),
    (lambda f: f["pending"][0].update(more=1), "must have blend, confidence"),
    (lambda f: f["pending"][0]["blend"].update(known=[1, 2]), "times of its outcomes"),
    (lambda f: f["pending"][0]["blend"].update(time="x"), "a time must be"),
    (lambda f: f["pending"][0]["blend"].update(game=1), "game must be below 1"),
    (lambda f: f["pending"][0]["blend"].update(due=-1), "due must be a whole number"),
    (lambda f: f["last_times"].append([0, 3]), "two last times"),
    (lambda f: f["last_times"][0].__setitem__(1, "x"), "a time must be"),
    (lambda f: f["last_times"][0].__setitem__(1, float("inf")), "is not a number of JSON"),
    (lambda f: f.update(time_kind="years"), "time_kind must be"),
    (lambda f: f.update(ids={"1": 99}), "id must be below"),
    (lambda f: f.update(ids={"one": 1}), "cannot be read"),
    (lambda f: f.update(joined_late=0), "joined_late must be"),
    (lambda f: f.update(max_pending=True), "max_pending must be"),
    (lambda f: f.update(history=-1), "history must be"),
    (lambda f: f.update(items=["", ""]), "different words"),
    (lambda f: f.update(more=1), "'more' is not an entry of version 2"),
    (lambda f: f.pop("time_kind"), "'time_kind' is missing"),
    (lambda f: f["recipe"].update(gradient=1), "its gradient must not be 1"),
    (lambda f: f["recipe"].update(combine=None), "its combine must not be None"),
    (lambda f: f["marks"][0][0].__setitem__(0, 1.0), "marks must lie in"),
]


@pytest.mark.parametrize(("edit", "word"), EDITS)
def test_version_2_is_checked_entry_by_entry(
    tmp_path: Path, edit: Callable[[dict[str, Any]], object], word: str
) -> None:
    path = tmp_path / "state.json"
    found = of_a_table(path)
    path.write_text(json.dumps(found))
    assert len(Mixture.load(path).pending) == 2
    edit(found)
    assert word in refused(path, json.dumps(found))


def test_squint_was_not_in_version_1(tmp_path: Path) -> None:
    found = json.loads(OLD[0].read_text())
    found["recipe"]["hedger"] = {"kind": "Squint"}
    assert "version 1 did not have the hedger Squint" in refused(
        tmp_path / "s.json", json.dumps(found)
    )


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"format": ' * 50_000, "nested too deeply"),
        ("1" * 10_000, "not a whole JSON file"),
        (b"\xff\xfe", "not a whole JSON file"),
        ('{"format": NaN}', "NaN is not a number"),
        ("[]", "does not hold a mixture"),
        ('{"format": "normalhedge mixture", "version": true}', "has version True"),
    ],
)
def test_what_is_no_state_at_all(tmp_path: Path, text: str | bytes, word: str) -> None:
    assert word in refused(tmp_path / "state.json", text)


def test_nesting_inside_of_a_sound_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    deep: list[Any] = []
    for _ in range(400):
        deep = [deep]
    found = of_a_table(path)
    found["pending"][0]["forecasts"] = deep
    assert "forecasts must lie in" in refused(path, json.dumps(found))


def test_the_default_was_not_in_version_2(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    found = version_2(json.loads(busy(path, Mixture())))
    assert "version 2 did not have the hedger Automatic" in refused(path, json.dumps(found))


def test_components_of_another_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    found = json.loads(busy(path, Mixture()))
    del found["checksum"]
    found["recipe"]["hedger"]["components"].pop()
    assert "its components are those of another version" in refused(path, sealed(found))


def test_a_file_from_before_the_guard_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    found = json.loads(busy(path))
    del found["checksum"]
    sums = found["sums"]
    path.write_text(sealed(found | {"sums": sums[:5]}))
    assert Mixture.load(path).games.expert_sums.tolist() == [*sums[:5], [0.0] * 4]
    assert "sums must have 6 rows, it has 4" in refused(path, sealed(found | {"sums": sums[:4]}))


@either
def test_a_folder_or_a_pipe_is_no_state(tmp_path: Path, hedger: str | None) -> None:
    with pytest.raises(ValueError, match="is a folder"):
        Mixture.load(tmp_path)
    with pytest.raises(ValueError, match="is a folder"):
        Mixture(hedger).save(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for call in (Mixture(hedger).save, Mixture.load):
        with pytest.raises(ValueError, match="is no regular file"):
            call(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


# Writing


def test_mode_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "deep" / "state.json", tmp_path / "link.json"
    link.symlink_to(path)
    Mixture().save(link)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    for mode in (0o600, 0o640, 0o604):
        path.chmod(mode)
        Mixture().save(link)
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert link.is_symlink()
    assert [entry.name for entry in path.parent.iterdir()] == ["state.json"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    Mixture().save(path)
    os.chown(path, 1234, 4321)
    Mixture().save(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text("before")

    def fail(part: Path) -> None:
        part.write_text("half")
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write_whole(path, fail)
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]


def dead() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_only_ones_own_leftovers_are_swept(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    gone = dead()
    mine = tmp_path / f".state.json.part-{gone}-0123abcd.json"
    others = [
        tmp_path / f".state.json.part-{os.getppid()}-0123abcd.json",  # somebody writes it
        tmp_path / f".other.json.part-{gone}-0123abcd.json",  # another file's
        tmp_path / ".part-abc.npz",
        tmp_path / f"state.json.part-{gone}-0123abcd.json",
        tmp_path / f".state.json.part-{gone}-0123abcx.json",
    ]
    for left in (mine, *others):
        left.write_text("half")
    Mixture().save(path)
    assert not mine.exists()
    assert all(left.exists() for left in others)
    sweep(tmp_path)
    assert [left.exists() for left in others] == [True, False, True, True, True]


def test_a_part_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.json"

    def write(part: Path) -> None:
        sweep(tmp_path)
        assert part.exists()
        part.write_text("whole")

    write_whole(path, write)
    assert path.read_text() == "whole"


def test_long_names(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 120 + ".json")
    write_whole(path, lambda part: part.write_text("whole"))
    assert path.read_text() == "whole"
    left = tmp_path / f".{_files._stem(path)}.part-{dead()}-01234567.json"
    left.write_text("half")
    write_whole(path, lambda part: part.write_text("again"))
    assert not left.exists()


# Cells


def test_a_cell_is_read_or_computed_again_whatever_was_changed(tmp_path: Path) -> None:
    said: list[str] = []
    cells = Cells(tmp_path, said.append)
    arrays = {"a": np.arange(12.0).reshape(3, 4), "b": np.array(["x", "yy"])}
    cells.save("one", {"seed": 1}, arrays)
    path = tmp_path / "one.npz"
    text = path.read_bytes()
    for place in range(len(text)):
        flip = (1, 0x80)[place % 2]
        path.write_bytes(text[:place] + bytes([text[place] ^ flip]) + text[place + 1 :])
        found = cells.load("one", {"seed": 1})
        if found is not None:
            for name, array in arrays.items():
                np.testing.assert_array_equal(found[name], array, strict=True)
    for end in range(0, len(text), 7):
        path.write_bytes(text[:end])
        assert cells.load("one", {"seed": 1}) is None
    assert said
    assert all("it is computed again" in word for word in said)
