"""Changes of mixtures: many clients at once, slow mixtures, faults in the middle."""

import asyncio
import json
import random
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from normalhedge.service import _registry as registry
from normalhedge.service._live import Loaded
from normalhedge.service._recovery import state_text
from tests.service.examples import ONE, OPTIONS, ask, events, forecasts, replayed
from tests.service.running import Asked, process, served


async def play(client: httpx.AsyncClient, name: str, seed: int, rounds: int) -> list[Any]:
    """Predict rounds, and settle some of them; return the acknowledged answers."""
    rng, done, path = random.Random(seed), [], f"/v1/mixtures/{name}"
    for k in range(rounds):
        forecasts = {f"e{j}": rng.gauss(0, 1) for j in range(3)}
        body: dict[str, Any] = {"forecasts": forecasts, "id": f"{seed}-{k}"}
        answer = await client.post(f"{path}/predict", json=body)
        assert answer.status_code == 200, answer.text
        done.append(("predict", answer.json()))
        if rng.random() < 0.7:
            body = {"id": f"{seed}-{k}", "outcome": rng.gauss(0, 1)}
            answer = await client.post(f"{path}/outcome", json=body)
            assert answer.status_code == 200, answer.text
            done.append(("outcome", answer.json()))
    return done


@pytest.mark.parametrize("mixtures", [1, 100])
def test_64_clients(tmp_path: Path, mixtures: int) -> None:
    names = [f"m{k}" for k in range(mixtures)]

    async def all_clients(url: str) -> list[Any]:
        limits = httpx.Limits(max_connections=64)
        async with httpx.AsyncClient(base_url=url, limits=limits, timeout=60) as client:
            await asyncio.gather(
                *[client.post("/v1/mixtures", json={"name": name}) for name in names]
            )
            done: list[Any] = await asyncio.gather(
                *[
                    play(client, names[k % mixtures], k, 4 if mixtures == 1 else 2)
                    for k in range(max(64, mixtures))
                ]
            )
            return done

    with process("--db", str(tmp_path / "a.db")) as (url, _):
        acknowledged = asyncio.run(all_clients(url))
        with Asked(url) as client:
            total = 0
            for name in names:
                text = client.get(f"/v1/mixtures/{name}/log", params={"events": "true"}).text
                log = [json.loads(line) for line in text.splitlines()]
                assert [one["sequence"] for one in log] == sorted(one["sequence"] for one in log)
                mixture = replayed(log, **OPTIONS)
                assert client.get(f"/v1/mixtures/{name}/state").text == state_text(mixture)
                total += len(log)
            answers = [one for done in acknowledged for one in done]
            assert total == len(answers)
            if mixtures == 1:  # every answer is the one in the log, and no ticket is there twice
                predicted = [answer for kind, answer in answers if kind == "predict"]
                logged = {e["ticket"]: e["answer"] for e in log if e["kind"] == "predict"}
                assert {answer["ticket"]: answer for answer in predicted} == logged
                assert len(logged) == len(predicted) == mixture.rounds


def test_a_slow_mixture_does_not_hold_up_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that takes long is done in a thread; other mixtures answer before it ends."""
    batch = {"rounds": [{"forecasts": {"a": 1.0, "b": 2.0}}] * 3}
    answered = threading.Event()
    work = registry.Registry._work

    def held(self: Any, live: Any, loaded: Any, request: Any) -> Any:
        assert isinstance(request, dict) or answered.wait(20), "the event loop was held up"
        return work(self, live, loaded, request)

    async def both(url: str) -> int:
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            for name in ("slow", "quick"):
                await client.post("/v1/mixtures", json={"name": name})
            await client.post("/v1/mixtures/slow/rounds", json=batch)  # its cost is known now
            monkeypatch.setattr(registry.Registry, "_work", held)
            task = asyncio.ensure_future(client.post("/v1/mixtures/slow/rounds", json=batch))
            for _ in range(5):
                body = {"forecasts": {"a": 1.0}}
                answer = await client.post("/v1/mixtures/quick/predict", json=body)
                assert answer.status_code == 200
                assert not task.done()
            answered.set()
            return (await task).status_code

    monkeypatch.setattr(registry, "LONG", 0.0)
    with served(tmp_path / "a.db") as url:
        assert asyncio.run(both(url)) == 200


def test_a_clock_that_goes_back_changes_nothing_but_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [2e9]

    def clock() -> float:
        now[0] -= 1000.0
        return now[0]

    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        monkeypatch.setattr("normalhedge.service._registry.time.time", clock)
        for k in range(5):
            assert ask(client, "predict", forecasts(k))[1]["ticket"] == k
            assert ask(client, "outcome", {"ticket": k, "outcome": 1.0})[0] == 200
        state = client.get(f"{ONE}/state").text
        assert len(client.get(f"{ONE}/history").json()["rounds"]) == 5
    monkeypatch.undo()
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert client.get(f"{ONE}/state").text == state


def test_a_fault_of_our_own_after_a_change_does_not_part_memory_from_the_log(
    client: Asked, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    assert ask(client, "predict", forecasts(0))[1]["ticket"] == 0

    def fail(_: Any) -> Any:
        raise ZeroDivisionError("a secret of the inside")

    for place in ("mixtures.streams._stream.plain_prediction", "service._registry._encode"):
        with monkeypatch.context() as patch:
            patch.setattr(f"normalhedge.{place}", fail)
            status, answer = ask(client, "predict", forecasts(1))
            assert status == 500
            assert "secret" not in answer["error"]
            assert "secret" in capsys.readouterr().err
            status, answer = ask(client, "rounds", {"rounds": [forecasts(1)]})
            assert status == 500
    assert ask(client, "predict", forecasts(1))[1]["ticket"] == 1
    assert state_text(replayed(events(client), **OPTIONS)) == client.get(f"{ONE}/state").text


def test_a_failure_while_a_thread_works_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state goes away under a batch: 503, and nothing of it is learned."""
    monkeypatch.setattr(registry, "LONG", -1.0)  # everything works in a thread
    answer = registry.Registry._part

    def losing(self: registry.Registry, loaded: Loaded, request: Any) -> dict[str, Any]:
        for live in self.by_id.values():
            live.unload()
        return answer(self, loaded, request)

    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        with monkeypatch.context() as lost:
            lost.setattr(registry.Registry, "_part", losing)
            status, told = ask(client, "rounds", {"rounds": [forecasts(1), forecasts(2)]})
            assert (status, told["status"]) == (503, 503)
        assert ask(client, "predict", forecasts(1))[1]["ticket"] == 0
