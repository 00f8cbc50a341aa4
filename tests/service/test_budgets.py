"""Work and memory are bounded by bytes and cells, whatever one client does."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from normalhedge import Mixture
from normalhedge.live import sealed_file
from normalhedge.mixtures.streams import Budget
from normalhedge.service import _memory as memory, _registry as registry
from normalhedge.service._flight import Flight
from normalhedge.service._limits import Limits
from normalhedge.service._past import END, PastLimits, Place, past_rounds
from normalhedge.service._problems import Problem
from normalhedge.service._recovery import read_state, recover, state_text
from normalhedge.service.server import storage_of
from tests.service.examples import ONE, ask, events, replayed
from tests.service.running import Asked, process, served

TIGHT = Limits(
    cells=200, memory=400_000, answer=20_000, parts=2_000, rounds=1_000, body=200_000, history=50
)


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    path = tmp_path_factory.mktemp("tight") / "a.db"
    with served(path, limits=TIGHT) as url, Asked(url) as client:
        yield client


def named(count: int, value: Any, name: str = "n") -> dict[str, Any]:
    return {f"{name}{k}": value for k in range(count)}


def post(client: Asked, path: str, body: Any) -> tuple[int, str]:
    answer = client.post(path, json=body)
    return answer.status_code, answer.json().get("error", "")


def test_a_mixture_has_so_many_cells(tight: Asked) -> None:
    tight.send_json("/v1/mixtures", {"name": "cells", "hedger": "squint"})
    path = "/v1/mixtures/cells/predict"
    assert post(tight, path, {"forecasts": {"a": named(30, 1.0, "i")}})[0] == 200
    status, sentence = post(tight, path, {"forecasts": named(30, {"i0": 1.0}, "e")})
    assert (status, sentence) == (
        422,
        "with this line, the mixture would hold 930 forecasts (items times experts), and this "
        "server holds at most 200: keep several mixtures",
    )
    health = tight.get("/v1/mixtures/cells").json()
    assert (health["experts"], health["items"], health["rounds"]) == (1, 30, 1)


def test_a_mixture_takes_so_many_bytes(tight: Asked) -> None:
    body = {"name": "season", "interval": [0.5, 0.9], "season": 20_000}
    status, sentence = post(tight, "/v1/mixtures", body)
    assert status == 422
    assert sentence.startswith("this mixture would take ")
    assert "this server gives it at most 0 MB: choose a shorter season" in sentence
    tight.send_json("/v1/mixtures", body | {"season": 2_000})
    path = "/v1/mixtures/season/predict"
    assert post(tight, path, {"forecasts": {"a": 1.0, "b": 2.0}})[0] == 200
    status, sentence = post(tight, path, {"forecasts": {"a": named(20, 1.0), "b": named(20, 1.0)}})
    assert status == 422
    assert "for 2 experts and 21 items" in sentence
    assert "keep several mixtures, or a shorter history" in sentence
    assert tight.get("/v1/mixtures/season").json()["items"] == 1


@pytest.mark.parametrize("season", [1_000_000_000, 1_000_001, 1, 0, -1, 1.5, "x"])
def test_seasons_that_no_mixture_has(tight: Asked, season: Any) -> None:
    body = {"name": "long", "interval": 0.9, "season": season}
    status, sentence = post(tight, "/v1/mixtures", body)
    assert status == 422
    assert "season" in sentence
    assert tight.get("/v1/mixtures/long").status_code == 404


def test_rounds_that_wait_take_so_many_bytes(tight: Asked) -> None:
    settings = {"name": "wait", "hedger": "squint", "history": 1}
    tight.send_json("/v1/mixtures", settings)
    body = {"rounds": [{"forecasts": named(150, 1.0)}] * 3}
    path, sentences = "/v1/mixtures/wait", []
    for _ in range(120):
        answers = tight.send_json(f"{path}/rounds", body)["answers"]
        sentences += [one["error"] for one in answers if "error" in one]
        if sentences:
            break
    assert "wait for their outcomes, and this server gives them at most" in sentences[0]
    assert "send outcomes first" in sentences[0]
    waiting = tight.get(f"{path}/pending").json()["pending"]
    assert 50 < len(waiting) < 420
    settled = [{"ticket": one["ticket"], "outcome": 1.0} for one in waiting[:20]]
    assert "error" not in str(tight.send_json(f"{path}/outcomes", {"outcomes": settled}))
    assert post(tight, f"{path}/predict", {"forecasts": named(150, 1.0)})[0] == 200


def test_the_memory_of_a_mixture_is_known_before() -> None:
    """The oracle: the bytes that the arrays of the state have, with their spare places."""
    mixture = Mixture("squint", history=0)
    before = mixture.live.bytes_with(12, 7, 0, 0)
    mixture.predict(named(12, named(7, 1.0, "i"), "e"))
    assert mixture.live.bytes_with(0, 0, 0, 0) == before
    fields = ("weights", "ledgers", "totals", "marks", "pool_ranges", "ranges", "expert_sums",
              "total_sums", "loss_regrets", "delays", "intervals", "interval_rounds")  # fmt: skip
    assert before == sum(getattr(mixture.live, name).nbytes for name in fields)
    with_history = Mixture("squint")
    with_history.predict(named(12, named(7, 1.0, "i"), "e"))
    assert with_history.live.bytes_with(0, 0, 0, 0) == 3 * before
    assert mixture.live.bytes_of_rounds > 8 * 12 * 7
    grown = mixture.live.bytes_with(1000, 1000, 0, 0)
    assert grown > before * 100
    assert mixture.names == [f"e{k}" for k in range(12)]


@pytest.mark.parametrize(
    ("loss", "forecasts", "size"),
    [
        ("square", {"a": 1.0, "b": 2.0}, 2),
        ("square", {"a": [1.0, 2.0, 3.0], "b": [1.0]}, 6),
        ("square", {"a": {"x": 1.0}, "b": {"y": 1.0}}, 4),
        ("log", {"a": [0.5, 0.5]}, 1),
        ("log", {"a": {"rain": 0.5, "sun": 0.5}, "b": {"rain": 1.0}}, 2),
        ("log", {"a": {"x": {"rain": 0.5, "sun": 0.5}, "y": {"rain": 1.0}}}, 2),
        ("crps:levels=0.1/0.5/0.9", {"a": [1, 2, 3]}, 1),
        ("crps:levels=0.1/0.5/0.9", {"a": [[1, 2, 3], [1, 2, 3]]}, 2),
    ],
)
def test_cells_of_all_forms(loss: str, forecasts: dict[str, Any], size: int) -> None:
    mixture = Mixture(loss=loss)
    Budget(cells=size).check(mixture, forecasts)
    with pytest.raises(ValueError, match=rf"would hold {size} forecasts"):
        Budget(cells=size - 1).check(mixture, forecasts)


def test_a_request_has_so_many_lists_and_objects(tight: Asked) -> None:
    body: Any = {"rounds": [{"forecasts": {"a": [[]] * 30_000}}]}
    tight.send_json("/v1/mixtures", {"name": "parts"})
    assert post(tight, "/v1/mixtures/parts/rounds", body) == (
        413,
        "the request has 30,005 lists and objects, and at most 2,000 are accepted: send several "
        "requests",
    )


def test_an_answer_has_so_many_bytes(tight: Asked) -> None:
    tight.send_json("/v1/mixtures", {"name": "answers", "hedger": "squint"})
    path = "/v1/mixtures/answers"
    tight.send_json(f"{path}/predict", {"forecasts": named(100, 1.0)})
    body = {"rounds": [{"forecasts": {"n0": 1.0}}] * 200}
    done = [len(tight.post(f"{path}/rounds", json=body).content)]
    answers = tight.send_json(f"{path}/rounds", body)["answers"]
    refused = [one["error"] for one in answers if "error" in one]
    assert 0 < len(refused) < 200
    assert refused[0].startswith("this was not done: the answers to this request have 20,")
    assert "one answer has at most 20,000; send the rest in another request" in refused[0]
    assert done[0] < 20_000 + 5_000 + 200 * 200
    rounds = tight.get(path).json()["rounds"]
    assert rounds == 1 + 2 * (200 - len(refused))
    pending, after = [], -1
    while True:
        page = tight.get(f"{path}/pending", params={"limit": 50, "after": max(after, 0)}).json()
        pending += [one["ticket"] for one in page["pending"]]
        after = page["next"]
        if after is None:
            break
    assert pending == list(range(1, rounds))  # ticket 0 is not after 0


@pytest.mark.parametrize("bomb", ["cells", "pending", "history"])
def test_a_small_state_that_holds_a_large_mixture_is_refused(tight: Asked, bomb: str) -> None:
    """Arrays of zeros are compressed a thousand times: sizes are read before the arrays are."""
    mixture = Mixture("squint", history=100)
    shape = {"a": named(4000, 0.0, "i")} if bomb == "cells" else {"a": 0.0, "b": 0.0}
    for _ in range(1 if bomb == "cells" else 3000):
        made = mixture.predict(shape)
        if bomb == "history":
            mixture.update(made.ticket, 0.0)
    text = state_text(mixture)
    if bomb != "cells":  # as many rounds as there are, each with a thousand rows
        text = text.replace('"shape": [1, 1, 2]', '"shape": [1000, 1, 2]')
        content = json.loads(text)
        del content["checksum"]
        text = sealed_file.sealed(content)
    assert len(text) < 400_000
    headers = {"content-type": "application/json"}
    answer = tight.put("/v1/mixtures/bomb/state", content=text, headers=headers)
    assert answer.status_code == 422
    sentence = answer.json()["error"]
    assert "the mixture would take " in sentence
    assert "and at most 0 MB are accepted" in sentence
    assert tight.get("/v1/mixtures/bomb").status_code == 404


def test_pages_of_mixtures(client: Asked) -> None:
    names = [f"m{k:02}" for k in range(12)]
    for name in names:
        client.send_json("/v1/mixtures", {"name": name})
    seen, after, pages = [], "", 0
    while after is not None:
        page = client.get("/v1/mixtures", params={"limit": 5, "after": after}).json()
        seen += [one["name"] for one in page["mixtures"]]
        after, pages = page["next"], pages + 1
    assert (seen, pages) == (names, 3)
    assert client.get("/v1/mixtures").json()["next"] is None
    for wrong in (0, 1001, "x"):
        answer = client.get("/v1/mixtures", params={"limit": wrong})
        assert (answer.status_code, answer.json()["error"]) == (
            422, "limit must be a number from 1 to 1000",
        )  # fmt: skip


def played(client: Asked, batches: int, size: int) -> None:
    """Play rounds in batches: each line has the outcome of the round before."""
    client.send_json("/v1/mixtures", {"name": "load"})
    ticket = 0
    for _ in range(batches):
        lines = []
        for _ in range(size):
            line: dict[str, Any] = {"forecasts": {"a": float(ticket % 7), "b": 1.0}}
            if ticket:
                line |= {"ticket": ticket - 1, "outcome": ticket % 5 + 0.5}
            lines.append(line)
            ticket += 1
        client.send_json(f"{ONE}/rounds", {"rounds": lines})


def test_history_by_cursor_is_the_whole_history(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("normalhedge.service._past.SCAN", 30_000)
    with served(db) as url, Asked(url) as client:
        played(client, 7, 30)
        assert ask(client, "correct", {"ticket": 200, "outcome": 9.0})[0] == 200
        for limit in (1, 7, 30, 64, 500):
            rounds: list[Any] = []
            before: str | None = None
            while True:
                query = {"limit": limit} | ({"before": before} if before else {})
                page = client.get(f"{ONE}/history", params=query).json()
                assert len(page["rounds"]) <= limit
                rounds = page["rounds"] + rounds
                before = page["next"]
                if before is None:
                    break
            # A correction on a newer page than its round stands there, too.
            tickets = [one["ticket"] for one in rounds if one["outcome"] != 9.0]
            assert [k for k in tickets if k != 200] == [k for k in range(209) if k != 200]
            assert [one["ticket"] for one in rounds if one["outcome"] == 9.0] == [200]
            assert all(one["loss"] is not None for one in rounds)
        for wrong in ("x", "1", "1-", "-1-2", "1-2-3", "9" * 30 + "-1", "١-٢"):
            answer = client.get(f"{ONE}/history", params={"before": wrong})
            assert (answer.status_code, answer.json()["error"]) == (
                422, "before must be the 'next' of an earlier answer",
            )  # fmt: skip


def test_one_round_of_a_long_log_reads_a_few_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("normalhedge.service._sqlite.PAGE", 10_000)
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        played(client, 30, 40)
    storage = storage_of(str(tmp_path / "a.db"))
    storage.open()
    try:
        read: list[int] = []
        before = storage._page

        def page(*given: Any) -> list[Any]:
            rows = before(*given)
            read.append(len(rows))
            return rows

        monkeypatch.setattr(storage, "_page", page)
        loss = recover(storage, 1).object.settings.loss
        read.clear()
        rounds, place = past_rounds(storage, 1, loss, PastLimits(1, 10**6))
        assert json.loads(rounds[0])["ticket"] == 1198
        assert sum(read) <= 2
        assert place == Place(31, 39)
        rounds, _ = past_rounds(storage, 1, loss, PastLimits(10_000, 20_000))
        assert sum(map(len, rounds)) < 21_000
    finally:
        storage.close()


def test_a_search_through_many_events_ends_early_with_a_cursor(
    db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("normalhedge.service._past.ROWS", 10)
    monkeypatch.setattr("normalhedge.service._past.SKIPPED", 3_000_000)
    with served(db) as url, Asked(url) as client:
        played(client, 50, 2)
        began = time.time()
    storage = storage_of(db)
    storage.open()
    try:
        loss = recover(storage, 1).object.settings.loss
        for until, rounds in ((began - 3600, 0), (began, 99)):
            place: Place | None = END
            parts = found = 0
            while place is not None:
                limits = PastLimits(500, 10**6, None, until)
                part, place = past_rounds(storage, 1, loss, limits, place)
                found += len(part)
                parts += 1
            assert (found, parts) == (rounds, 2)
    finally:
        storage.close()


def test_a_large_snapshot_is_made_aside(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SNAPSHOT_EVERY", 20)
    monkeypatch.setattr(registry, "SMALL", 0)
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for k in range(70):
            ask(client, "predict", {"forecasts": {"a": float(k), "b": 1.0}}, f"p{k}")
            ask(client, "outcome", {"ticket": k, "outcome": 1.0}, f"o{k}")
        log, state = events(client), client.get(f"{ONE}/state").text
    storage = storage_of(db)
    storage.open()
    try:
        taken = [s for s in storage.snapshots(1) if 1 < s < log[-1]["sequence"]]
        assert taken
        for sequence in storage.snapshots(1)[:-1]:
            part = [event for event in log if event["sequence"] <= sequence]
            own = replayed(part, max_pending=10_000, history=200, max_names=10_000)
            stored = storage.snapshot(1, sequence)
            assert stored is not None
            assert state_text(read_state(storage, 1, sequence)) == state_text(own)
        assert state_text(recover(storage, 1).object) == state
    finally:
        storage.close()


def test_idle_mixtures_make_room_for_others(tmp_path: Path) -> None:
    limits = Limits(loaded_memory=2_000_000)
    with served(tmp_path / "a.db", limits=limits) as url, Asked(url) as client:
        for k in range(6):
            client.send_json("/v1/mixtures", {"name": f"m{k}", "history": 2})
            forecasts = named(20, named(5, 1.0, "i"), "e")
            client.send_json(f"/v1/mixtures/m{k}/predict", {"forecasts": forecasts})
        loaded = [one["loaded"] for one in client.get("/v1/mixtures").json()["mixtures"]]
        assert not all(loaded)
        assert loaded[-1]
        for k in range(6):
            outcome = {"ticket": 0, "outcome": named(5, 1.0, "i")}
            answer = client.send_json(f"/v1/mixtures/m{k}/outcome", outcome)
            assert answer == {"settled": 0}


def test_requests_wait_for_room_in_turn() -> None:
    async def work() -> list[Any]:
        flight, seen = Flight(100_000, 1, 0.2), list[Any]()

        async def one(name: str, size: int, seconds: float, later: float = 0.0) -> None:
            await asyncio.sleep(later)
            try:
                async with flight.request(size):
                    seen.append(name)
                    await asyncio.sleep(seconds)
            except Problem as problem:
                seen.append((name, problem.status, problem.sentence))

        await asyncio.gather(
            one("a", 60_000, 0.05), one("b", 50_000, 0.6),
            one("c", 60_000, 0.0), one("d", 50_000, 0.01, 0.15),
        )  # fmt: skip
        await one("all", 10**9, 0.0)
        return seen

    seen = asyncio.run(work())
    assert seen[:2] == ["a", "b"]
    assert seen[3] == "d"  # once c has given up
    refused = [one for one in seen if isinstance(one, tuple)]
    assert [one[:2] for one in refused] == [("c", 503)] == [one[:2] for one in seen[2:3]]
    assert "too many large requests are being answered: this request was not done" in refused[0][2]
    assert seen[-1] == "all"


def test_slow_readers_keep_others_from_large_answers_only(tmp_path: Path) -> None:
    with served(tmp_path / "a.db", limits=Limits(sending=200_000)) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
        for k in range(5):
            lines = [{"forecasts": named(100, 1.0)}] * 200
            client.send_json(f"{ONE}/rounds", {"rounds": lines})
            settled = [{"ticket": 200 * k + j, "outcome": 1.0} for j in range(200)]
            client.send_json(f"{ONE}/outcomes", {"outcomes": settled})
        assert len(client.get(f"{ONE}/history", params={"limit": 1000}).content) > 3_000_000
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", httpx.URL(url).port))
            slow.sendall(
                f"GET {ONE}/history?limit=10000 HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()
            )
            refused = None
            for _ in range(100):
                answer = client.get(f"{ONE}/history", params={"limit": 1})
                if answer.status_code == 503:
                    refused = answer.json()["error"]
                    break
                time.sleep(0.05)
            assert refused is not None
            assert refused.startswith("too many large answers are being sent: this request was not")
            assert client.get("/healthz").status_code == 200
            assert ask(client, "predict", {"forecasts": {"a": 1.0}})[0] == 200
        for _ in range(100):
            if client.get(f"{ONE}/history", params={"limit": 1}).status_code == 200:
                return
            time.sleep(0.05)
        raise AssertionError("the slow reader has gone, and others are refused")


def test_one_client_does_not_hold_the_others_up(tmp_path: Path) -> None:
    """The attacks in small: measured with their sizes by ``nox -s bench-serve``."""
    with process("--db", str(tmp_path / "a.db")) as (url, child), Asked(url) as client:
        played(client, 20, 500)
        stop, waits = threading.Event(), list[float]()

        def play() -> None:
            with Asked(url) as other:
                while not stop.is_set():
                    begun = time.perf_counter()
                    assert other.get("/healthz").status_code == 200
                    waits.append(time.perf_counter() - begun)

        playing = threading.Thread(target=play)
        playing.start()
        try:
            client.get(f"{ONE}/log", params={"events": "true"})
            for _ in range(4):
                client.get(f"{ONE}/history", params={"limit": 500})
            deep = {"name": "deep", "hedger": "squint", "history": 1}
            client.send_json("/v1/mixtures", deep)
            client.send_json("/v1/mixtures/deep/predict", {"forecasts": named(5_000, 1.0)})
            client.get("/v1/mixtures/deep/state")
        finally:
            stop.set()
            playing.join()
        status = Path(f"/proc/{child.pid}/status")
        peak = 0
        if status.exists():
            lines = status.read_text("utf-8").splitlines()
            peak = int(next(one for one in lines if one.startswith("VmHWM")).split()[1]) // 1024
        assert peak < 300
        assert sorted(waits)[len(waits) // 2] < 0.25
