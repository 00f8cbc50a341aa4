"""Type checkers know the verbs of both clients; `make check` reads this program, nobody runs it.

An ignored error that is no error any more is an error of `make check`, too.
"""

from typing import Any, assert_type

from normalhedge import AsyncClient, Client, Mixture
from normalhedge.service.client import (
    AsyncServedMixture,
    ServedMixture,
    ServedRouter,
    ServedSummary,
)


def with_threads() -> None:
    with Client("http://localhost:8008", "token", ca="ca.pem", options={"http2": True}) as client:
        mixture = client.mixture("load", loss="absolute", interval=0.9)
        assert_type(mixture, ServedMixture)
        made = mixture.predict({"gam": 51.0, "ar": 49.0}, {"ar": 0.5}, id="a", context={"hour": 7})
        assert_type(made.ticket, int)
        mixture.update(made.ticket, outcome=50.8)
        assert_type(client.names(), list[str])
        assert_type(mixture.past_rounds(limit=3), list[dict[str, Any]])
        assert_type(mixture.local(), Mixture)
        client.mixture("load", lost="absolute")  # type: ignore[call-arg]
        mixture.predict()  # type: ignore[call-arg]
        mixture.update(0, outcom=1.0)  # type: ignore[call-arg]
        mixture.past_rounds(limit="3")  # type: ignore[arg-type]
        mixture.foresee({"gam": 1.0})  # type: ignore[attr-defined]
        router = client.router("models", actions=["a", "b"], rule="exp3-ix")
        assert_type(router, ServedRouter)
        assert_type(router.choose(context="night").action, str)
        client.router("models", action=["a"])  # type: ignore[call-arg]
        Client("http://localhost:8008", ca=3)  # type: ignore[arg-type]


async def with_asyncio() -> None:
    async with AsyncClient("http://localhost:8008") as client:
        mixture = await client.mixture("load", loss="absolute")
        assert_type(mixture, AsyncServedMixture)
        assert_type(await mixture.summary(), ServedSummary)
        assert_type((await mixture.predict({"gam": 1.0})).ticket, int)
        await mixture.update(0, outcom=1.0)  # type: ignore[call-arg]
