"""The cells of experiments, computed by a Dask cluster of two processes."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge.integrations.clusters import _sweeps as sweeps
from normalhedge.integrations.clusters._sweeps import dask_workers
from normalhedge.research._away import done_by, same_code
from normalhedge.research._cells import Cells
from normalhedge.research.leaderboard import ContestSettings, NatureContest, compare
from normalhedge.research.leaderboard._yardsticks import GAME_SCORES
from normalhedge.research.paper._part import PaperSettings
from normalhedge.research.paper._reproduce import reproduce
from tests.cli.command import call

pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")  # Dask has warnings of its own

SMALL = PaperSettings(runs=2, rounds=300, quick=True)


@pytest.fixture(scope="module")
def workers() -> Iterator[Executor]:
    with dask_workers("local:2") as found:
        yield found


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _kill(workers: Any) -> None:
    """Kill a worker that has begun to compute."""
    client = workers._client
    while not any(client.processing().values()):
        time.sleep(0.01)
    os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)


def test_the_paper_has_the_same_bytes_though_a_worker_is_killed(
    workers: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # figures as PDF have a date
    only = ["figure-3", "pulse"]
    reproduce(tmp_path / "here", SMALL, only=only)
    killer = threading.Thread(target=_kill, args=[workers])
    killer.start()
    shares: list[float] = []
    reproduce(tmp_path / "there", SMALL, only=only, workers=workers, progress=shares.append)
    killer.join()
    here = _files(tmp_path / "here")
    assert sum(name.startswith("cells/") for name in here) > 5
    assert _files(tmp_path / "there") == here
    assert shares[-1] == pytest.approx(1.0)


def test_the_leaderboard_has_the_same_numbers_but_for_times(
    workers: Executor, tmp_path: Path
) -> None:
    settings = ContestSettings(experts=5, rounds=200, runs=3)
    contests = [NatureContest(name, settings) for name in ("independent-coins", "contrary")]
    hedgers = ["squint", "normal-hedge"]
    here = compare(hedgers, contests, folder=tmp_path / "here")
    there = compare(hedgers, contests, folder=tmp_path / "there", workers=workers)
    timed = GAME_SCORES.index("seconds")
    for one, other in zip(here.standings, there.standings, strict=True):
        kept = [k for k in range(len(GAME_SCORES)) if k != timed]
        np.testing.assert_array_equal(one.scores[:, :, kept], other.scores[:, :, kept])
        np.testing.assert_array_equal(one.curves, other.curves)
    assert _files(tmp_path / "here").keys() == _files(tmp_path / "there").keys()


def test_what_is_saved_is_not_computed_by_workers(tmp_path: Path) -> None:
    class NoWorkers(Executor):
        def submit(self, *_: Any, **__: Any) -> Any:
            raise AssertionError

    reproduce(tmp_path, SMALL, only=["pulse"])
    reproduce(tmp_path, SMALL, only=["pulse"], workers=NoWorkers())
    with pytest.raises(AssertionError):
        reproduce(tmp_path, SMALL, only=["figure-3"], workers=NoWorkers())
    assert Cells(tmp_path / "cells", print).folder.exists()


def test_workers_with_other_code_are_refused() -> None:
    with pytest.raises(RuntimeError, match="another version of normalhedge"):
        same_code("mine", "another")


def test_workers_are_told_when_nobody_waits_any_more() -> None:
    told: list[bool] = []

    class Told(Executor):
        def shutdown(self, wait: bool = True, **_: Any) -> None:
            told.append(wait)

    with done_by(Told()):
        pass
    assert not told
    with pytest.raises(KeyboardInterrupt), done_by(Told()):
        raise KeyboardInterrupt
    assert told == [False]


@pytest.mark.parametrize("address", ["foo", "tcp://127.0.0.1:1"])
def test_an_address_without_a_scheduler_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "WAIT", "1s")
    with pytest.raises(ValueError, match="there is no Dask scheduler at"), dask_workers(address):
        pass


def test_the_command_line_refuses_two_places_to_compute(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, said = call(
        capsys, "paper", "--quick", "--dask", "local", "--jobs", "2", "--out", str(tmp_path)
    )
    assert code == 2
    assert "--jobs is for this machine" in said
