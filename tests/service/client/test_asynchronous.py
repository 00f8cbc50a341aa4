"""The client for asyncio against a real server."""

import asyncio
from pathlib import Path

import pytest

from normalhedge import AsyncClient, Mixture
from tests.service.client.examples import LIMITS, state
from tests.service.faulty import proxied


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
                assert await mixture.alerts() == own.alerts()
                assert await mixture.alarms(limit=3) == await client.alarms() == []
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
