"""Saved mixtures: exact to the bit, every changed byte refused, mode and owner kept."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.live.sealed_file import sealed
from normalhedge.mixtures.files._schema import VERSION
from tests.mixtures.examples import NAMES, busy_mixture
from tests.mixtures.saved_examples import busy_file, of_a_table, refused, version_2
from tests.rules import either


def test_a_state_comes_back_to_the_bit(tmp_path: Path) -> None:
    one = busy_mixture()
    one.save(tmp_path / "state.json")
    two = Mixture.load(tmp_path / "state.json")
    two.save(tmp_path / "again.json")
    assert (tmp_path / "state.json").read_text() == (tmp_path / "again.json").read_text()
    assert one.settings == two.settings
    for name in ARRAYS:
        assert (getattr(one.live, name) == getattr(two.live, name)).all()
    for mixture in (one, two):
        for ticket in list(mixture.pending):
            mixture.update(ticket, 0.25)
    said = dict.fromkeys(NAMES, 1.0) | {"new": 3.0}
    assert one.predict(said).value == two.predict(said).value
    assert (one.weights == two.weights).all()


def test_a_state_that_is_cut_or_missing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with pytest.raises(ValueError, match="there is no file"):
        Mixture.load(path)
    busy_mixture().save(path)
    text = path.read_text()
    for end in (0, 1, len(text) // 2, len(text) - 1):
        path.write_text(text[:end])
        with pytest.raises(ValueError, match="is not a whole JSON file"):
            Mixture.load(path)


def test_a_loss_of_your_own_is_given_again(tmp_path: Path) -> None:
    def mine(x: np.ndarray, y: float) -> np.ndarray:
        return np.abs(x - y) ** 1.5

    Mixture(loss=mine).save(tmp_path / "state.json")
    with pytest.raises(ValueError, match="pass it as loss"):
        Mixture.load(tmp_path / "state.json")
    assert Mixture.load(tmp_path / "state.json", loss=mine).settings.loss.function is mine


def test_every_byte_counts(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    text = busy_file(path).encode()
    for place in range(0, len(text), 3):  # `nox -s torture` tries them all
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
    text = busy_file(path, Mixture()).encode()
    Mixture.load(path).save(again)
    assert again.read_bytes() == text
    for place in range(0, len(text), 97):
        refused(path, text[:place] + bytes([text[place] ^ (1, 32)[place % 2]]) + text[place + 1 :])
    for end in range(0, len(text), 997):
        refused(path, text[:end])


def test_a_checksum_that_is_missing_or_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    found = json.loads(busy_file(path))
    assert found["version"] == VERSION
    assert found["sequence"] == 0
    assert next(iter(found)) == "checksum"
    assert "was changed after it was written" in refused(path, json.dumps(found | {"rounds": 7}))
    old = version_2(found) | {"checksum": found["checksum"]}
    assert "'checksum' is not an entry" in refused(path, json.dumps(old))
    del found["checksum"]
    assert "was changed after it was written" in refused(path, json.dumps(found))
    path.write_text(json.dumps(version_2(found)))
    assert Mixture.load(path).rounds == 5
    path.write_text(sealed(found))
    assert Mixture.load(path).rounds == 5


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
    assert "forecasts must" in refused(path, json.dumps(found))


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
