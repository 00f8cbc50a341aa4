"""The client against a real server: it is a mixture, and nothing that breaks is learned twice."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from normalhedge import AsyncClient, Client, Mixture
from normalhedge.mixtures.files._saved import Snapshot, snapshot_text
from normalhedge.service import access
from normalhedge.service.client import NotAcknowledged, ServedMixture, _retrying as retrying
from normalhedge.service.client._retrying import Answer, Ask, Attempts
from tests.service.faulty import CUTS, proxied
from tests.service.running import Asked, served

LIMITS: dict[str, Any] = {"max_pending": 10_000, "max_names": 10_000, "history": 200}
"""Settings for which a server has defaults of its own."""


@pytest.fixture
def far(server: str) -> Iterator[Client]:
    with Client(server, patience=30.0) as client:
        yield client


def state(mixture: Mixture) -> str:
    return snapshot_text(Snapshot(mixture))


def play(mixture: Any, rounds: int, seed: int = 0) -> list[Any]:
    """Play rounds in which outcomes come late, and return what was predicted."""
    rng = np.random.default_rng(seed)
    values, waiting = [], []
    for k in range(rounds):
        made = mixture.predict({"a": rng.normal(), "b": rng.normal() + 1.0, "c": rng.normal()})
        values.append((made.value, made.ticket, made.weights))
        waiting.append(made.ticket)
        if k % 3:
            mixture.update(waiting.pop(int(rng.integers(len(waiting)))), rng.normal())
    return values


FORMS: dict[str, tuple[dict[str, Any], list[tuple[Any, Any]]]] = {
    "numbers": ({}, [({"a": 1.0, "b": 2}, 1.5), ({"a": None, "b": float("nan")}, 1.0), ({}, 2.0)]),
    "numpy": (
        {"loss": "absolute"},
        [({"a": np.float32(1.5), "b": np.int64(3)}, np.float64(2.0))] * 3,
    ),
    "vectors": (
        {"interval": [0.5, 0.9]},
        [({"a": np.array([1.0, 2.0]), "b": [3.0, None]}, np.array([1.0, np.nan]))] * 4,
    ),
    "items": (
        {"shared": False},
        [({"a": {"x": 1.0, "y": 2.0}, "b": {"y": 3.0}}, {"x": 1.5, "y": 2.5})] * 3,
    ),
    "classes": ({"loss": "log"}, [({"a": [0.2, 0.8], "b": [0.5, 0.5]}, 1)] * 3),
    "quantiles": (
        {"loss": "crps:levels=0.1/0.5/0.9"},
        [({"a": {0.1: 1.0, 0.5: 2.0, 0.9: 3.0}, "b": [0.0, 1.0, 4.0]}, 2.0)] * 3,
    ),
    "one rule": ({"hedger": "squint", "include": "mean", "even": 0.1}, [({"a": 1.0}, 2.0)] * 3),
}


@pytest.mark.parametrize("form", FORMS)
def test_predictions_are_those_of_a_mixture(far: Client, form: str) -> None:
    settings, rounds = FORMS[form]
    own = Mixture(**settings, **LIMITS)
    mixture = far.mixture("load", **settings, **LIMITS)
    for forecasts, outcome in rounds:
        for there, here in (
            (mixture.peek(forecasts), own.peek(forecasts)),
            (mixture.predict(forecasts), own.predict(forecasts)),
        ):
            np.testing.assert_equal(there.value, here.value)
            np.testing.assert_equal(there.weights, here.weights)
            np.testing.assert_equal(there.distribution, here.distribution)
            np.testing.assert_equal(there.intervals, here.intervals)
            np.testing.assert_equal(there.interval, here.interval)
            assert (there.ticket, there.names, there.keys) == (here.ticket, here.names, here.keys)
        if outcome is not None and forecasts:
            mixture.update(there.ticket, outcome)
            own.update(there.ticket, outcome)
    assert state(mixture.local()) == state(own)
    assert (mixture.names, mixture.items, mixture.rounds) == (own.names, own.items, own.rounds)
    assert (mixture.next_ticket, mixture.expired) == (own.next_ticket, own.expired)
    assert mixture.pending.keys() == own.pending.keys()


def change(mixture: Any) -> None:
    """Use every verb that changes a mixture."""
    play(mixture, 12)
    mixture.predict({"a": 1.0, "b": 2.0}, {"a": 0.5}, id="tomorrow")
    mixture.update(id="tomorrow", outcome=1.0)
    mixture.correct(12, 2.0)
    mixture.inherit("d", "a")
    mixture.rename("b", "z")
    mixture.retire("a")
    mixture.leave("c")


def test_every_verb_does_what_it_does_to_a_mixture(far: Client, tmp_path: Path) -> None:
    own, mixture = Mixture(**LIMITS), far.mixture("load", **LIMITS)
    change(own)
    change(mixture)
    assert state(mixture.local()) == state(own)
    assert mixture.next_weights(["d", "z"]) == own.next_weights(["d", "z"])
    assert str(mixture.summary()) == str(own.summary())
    assert mixture.summary().blend == own.summary().blend
    mixture.save(tmp_path / "state.json")
    assert state(Mixture.load(tmp_path / "state.json")) == state(own)
    answers = mixture.batch([{"forecasts": {"z": 1.0}}, {"ticket": 999, "outcome": 1.0}])
    assert answers[0]["ticket"] == 13
    assert "999" in answers[1]["error"]
    assert [one["ticket"] for one in mixture.past_rounds(limit=3)][-1] in range(13)


MISTAKES: list[Callable[[Any], object]] = [
    lambda m: m.predict(3),
    lambda m: m.predict({"a": "x"}),
    lambda m: m.predict({"a": True}),
    lambda m: m.predict({3: 1.0}),
    lambda m: m.predict({"a": object}),
    lambda m: m.predict({"a": 1.0, "b": [1.0]}),
    lambda m: m.predict({"a": 1.0}, 3),
    lambda m: m.predict({"a": 1.0}, {"a": "x"}),
    lambda m: m.predict({"a": 1.0}, {"a": 2.0}),
    lambda m: m.predict({"a": 1.0}, {"zz": 1.0}),
    lambda m: m.predict({"a": 1.0}, id="today"),
    lambda m: m.predict({"a": 1.0}, id=object()),
    lambda m: m.update(99, 1.0),
    lambda m: m.update(0, 1.0),
    lambda m: m.update("x", 1.0),
    lambda m: m.update(-1, 1.0),
    lambda m: m.update(),
    lambda m: m.update(1, 1.0, id="today"),
    lambda m: m.update(1, "x"),
    lambda m: m.update(1, True),
    lambda m: m.update(1),
    lambda m: m.update(1, {"x": 1.0}),
    lambda m: m.update(1, [1.0, 2.0]),
    lambda m: m.update(id="yesterday", outcome=1.0),
    lambda m: m.correct(1, 1.0),
    lambda m: m.retire("zz"),
    lambda m: m.leave(3),
    lambda m: m.rename("a", "b"),
    lambda m: m.inherit("c", "zz"),
]


def test_mistakes_are_told_as_a_mixture_tells_them(far: Client) -> None:
    own, mixture = Mixture(), far.mixture("load")
    for one in (own, mixture):
        one.update(one.predict({"a": 1.0, "b": 2.0}).ticket, 1.0)
        one.predict({"a": 1.0, "b": 2.0}, id="today")
    before = state(mixture.local())
    for mistake in MISTAKES:
        with pytest.raises((KeyError, ValueError, TypeError)) as here:
            mistake(own)
        with pytest.raises((KeyError, ValueError, TypeError)) as there:
            mistake(mixture)
        assert (there.type, str(there.value)) == (here.type, str(here.value))
    assert state(mixture.local()) == before


def test_a_mixture_is_made_once_and_its_settings_are_kept(far: Client, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="load"):
        far.mixture("load", create=False)
    play(far.mixture("load", loss="absolute", include="mean"), 4)
    again = far.mixture("load", loss="absolute", include=["mean"], interval=None)
    assert again.rounds == 4
    with pytest.raises(ValueError, match="with loss 'absolute' and not 'square'"):
        far.mixture("load", loss="square")
    with pytest.raises(TypeError, match="did you mean loss"):
        far.mixture("load", lost="square")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="runs no code"):
        far.mixture("wind", loss=lambda a, b: a - b)
    with pytest.raises(ValueError, match="nonsense"):
        far.mixture("wind", loss="nonsense")
    again.save(tmp_path / "state.json")
    copy = far.load("copy", tmp_path / "state.json")
    assert state(copy.local()) == state(again.local())
    assert far.mixture("copy", loss="absolute").rounds == 4
    assert far.names() == ["copy", "load"]
    assert far.rename("copy", "twin").rounds == 4
    far.delete("twin")
    assert far.names() == ["load"]
    for name in ("..", "a/b", "twin", ""):
        with pytest.raises(KeyError):
            far.mixture(name, create=False).predict({"a": 1.0})


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_learned_twice_where_connections_break(server: str, seed: int) -> None:
    own = Mixture(**LIMITS)
    said = play(own, 60, seed)
    with proxied(server, seed, share=0.4) as proxy, Client(proxy.url) as client:
        mixture = client.mixture("load", **LIMITS)
        assert play(mixture, 60, seed) == said
        assert state(mixture.local()) == state(own)
    assert all(proxy.cuts[cut] for cut in CUTS), proxy.cuts


def test_the_asynchronous_client_does_the_same(server: str, tmp_path: Path) -> None:
    async def main() -> None:
        own = Mixture(**LIMITS)
        with proxied(server, 1, share=0.3) as proxy:
            async with AsyncClient(proxy.url) as client:
                mixture = await client.mixture("load", **LIMITS)
                for k in range(15):
                    forecasts = {"a": 1.0 * k, "b": 2.0}
                    made = await mixture.predict(forecasts)
                    assert made.value == own.predict(forecasts).value
                    await mixture.update(made.ticket, 1.0)
                    own.update(made.ticket, 1.0)
                await mixture.correct(3, 2.0)
                own.correct(3, 2.0)
                for verb, names in (("inherit", "ca"), ("rename", "bd"), ("retire", "a")):
                    await getattr(mixture, verb)(*names)
                    getattr(own, verb)(*names)
                await mixture.leave("c")
                own.leave("c")
                assert state(await mixture.local()) == state(own)
                assert (await mixture.peek({"d": 1.0})).ticket == -1
                assert (await mixture.next_weights()).keys() == own.next_weights().keys()
                assert str(await mixture.summary()) == str(own.summary())
                await mixture.save(tmp_path / "a.json")
                with pytest.raises(KeyError):
                    await mixture.update(99, 1.0)
                assert len(await mixture.batch([{"d": 1.0}])) == 1
                assert (await mixture.pending()).keys() == {15}
                assert len(await mixture.past_rounds()) == 15
                await client.load("b", tmp_path / "a.json")
                await client.rename("b", "c")
                assert await client.names() == ["c", "load"]
                await client.delete("c")
                assert (await mixture.details())["rounds"] == 16

    asyncio.run(main())


def test_clients_that_come_at_once_make_one_mixture(server: str) -> None:
    async def main() -> None:
        async with AsyncClient(server) as client:
            found = await asyncio.gather(*(client.mixture("load") for _ in range(8)))
            made = await asyncio.gather(*(one.predict({"a": 1.0}) for one in found))
            assert sorted(one.ticket for one in made) == list(range(8))

    asyncio.run(main())


def test_the_same_key_gets_the_same_answer(far: Client, server: str) -> None:
    mixture = far.mixture("load")
    first = mixture.predict({"a": 1.0}, key="monday")
    assert mixture.predict({"a": 1.0}, key="monday").ticket == first.ticket
    with pytest.raises(ValueError, match="another request"):
        mixture.predict({"a": 2.0}, key="monday")
    mixture.update(first.ticket, 1.0, key="tuesday")
    mixture.update(first.ticket, 1.0, key="tuesday")
    with Asked(server) as plain:
        lines = plain.get("/v1/mixtures/load/log").text.splitlines()
    assert len(lines) == 2


def test_a_server_that_is_gone_is_told_with_the_key() -> None:
    client = Client("http://127.0.0.1:9", patience=0.3)
    with pytest.raises(NotAcknowledged, match=r"within 0\.3 s") as caught:
        ServedMixture(client, "load").update(0, 1.0)
    assert isinstance(caught.value, ConnectionError)
    assert caught.value.key is not None
    assert len(caught.value.key) == 32
    with pytest.raises(NotAcknowledged) as caught:
        client.names()
    assert caught.value.key is None


def test_pauses_grow_and_are_as_long_as_the_server_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("normalhedge.service.client._retrying.time.monotonic", lambda: clock[0])
    attempts = Attempts(60.0, "key")
    pauses = [attempts.pause("no", None) for _ in range(9)]
    assert all(0.5 <= p / min(0.05 * 2**k, 5.0) <= 1.0 for k, p in enumerate(pauses))
    assert attempts.pause("no", 20.0) == 20.0
    with pytest.raises(NotAcknowledged):
        attempts.pause("no", 61.0)
    clock[0] = 58.0
    with pytest.raises(NotAcknowledged):
        attempts.pause("no", None)


@pytest.mark.parametrize("header", [None, "Wed, 21 Oct 2026 07:28:00 GMT", "-1", "2"])
def test_retry_after_is_read(header: str | None) -> None:
    assert retrying.wait_of(header) == {"2": 2.0, "-1": 0.0}.get(str(header))


def test_requests_are_sent_again_with_the_same_key(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str | None, bytes]] = []
    answers = [503, 429, 502, 200]

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append((request.headers.get("idempotency-key"), request.read()))
        status = answers[len(seen) - 1]
        headers = {"retry-after": "7"} if status == 429 else {}
        return httpx.Response(status, json={"settled": 0}, headers=headers)

    slept: list[float] = []
    monkeypatch.setattr("normalhedge.service.client._clients.time.sleep", slept.append)
    client = Client("http://localhost:1")
    client._http = httpx.Client(base_url=client.url, transport=httpx.MockTransport(handle))
    ServedMixture(client, "load").update(0, 1.0)
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert slept[1] == 7.0
    assert max(slept[0], slept[2]) < 1.0


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, b'{"error": "who?"}', PermissionError),
        (403, b'{"error": "no"}', PermissionError),
        (404, b'{"error": "where?"}', KeyError),
        (409, b'{"error": "used"}', KeyError),
        (413, b'{"error": "long"}', ValueError),
        (422, b'{"error": "bad", "kind": "type"}', TypeError),
        (422, b'{"error": "bad", "kind": "value"}', ValueError),
        (500, b"<html>", RuntimeError),
        (302, b"", RuntimeError),
    ],
)
def test_answers_are_errors_of_python(status: int, body: bytes, error: type[Exception]) -> None:
    ask = Ask("POST", "/v1/mixtures/load/outcome", bytes)
    with pytest.raises(error):
        retrying.result(ask, Answer(status, body))


def test_addresses_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="http://"):
        Client("localhost:8008")


def test_httpx_is_imported_when_it_is_used() -> None:
    program = (
        "import sys; import normalhedge; normalhedge.Client; assert 'httpx' not in sys.modules\n"
        "sys.modules['httpx'] = None\n"
        "try: normalhedge.Client('http://localhost:1')\n"
        "except ImportError as error: assert 'normalhedge[client]' in str(error), error\n"
        "else: raise AssertionError"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_examples_of_the_docstrings_run(tmp_path: Path) -> None:
    with served(tmp_path / "a.db") as url:
        text = (AsyncClient.__doc__ or "") + (Client.__doc__ or "")
        lines = [line.strip() for line in text.splitlines()]
        code = [line[4:].split("# doctest")[0] for line in lines if line[:4] in (">>> ", "... ")]
        program = "\n".join(code).replace("http://localhost:8008", url)
        program = program.replace('mixture("load")', 'mixture("other")')
        subprocess.run([sys.executable, "-c", program], check=True)


def test_tokens_are_sent_and_their_scopes_are_told(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    admin, reader = (
        access.new_token(tokens, scope, scope, None, None) for scope in ("admin", "read")
    )
    with served(tmp_path / "a.db", token_file=str(tokens)) as url:
        with Client(url) as nobody, pytest.raises(PermissionError, match="token"):
            nobody.names()
        with Client(url, admin) as owner:
            assert owner.mixture("load").predict({"a": 1.0}).ticket == 0
        with Client(url, reader) as guest:
            mixture = guest.mixture("load")
            assert mixture.peek({"a": 1.0}).value == 1.0
            with pytest.raises(PermissionError):
                mixture.predict({"a": 1.0})
            with pytest.raises(PermissionError):
                guest.mixture("other")
