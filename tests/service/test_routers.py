"""Routers of the service, from outside: they are the routers of Python, to the bit."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from normalhedge import Router
from normalhedge.routing import RouterStream
from normalhedge.service import _memory as memory
from normalhedge.service._limits import Limits
from normalhedge.service._recovery import state_text
from normalhedge.service.access import new_token
from normalhedge.service.server import storage_of
from tests.service.running import Asked, process, served
from tests.service.talking import Talk

ONE = "/v1/routers/models"
ACTIONS = ["small", "large", "tiny"]
OPTIONS: dict[str, Any] = {
    "actions": ACTIONS, "shows": {"large": ["tiny"]}, "costs": {"small": 1, "large": 3, "tiny": 1},
    "budget": 2.5, "seed": 7,
}  # fmt: skip


def made(client: Asked, **options: Any) -> Router:
    """Make a router on a server, and return the same one of this process."""
    client.send_json("/v1/routers", {"name": "models", **(options or {"actions": ACTIONS})}, "make")
    return Router(**(options or {"actions": ACTIONS}))


def lines_at_random(seed: int, count: int, first: int = 0) -> list[tuple[str, dict[str, Any]]]:
    """Return requests, each with its verb: choices, late gains, corrections, actions."""
    rng = random.Random(seed)
    lines: list[tuple[str, dict[str, Any]]] = []
    waiting: list[int] = []
    settled: list[int] = []
    ticket, joined = first, 0
    while len(lines) < count:
        draw = rng.random()
        if draw < 0.5 or not waiting:
            body: dict[str, Any] = {}
            if rng.random() < 0.4:
                body["context"] = rng.choice(["night", 7, True, {"language": "fr"}, ""])
            if rng.random() < 0.3:
                body["awake"] = rng.sample(ACTIONS, 2)
            lines.append(("choose", body))
            waiting.append(ticket)
            ticket += 1
        elif draw < 0.85:
            one = waiting.pop(rng.randrange(len(waiting)))
            lines.append(("reward", {"ticket": one, "gain": rng.random()}))
            settled.append(one)
        elif draw < 0.95 and settled:
            lines.append(("correct", {"ticket": rng.choice(settled), "gain": rng.random()}))
        else:
            joined += 1
            lines.append(("actions", {"join": f"extra {first} {joined}"}))
    return lines


def line_of(verb: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the line of `normalhedge route -` that asks for the same."""
    if verb == "choose":
        return {"choose": body}
    if verb == "correct":
        return {"ticket": body["ticket"], "correct": body["gain"]}
    return body


def ask(client: Asked, verb: str, body: Any, key: str | None = None) -> tuple[int, Any]:
    headers = {} if key is None else {"idempotency-key": key}
    answer = client.post(f"{ONE}/{verb}", json=body, headers=headers)
    return answer.status_code, answer.json()


def play(client: Asked, own: Router, lines: list[tuple[str, dict[str, Any]]]) -> int:
    """Send lines, which a router of this process must answer in the same way; count the draws."""
    stream, draws, refused = RouterStream(own), 0, ""
    for verb, body in lines:
        said: dict[str, Any] = {}
        try:
            stream.reply(line_of(verb, body), said)
        except (ValueError, LookupError) as error:
            refused = str(error.args[0])
        status, answer = ask(client, verb, body)
        if status != 200:
            said = {"error": refused, "status": status, "kind": answer["kind"]}
        assert answer == said
        draws += verb == "choose"
    return draws


def test_the_life_of_a_router(db: str) -> None:
    with served(db) as url, Asked(url) as client:
        own = made(client, actions=ACTIONS, seed=3)
        assert play(client, own, lines_at_random(1, 40)) > 10
        # A gain of others is told in advance, or all gains come.
        status, choice = ask(client, "choose", {"seen": ["tiny"], "awake": ACTIONS})
        expected = own.choose(seen=["tiny"], awake=ACTIONS)
        assert (status, choice["action"]) == (200, expected.action)
        gains = dict.fromkeys({choice["action"], "tiny"}, 0.25)
        assert ask(client, "reward", {"ticket": choice["ticket"], "gain": gains})[0] == 200
        own.reward(expected.ticket, gains)
        assert client.get(f"{ONE}/state").text == state_text(own)
        summary = client.get(f"{ONE}/summary").json()
        assert summary["text"] == str(own.summary())
        assert {row["action"] for row in summary["actions"]} == set(own.actions)
        details = client.get(ONE).json()
        assert details["names"] == list(own.actions)
        assert details["probabilities"] == own.probabilities()
        assert (details["settled"], details["pending"]) == (own.rounds, len(own.pending))
        assert details["settings"]["seed"] == 3
        past = client.get(f"{ONE}/history", params={"limit": 5}).json()["rounds"]
        assert past[-1]["gain"] == gains
        assert past[-1]["seen"] == ["tiny"]
        assert past[-1]["action"] == choice["action"]
        waiting = client.get(f"{ONE}/pending").json()["pending"]
        assert [row["ticket"] for row in waiting] == own.pending
        # A copy draws the same.
        headers = {"content-type": "application/json"}
        state = state_text(own)
        assert client.put("/v1/routers/copy/state", content=state, headers=headers).is_success
        ours = client.send_json("/v1/routers/copy/choose", {})
        assert ours["action"] == ask(client, "choose", {})[1]["action"] == own.choose().action
        assert [r["name"] for r in client.get("/v1/routers").json()["routers"]] == [
            "copy",
            "models",
        ]
        assert client.get("/v1/mixtures").json()["mixtures"] == []
        assert client.patch("/v1/routers/copy", json={"name": "twin"}).is_success
        assert client.delete("/v1/routers/twin").is_success
        assert client.get("/v1/routers/twin").status_code == 404
        assert f'router_gain{{router="models"}} {own.gain}' in client.get("/metrics").text
        changes = [json.loads(line) for line in client.get("/v1/log").text.splitlines()]
        assert [change["kind"] for change in changes] == ["create", "import", "rename", "delete"]


def test_a_killed_server_draws_the_same_again(db: str) -> None:
    parts = [lines_at_random(seed, 40, 1000 * seed) for seed in range(2)]
    own, begun = Router(**OPTIONS), 0
    for part in parts:
        with process("--db", db) as (url, child), Asked(url) as client:
            made(client, **OPTIONS)  # the key says that this is the first one, again
            moved = [
                (
                    verb,
                    body | ({"ticket": body["ticket"] % 1000 + begun} if "ticket" in body else {}),
                )
                for verb, body in part
            ]
            kept = [(verb, body) for verb, body in moved if "join" not in body]
            begun += play(client, own, kept)
            child.kill()
            child.wait()
    with served(db) as url, Asked(url) as client:
        assert client.get(f"{ONE}/state").text == state_text(own)
        assert play(client, own, [("choose", {})] * 5) == 5


def test_snapshots_in_between_lead_to_the_same_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "SNAPSHOT_EVERY", 10)
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        own = made(client, actions=ACTIONS)
        play(client, own, lines_at_random(9, 40))
        log = client.get(f"{ONE}/log", params={"events": "true"}).text.splitlines()
        lines = storage_of(str(tmp_path / "a.db")).snapshots(1)
        assert len(lines) > 2
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert client.get(f"{ONE}/state").text == state_text(own)
    again = Router(ACTIONS)
    for event in map(json.loads, log):
        again.redo(event["body"])
    assert state_text(again) == state_text(own)


def test_a_log_that_draws_other_actions_is_refused() -> None:
    own = Router(ACTIONS)
    other = {"choose": {}, "ticket": 0, "action": "none of them"}
    with pytest.raises(ValueError, match=r"the journal has the choice .*none of them"):
        own.redo(other)


def test_the_command_line_replays_the_log(tmp_path: Path) -> None:
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        own = made(client)
        play(client, own, lines_at_random(5, 25))
        first = client.get(f"{ONE}/state", params={"sequence": 0}).text
        (tmp_path / "first.json").write_text(first)
        log = client.get(f"{ONE}/log").text
    command = [sys.executable, "-m", "normalhedge", "route", "-", "--state"]
    subprocess.run([*command, tmp_path / "first.json"], input=log, text=True, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    again = Router.load(tmp_path / "first.json")
    assert state_text(again) == state_text(own)


SMALL = Limits(actions=4, name=20, pending=3, history=50, memory=200_000, rounds=10, body=20_000)

REFUSED: list[tuple[str, Any, int, str]] = [
    ("choose", {"awake": []}, 422, "awake must name at least one"),
    ("choose", {"awake": ["x"]}, 422, "unknown action 'x'"),
    ("choose", {"awake": "small"}, 422, "Expected `array | null`"),
    ("choose", {"seen": "some"}, 422, "seen must be a list of actions"),
    ("choose", {"context": 1.5}, 422, "context must be text"),
    ("choose", {"context": "x" * 300}, 422, "context must be short"),
    ("choose", {"wake": []}, 422, "unknown field `wake`"),
    ("choose", [], 422, "Expected `object`"),
    ("reward", {"ticket": 0, "gain": 1.5}, 422, "must be in [0, 1]"),
    ("reward", {"ticket": 0, "gain": -0.1}, 422, "must be in [0, 1]"),
    ("reward", {"ticket": 0, "gain": "1"}, 422, "Expected `float | object`"),
    ("reward", {"ticket": 0, "gain": None}, 422, "Expected `float | object`"),
    ("reward", {"ticket": 0, "gain": {"tiny": 0.5}}, 422, "'tiny' was not offered"),
    ("reward", {"ticket": 0, "gain": {"x": 0.5}}, 422, "'x' was not offered"),
    ("reward", {"ticket": 0, "gain": {}}, 422, "which was chosen"),
    ("reward", {"ticket": 1, "gain": 0.5}, 409, "has its gain already: correct changes it"),
    ("reward", {"ticket": 9, "gain": 0.5}, 404, "there was no choice with ticket 9"),
    ("reward", {"ticket": -1, "gain": 0.5}, 422, ">= 0"),
    ("reward", {"ticket": 0}, 422, "missing required field `gain`"),
    ("correct", {"ticket": 0, "gain": 0.5}, 409, "still waits for its gain"),
    ("correct", {"ticket": 9, "gain": 0.5}, 404, "is not in the history"),
    ("correct", {"ticket": 1, "gain": 2}, 422, "must be in [0, 1]"),
    ("actions", {"join": "small"}, 422, "there is an action 'small' already"),
    ("actions", {"join": "x" * 21}, 422, "at most 20 characters"),
    ("actions", {"join": ""}, 422, "not empty"),
    ("actions", {"leave": "x"}, 422, "unknown action 'x'"),
    ("actions", {}, 422, "exactly one of join and leave"),
    ("actions", {"join": "x", "leave": "small"}, 422, "exactly one of join and leave"),
    ("rounds", {"rounds": [{"choose": {}}] * 11}, 422, "at most 10 rounds"),
]


def test_what_a_router_refuses_changes_nothing(tmp_path: Path) -> None:
    with served(tmp_path / "a.db", limits=SMALL) as url, Asked(url) as client:
        made(client, actions=ACTIONS, seed=1)
        ask(client, "choose", {"awake": ["small", "large"]})
        ask(client, "choose", {})
        ask(client, "reward", {"ticket": 1, "gain": 0.5})
        before = client.get(f"{ONE}/state").text
        for verb, body, status, sentence in REFUSED:
            found = ask(client, verb, body)
            assert found[0] == status, (verb, body, found)
            assert sentence in found[1]["error"], (verb, body, found)
        bad = {"rounds": [{"choose": {}, "x": 1}]}
        assert (
            "a line must be an object with choose"
            in ask(client, "rounds", bad)[1]["answers"][0]["error"]
        )
        assert client.get(f"{ONE}/state").text == before
        # One action more fits, and then none.
        assert ask(client, "actions", {"join": "four"}) == (200, {"joined": "four"})
        assert "at most 4 actions" in ask(client, "actions", {"join": "five"})[1]["error"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"actions": ["a", "a"]}, "actions must be different"),
        ({"actions": ["a", ""]}, "not empty"),
        ({"actions": ["a", "b", "c", "d", "e"]}, "at most 4 actions"),
        ({"actions": "a"}, "Expected `array`"),
        ({"rule": "best"}, "best"),
        ({"gains": [1, 0]}, "gains must be a least and a larger gain"),
        ({"gains": [0]}, "length >= 2"),
        ({"actions": ["a"], "costs": {"a": 2}, "budget": 1}, "the cost of the cheapest action"),
        ({"actions": ["a"], "budget": 1}, "costs and budget belong together"),
        ({"max_pending": 4}, "max_pending must be at most 3"),
        ({"history": 1000}, "history must be at most 50"),
        ({"seed": -1}, ">= 0"),
        ({"name": "a b"}, "matching regex"),
        ({"colour": "red"}, "unknown field `colour`"),
    ],
)
def test_settings_that_no_router_has(small: Asked, options: Any, sentence: str) -> None:
    answer = small.post("/v1/routers", json={"name": "models", **options})
    assert answer.status_code == 422, answer.text
    assert sentence in answer.json()["error"]
    assert small.get("/v1/routers").json()["routers"] == []


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("small")
    with served(folder / "a.db", limits=SMALL) as url, Asked(url) as client:
        yield client


def test_memory_is_bounded(tmp_path: Path) -> None:
    limits = Limits(memory=300_000, actions=100)
    with served(tmp_path / "a.db", limits=limits) as url, Asked(url) as client:
        made(client, actions=[f"a{k}" for k in range(100)], rule="exp3-ix")
        lines = [{"choose": {"seen": "all", "context": k % 60}} for k in range(400)]
        answers = ask(client, "rounds", {"rounds": lines})[1]["answers"]
        assert client.get(ONE).json()["rounds"] < 400
        sentences = [answer["error"] for answer in answers if "error" in answer]
        assert sentences
        assert all("this server gives it at most" in sentence for sentence in sentences)
        assert ask(client, "choose", {})[0] == 200  # a plain choice takes next to nothing


def test_names_belong_to_one_kind(client: Asked) -> None:
    made(client)
    client.send_json("/v1/mixtures", {"name": "load"})
    taken = client.post("/v1/mixtures", json={"name": "models"})
    assert (taken.status_code, taken.json()["error"]) == (409, "there is a router 'models' already")
    assert client.post("/v1/routers", json={"name": "load"}).status_code == 409
    for path in ("/v1/mixtures/models", "/v1/mixtures/models/state"):
        assert client.get(path).json()["error"] == "there is no mixture 'models'"
    assert client.post("/v1/routers/load/choose", json={}).status_code == 404
    assert client.delete("/v1/mixtures/models").status_code == 404
    state = client.get("/v1/mixtures/load/state").json()
    assert client.put("/v1/routers/other/state", json=state).status_code == 422


def test_a_key_is_used_for_one_request(db: str) -> None:
    with served(db) as url, Asked(url) as client:
        made(client)
        first = ask(client, "choose", {"context": "night"}, "k")
        assert ask(client, "choose", {"context": "night"}, "k") == first
        status, answer = ask(client, "choose", {"context": "day"}, "k")
        assert (status, "Idempotency-Key" in answer["error"]) == (409, True)
        assert ask(client, "reward", {"ticket": 0, "gain": 0.5}, "r") == (200, {"settled": 0})
    with served(db) as url, Asked(url) as client:
        assert ask(client, "choose", {"context": "night"}, "k") == first
        assert ask(client, "reward", {"ticket": 0, "gain": 0.5}, "r") == (200, {"settled": 0})
        assert ask(client, "reward", {"ticket": 0, "gain": 0.5})[0] == 409
        assert client.get(ONE).json()["rounds"] == 1


def test_rights(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    admin, reads = new_token(file, "boss", "admin"), new_token(file, "wall", "read")
    other = new_token(file, "other", "admin", ["else"])
    with served(tmp_path / "a.db", token_file=str(file)) as url, Asked(url, admin) as client:
        made(client)
        with Asked(url, reads) as guest:
            assert guest.get(ONE).status_code == guest.get(f"{ONE}/summary").status_code == 200
            assert ask(guest, "choose", {})[0] == 403
            assert guest.delete(ONE).status_code == 403
        with Asked(url, other) as stranger:
            missing = stranger.get("/v1/routers/absent").json()["error"]
            assert missing == "there is no router 'absent'"
            assert stranger.get(ONE).json()["error"] == missing.replace("absent", "models")
            assert stranger.get("/v1/routers").json()["routers"] == []
            assert stranger.post("/v1/routers", json={"name": "mine"}).status_code == 403
        with Asked(url) as nobody:
            assert ask(nobody, "choose", {})[0] == 401
        ask(client, "choose", {})
        events = client.get(f"{ONE}/log", params={"events": "true"}).text.splitlines()
        assert json.loads(events[-1])["sender"]["token"] == "boss"


@pytest.mark.parametrize("stays", [True, False])
def test_an_open_stream_has_the_rights_of_the_present_name(tmp_path: Path, *, stays: bool) -> None:
    file = tmp_path / "tokens"
    admin = new_token(file, "boss", "admin")
    job = new_token(file, "job", "write", ["models", "renamed"] if stays else ["models"])
    with served(tmp_path / "a.db", token_file=str(file)) as url, Asked(url, admin) as client:
        made(client)
        with Talk(url, f"{ONE}/stream", token=job) as lines:
            lines.say(b'{"choose": {}}')
            lines.head()
            assert json.loads(lines.hear())["ticket"] == 0
            assert client.patch(ONE, json={"name": "renamed"}).is_success
            if stays:
                lines.say(b'{"choose": {}}')
                assert json.loads(lines.hear())["ticket"] == 1
            else:
                assert "does not allow it any more" in json.loads(lines.hear())["error"]
                assert lines.hear() == b""


def test_an_open_stream_ends_when_its_token_gets_another_name(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    admin, job = new_token(file, "boss", "admin"), new_token(file, "job", "write")
    with served(tmp_path / "a.db", token_file=str(file)) as url, Asked(url, admin) as client:
        made(client)
        with Talk(url, f"{ONE}/stream", token=job) as lines:
            lines.say(b'{"choose": {}}')
            lines.head()
            lines.hear()
            file.write_text(file.read_text().replace('"job"', '"task"'))
            begun = time.monotonic()
            assert "does not allow it any more" in json.loads(lines.hear())["error"]
            assert time.monotonic() - begun < 5.0


def test_events_tell_choices_and_gains(client: Asked) -> None:
    made(client)
    url = str(client.base_url)
    with Talk(url, f"{ONE}/events", "GET") as told, Talk(url, "/v1/events", "GET") as every:
        for talk in (told, every):
            talk.head()
            talk.hear()
        choice = ask(client, "choose", {"context": "night"})[1]
        ask(client, "reward", {"ticket": 0, "gain": 0.5})
        rounds: list[Any] = []
        while not any(event.get("settled") for event in rounds):
            rounds += json.loads(told.hear().split(b"data: ")[1])["events"]
        assert rounds[0]["predicted"][0]["context"] == "night"
        settled = next(event["settled"] for event in rounds if "settled" in event)
        assert settled[0]["gain"] == 0.5
        assert settled[0]["action"] == choice["action"]
        health = json.loads(every.hear().split(b"data: ")[1])
        assert health["mixtures"] == []
        assert health["routers"][0]["rounds"] == 1
