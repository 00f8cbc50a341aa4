"""The paper, reproduced in small."""

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from normalhedge.boundary.progress import SILENT, Silent
from normalhedge.research._cells import Arrays, Cells
from normalhedge.research.games import play
from normalhedge.research.paper import _figures as figures, _reproduce as module
from normalhedge.research.paper._part import PaperSettings, part_of_one
from normalhedge.research.paper._reproduce import reproduce
from tests.research.paper.documented import documented

SMALL = PaperSettings(runs=2, rounds=400, quick=True)


def test_what_other_code_kept_is_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[bool] = []
    measured = {"a": np.arange(3.0)}

    def measure(settings: PaperSettings) -> Arrays:
        calls.append(settings.quick)
        return measured

    parts = [
        part_of_one("variance", "normalhedge.one", measure),
        part_of_one("learning", "normalhedge.two", measure, layers=("latent",)),
    ]
    codes = {(): "one", ("latent",): "two"}
    monkeypatch.setattr(module, "fingerprint", lambda *layers, **_: codes[layers])
    cells = Cells(tmp_path, print)

    def ask() -> int:
        for part in parts:
            (measurement,) = part.choices[part.id]
            found = module._load_or_measure(part, measurement, SMALL, None, cells, SILENT)
            np.testing.assert_array_equal(found["a"], measured["a"])
        return len(calls)

    assert [ask(), ask()] == [2, 2]
    codes[("latent",)] = "three"  # the other one does not depend on it
    assert [ask(), ask()] == [3, 3]
    codes[()] = "four"
    assert [ask(), ask()] == [4, 4]


class Counted(Silent):
    def __init__(self) -> None:
        self.units = self.expected = 0.0
        self.names: list[str] = []
        self.said: list[str] = []

    def total(self, units: float) -> None:
        self.expected = units

    def done(self, units: float, what: str) -> None:
        self.units += units
        self.names.append(what)

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


def test_reproduce_writes_everything_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Counted()
    result = reproduce(tmp_path, SMALL, only=["figure-3"], progress=watch)
    assert watch.units == pytest.approx(watch.expected)
    names = {path.name for path in result.files}
    assert names == {
        "figure-3.png",
        "figure-3.pdf",
        "figure-3.svg",
        "figure-3-second-set.png",
        "figure-3-second-set.pdf",
        "figure-3-second-set.svg",
        "figure-3.parquet",
        "claims.parquet",
        "report.html",
    }
    assert all(path.stat().st_size > 1000 for path in result.files)
    data = pq.read_table(tmp_path / "figure-3.parquet")
    assert data.num_rows == 6 * 8 * 20
    assert "regret_mean" in data.column_names
    before = (tmp_path / "figure-3.parquet").read_bytes()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    spoiled = tmp_path / "cells" / "panel-gamma0.8-f0.1-n10.npz"
    spoiled.write_bytes(b"nonsense")
    again = Counted()
    reproduce(tmp_path, SMALL, only=["figure-3"], progress=again)
    assert len(again.said) == 1
    assert (tmp_path / "figure-3.parquet").read_bytes() == before
    monkeypatch.setattr(figures, "play", refuse)
    reproduce(tmp_path, SMALL, only=["figure-3"])
    with pytest.raises(AssertionError, match="computed again"):
        reproduce(tmp_path, dataclasses.replace(SMALL, seed=1), only=["figure-3"])


def test_interrupted_work_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    right = play

    def stop_at_the_third(*arguments: object, **options: object) -> object:
        calls.append("")
        if len(calls) == 3:
            raise KeyboardInterrupt
        return right(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(figures, "play", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, SMALL, only=["figure-3"])
    assert len(list((tmp_path / "cells").iterdir())) == 2
    reproduce(tmp_path, SMALL, only=["figure-3"])
    assert len(calls) == 3 + 4


def test_an_unknown_part_of_the_paper(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="did you mean figure-1"):
        reproduce(tmp_path, SMALL, only=["figur-1"])


@pytest.mark.slow
def test_the_whole_paper_agrees_with_the_documents(tmp_path: Path) -> None:
    result = reproduce(tmp_path, PaperSettings())
    rows = documented()
    assert [claim.ours for claim in result.claims] == [row.ours for row in rows]
    for claim, row in zip(result.claims, rows, strict=True):
        assert claim.verdict.outcome == row.verdict.outcome, claim.claim
