"""The client against a real server: it is a mixture, and nothing that breaks is learned twice."""

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import AsyncClient, Client, Mixture
from normalhedge.service import access
from normalhedge.service._limits import Limits
from normalhedge.service.client import (
    AsyncServedMixture,
    AsyncServedRouter,
    ServedMixture,
    ServedRouter,
)
from tests.service.client.examples import LIMITS, play, state
from tests.service.faulty import CUTS, proxied
from tests.service.running import Asked, served

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
    assert mixture.alerts() == own.alerts()
    assert mixture.alarms() == far.alarms() == []
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


def test_lists_that_come_in_parts_are_put_together(tmp_path: Path) -> None:
    with (
        served(tmp_path / "a.db", limits=Limits(answer=3_000)) as url,
        Client(url) as client,
        Asked(url) as plain,
    ):
        mixture = client.mixture("load")
        for ticket in range(60):
            mixture.predict({"a": 1.0, "b": 2.0})
            if ticket < 40:
                mixture.update(ticket, 1.5)
        for _ in range(10):  # an answer has at most 3,000 bytes
            mixture.batch([{"forecasts": {"a": 1.0}}] * 10)
        assert list(mixture.pending) == list(range(40, 160))
        assert plain.get("/v1/mixtures/load/pending").json()["next"] is not None
        assert plain.get("/v1/mixtures/load/history").json()["next"] is not None
        for limit in (1, 7, 39, 40, 500):
            rounds = [one["ticket"] for one in mixture.past_rounds(limit=limit)]
            assert rounds == list(range(40))[-limit:]


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


@pytest.mark.parametrize(
    ("awaited", "plain"),
    [
        (AsyncClient, Client),
        (AsyncServedMixture, ServedMixture),
        (AsyncServedRouter, ServedRouter),
    ],
)
def test_every_verb_for_asyncio_is_one_for_threads(awaited: type, plain: type) -> None:
    verbs = [name for name in dir(awaited) if inspect.iscoroutinefunction(getattr(awaited, name))]
    for name in verbs:
        assert name.startswith("_") or hasattr(plain, name), f"{plain.__name__} lacks {name}"
        if name.startswith("_") or isinstance(getattr(plain, name), property):
            continue
        verb, twin = getattr(awaited, name), getattr(plain, name)
        assert not inspect.iscoroutinefunction(inspect.unwrap(twin))
        assert twin.__qualname__ == verb.__qualname__.removeprefix("Async")
        assert twin.__doc__ == verb.__doc__
        assert inspect.signature(twin).parameters == inspect.signature(verb).parameters
