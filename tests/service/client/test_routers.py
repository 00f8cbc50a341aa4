"""Routers of a server through both clients: they are routers of this process."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from normalhedge import AsyncClient, Client, Router
from normalhedge.service._recovery import state_text
from tests.service.faulty import proxied

OPTIONS: dict[str, Any] = {"actions": ("a", "b", "c"), "seed": 5}


def test_a_served_router_is_a_router(server: str, tmp_path: Path) -> None:
    own = Router(**OPTIONS)
    with proxied(server, 3, share=0.2) as proxy, Client(proxy.url, patience=60.0) as client:
        router = client.router("models", **OPTIONS)
        for k in range(12):
            ours, theirs = own.choose(context=k % 2), router.choose(context=k % 2)
            assert theirs[:2] == ours[:2]
            assert theirs.ticket == ours.ticket
            assert theirs.probabilities.tolist() == ours.probabilities.tolist()
            if k % 3:
                own.reward(ours.ticket, 0.25 * (k % 4))
                router.reward(theirs.ticket, 0.25 * (k % 4))
        assert list(router.pending) == own.pending
        for one in (own, router):
            one.join("d")
            one.leave("c")
            one.correct(1, 0.5)
            choice = one.choose(awake=["a", "d"], seen="all")
            one.reward(choice.ticket, {"a": 0.5, "d": 1})
        assert state_text(router.local()) == state_text(own)
        assert str(router.summary()) == str(own.summary())
        assert (router.actions, router.rounds) == (list(own.actions), own.next_ticket)
        assert router.past_rounds(limit=1)[0]["gain"] == {"a": 0.5, "d": 1}
        assert router.batch([{"choose": {}}])[0]["action"] == own.choose().action
        router.save(tmp_path / "router.json")
        own.save(tmp_path / "own.json")
        assert Router.load(tmp_path / "router.json").choose().action == own.choose().action
        client.load_router("twin", tmp_path / "own.json")
        assert client.rename_router("twin", "copy").name == "copy"
        assert client.router_names() == ["copy", "models"]
        client.delete_router("copy")
        assert client.router_names() == ["models"]
        assert client.names() == []


def test_mistakes_raise_what_a_router_raises(server: str) -> None:
    with Client(server, patience=20.0) as client:
        with pytest.raises(KeyError, match="no router"):
            client.router("models", create=False)
        router = client.router("models", **OPTIONS)
        assert client.router("models", **OPTIONS).actions == ["a", "b", "c"]
        with pytest.raises(ValueError, match="with seed 5 and not 6"):
            client.router("models", **(OPTIONS | {"seed": 6}))
        own = Router(**OPTIONS)
        mistakes: list[tuple[str, tuple[Any, ...], type[Exception]]] = [
            ("reward", (0, 2.0), ValueError),
            ("reward", (7, 0.5), LookupError),
            ("correct", (0, 0.5), LookupError),
            ("choose", (None, ["x"]), ValueError),
            ("choose", (1.5,), TypeError),
            ("join", ("a",), ValueError),
        ]
        for one in (own, router):
            one.choose()
            for verb, arguments, error in mistakes:
                with pytest.raises(error):
                    getattr(one, verb)(*arguments)
        assert state_text(router.local()) == state_text(own)


def test_the_asynchronous_router_does_the_same(server: str) -> None:
    async def main() -> None:
        async with AsyncClient(server) as client:
            router = await client.router("models", **OPTIONS)
            own = Router(**OPTIONS)
            choice = await router.choose("night", key="k")
            assert choice.action == own.choose("night").action
            assert (await router.choose("night", key="k")).ticket == choice.ticket
            await router.reward(choice.ticket, 0.5)
            own.reward(0, 0.5)
            assert state_text(await router.local()) == state_text(own)

    asyncio.run(main())
