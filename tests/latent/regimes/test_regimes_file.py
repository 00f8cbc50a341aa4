"""Regimes on disk with a journal."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from normalhedge.latent import Live, Regimes
from normalhedge.latent.regimes._encoding import Encoding
from normalhedge.latent.regimes._regimes_stream import RegimesFile, RegimesStream
from tests.latent.regimes.examples import answers, bits, switching


def test_a_state_goes_on_after_a_sudden_end(tmp_path: Path) -> None:
    values = switching(200)[1].normal(size=200).tolist()
    path = tmp_path / "s.json"
    expected = Live(Regimes("gaussian", (1, 2)), Encoding("numbers"))
    answers(expected, *map(json.dumps, values))
    live = Live(Regimes("gaussian", (1, 2)), Encoding("numbers"))
    for start in range(0, 200, 40):
        file = RegimesFile(path)
        live = file.load() or live
        file.begin(live)
        done: list[Any] = []
        stream = RegimesStream(live, 0.9, done.append)
        for k, value in enumerate(values[start : start + 40]):
            done.clear()
            stream.answer(k, json.dumps(value))
            file.append(done)
        file.abandon()  # as if killed here
    assert bits(Regimes.load(path)) == bits(expected.regimes)
    with pytest.raises(ValueError, match=r"holds rounds of a stream .* latent - --state"):
        expected.regimes.save(path)
    found = RegimesFile(path).load()
    assert found is not None
    assert bits(found.regimes) == bits(expected.regimes)


def test_journals_are_folded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "normalhedge.latent.regimes._regimes_stream.RegimesFile.limit", lambda *_: 500
    )
    file, live = (
        RegimesFile(tmp_path / "s.json"),
        Live(Regimes("gaussian", (1,)), Encoding("numbers")),
    )
    file.begin(live)
    done: list[Any] = []
    stream = RegimesStream(live, 0.9, done.append)
    for k in range(60):
        done.clear()
        stream.answer(k, f"{math.sin(k)}")
        file.append(done)
        file.fold_if_long(live)
    file.abandon()
    assert (tmp_path / "s.json.journal").stat().st_size < 1000
    assert bits(Regimes.load(tmp_path / "s.json")) == bits(live.regimes)


def test_states_of_the_interface_go_on_in_a_stream(tmp_path: Path) -> None:
    for kind, code in {
        "gaussian": Encoding("numbers"), "negative_binomial": Encoding("counts"),
        "autoregressive": Encoding("autoregressive"), "student": Encoding("numbers"),
    }.items():  # fmt: skip
        regimes = Regimes(kind)
        regimes.run([1.0, 2.0, 0.0, 4.0, 1.0])
        regimes.save(tmp_path / "s.json")
        live = RegimesFile(tmp_path / "s.json").load()
        assert live is not None
        assert live.encoding == code
    regimes = Regimes("categorical", symbols=3)
    regimes.save(tmp_path / "s.json")
    live = RegimesFile(tmp_path / "s.json").load()
    assert live is not None
    assert live.encoding == Encoding("symbols", ("0", "1", "2"))
