"""The process that does long work of reading: it ends with the server, and it is replaced."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from normalhedge.service._aside import Aside
from normalhedge.service._problems import StorageFailure
from normalhedge.service._storage import Storage
from normalhedge.service.server import storage_of
from tests.service.examples import ONE, forecasts
from tests.service.running import Asked, process

T = TypeVar("T")


def number_of_process(storage: Storage, *given: Any) -> tuple[int, tuple[Any, ...]]:
    del storage
    return os.getpid(), given


def fail(storage: Storage) -> None:
    del storage
    raise LookupError("there is no such event")


def die(storage: Storage) -> None:
    del storage
    os.kill(os.getpid(), signal.SIGKILL)


def in_process(tmp_path: Path, work: Callable[[Aside], Awaitable[T]]) -> T:
    aside = Aside(storage_of(str(tmp_path / "a.db")))

    async def run() -> T:
        try:
            return await work(aside)
        finally:
            aside.stop()

    return asyncio.run(run())


def test_work_is_done_in_one_other_process(tmp_path: Path) -> None:
    async def work(aside: Aside) -> Any:
        return await asyncio.gather(*(aside(number_of_process, k, "x" * k) for k in range(20)))

    found = in_process(tmp_path, work)
    assert [given for _, given in found] == [(k, "x" * k) for k in range(20)]
    assert len({number for number, _ in found}) == 1
    assert found[0][0] != os.getpid()


def test_refusals_come_back(tmp_path: Path) -> None:
    async def work(aside: Aside) -> None:
        with pytest.raises(LookupError, match="there is no such event"):
            await aside(fail)

    in_process(tmp_path, work)


def test_a_process_that_was_killed_is_replaced(tmp_path: Path) -> None:
    async def work(aside: Aside) -> tuple[int, int]:
        first, _ = await aside(number_of_process)
        with pytest.raises(StorageFailure, match="the process that reads the database has ended"):
            await aside(die)
        second, _ = await aside(number_of_process)
        return first, second

    first, second = in_process(tmp_path, work)
    assert first != second


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_the_process_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with process("--db", str(tmp_path / "a.db")) as (url, child), Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        client.send_json(f"{ONE}/rounds", {"rounds": [forecasts(k) for k in range(5)]})
        assert client.get(f"{ONE}/log").text.count("\n") == 5
        started = {
            int(one)
            for task in Path(f"/proc/{child.pid}/task").iterdir()
            for one in (task / "children").read_text().split()
        }
        assert len(started) == 1
        child.kill()
        child.wait(10)
    asyncio.run(ended(started.pop()))


async def ended(number: int) -> None:
    """Wait until a process has ended."""
    async with asyncio.timeout(10):
        while Path(f"/proc/{number}/status").exists():
            if "State:\tZ" in Path(f"/proc/{number}/status").read_text():
                return
            await asyncio.sleep(0.02)
