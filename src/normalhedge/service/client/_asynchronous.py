"""The verbs of the client, written once: for asyncio as they stand, for threads by `_blocking`."""

from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

from normalhedge.mixtures import MixtureOptions
from normalhedge.service.client._connection import Connection
from normalhedge.service.client._encoding import (
    MIXTURES,
    ROUTERS,
    check_same,
    encode_settings,
    path_of,
    plain,
    read_list,
    skip,
)
from normalhedge.service.client._mixtures import AsyncServedMixture
from normalhedge.service.client._routers import AsyncServedRouter, RouterOptions, check_same_router
from normalhedge.service.client._served import AsyncServed
from normalhedge.service.client._transport import Request, new_key

T = TypeVar("T")
S = TypeVar("S", bound=AsyncServed)


class AsyncClient(Connection):
    """A server of ``normalhedge serve``, for asyncio: `Client` says more.

    Parameters
    ----------
    url, token, timeout, patience, ca, certificate, options
        As for `Client`.

    Examples
    --------
    >>> import asyncio
    >>> from normalhedge import AsyncClient
    >>> async def main():
    ...     async with AsyncClient("http://localhost:8008") as client:
    ...         mixture = await client.mixture("load")
    ...         prediction = await mixture.predict({"gam": 51.0, "ar": 49.0})
    ...         await mixture.update(prediction.ticket, outcome=50.8)
    >>> asyncio.run(main())                                                 # doctest: +SKIP
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def send(self, request: Request[T]) -> T:
        """Send a request until there is an answer, and return the result."""
        return await self._transport.send(request)

    async def mixture(
        self, name: str, *, create: bool = True, **settings: Unpack[MixtureOptions]
    ) -> AsyncServedMixture:
        """Return a mixture of the server; make it if there is none of this name.

        Parameters
        ----------
        name
            Its name: letters, digits, dots, hyphens and underscores.
        create
            Whether to make it if there is none.
        **settings
            The settings, as for `Mixture`; hedgers and losses by name. If the mixture is there
            already, it must have these settings.

        Raises
        ------
        KeyError
            If there is no such mixture, and it should not be made.
        ValueError, TypeError
            If a setting is not as described, or the mixture has another one.
        """
        wanted = encode_settings(settings)
        mixture = AsyncServedMixture(self, name)
        present = await self._settings(mixture, wanted, create=create)
        if present is not None:
            check_same(name, wanted, present)
        return mixture

    async def router(
        self, name: str, *, create: bool = True, **settings: Unpack[RouterOptions]
    ) -> AsyncServedRouter:
        """Return a router of the server; make it if there is none of this name.

        Parameters
        ----------
        name
            Its name, which no mixture has either.
        create
            Whether to make it if there is none.
        **settings
            The settings, as for `Router`; the rule by name. If the router is there already, it must
            have these settings.

        Raises
        ------
        KeyError
            If there is no such router, and it should not be made.
        ValueError, TypeError
            If a setting is not as described, or the router has another one.
        """
        wanted = {option: plain(value, option) for option, value in settings.items()}
        router = AsyncServedRouter(self, name)
        present = await self._settings(router, wanted, create=create)
        if present is not None:
            check_same_router(name, wanted, present)
        return router

    async def _settings(
        self, served: AsyncServed, wanted: dict[str, Any], *, create: bool
    ) -> dict[str, Any] | None:
        """Return the settings of an object; None if it was made, with the wanted ones."""
        try:
            return dict((await served.details())["settings"])
        except KeyError:
            if not create:
                raise
        body = {key: value for key, value in wanted.items() if value is not None}
        every, body = (
            path_of(served.name, served.word).rpartition("/")[0],
            {"name": served.name, **body},
        )
        try:
            await self.send(Request("POST", every, skip, body, new_key()))
            return None
        except ValueError as error:
            try:  # another client may have made it meanwhile
                return dict((await served.details())["settings"])
            except KeyError:
                raise error from None

    async def names(self) -> list[str]:
        """Return the names of the mixtures that the token may see."""
        mixtures = await self._transport.pages(MIXTURES, "mixtures")
        return [mixture["name"] for mixture in mixtures]

    async def alarms(self, limit: int = 100) -> list[dict[str, Any]]:
        """Return the alarms of the mixtures that the token may see, the newest first.

        Parameters
        ----------
        limit
            The largest number of alarms.
        """
        query = {"limit": limit}
        return await self.send(Request("GET", "/v1/alarms", read_list("alarms"), query=query))

    async def load(self, name: str, path: str | Path) -> AsyncServedMixture:
        """Make a mixture of a file that `Mixture.save` wrote.

        Parameters
        ----------
        name
            The name of the new mixture; it must be free.
        path
            The file.
        """
        return await self._load(AsyncServedMixture(self, name), path)

    async def rename(self, old: str, new: str) -> AsyncServedMixture:
        """Give a mixture another name.

        Parameters
        ----------
        old, new
            The present name, and a name that is free.
        """
        return await self._rename(AsyncServedMixture(self, old), new)

    async def delete(self, name: str) -> None:
        """Delete a mixture."""
        await self.send(Request("DELETE", path_of(name), skip, key=new_key()))

    async def router_names(self) -> list[str]:
        """Return the names of the routers that the token may see."""
        routers = await self._transport.pages(ROUTERS, "routers")
        return [router["name"] for router in routers]

    async def load_router(self, name: str, path: str | Path) -> AsyncServedRouter:
        """Make a router of a file that `Router.save` wrote.

        Parameters
        ----------
        name
            The name of the new router; it must be free.
        path
            The file.
        """
        return await self._load(AsyncServedRouter(self, name), path)

    async def rename_router(self, old: str, new: str) -> AsyncServedRouter:
        """Give a router another name.

        Parameters
        ----------
        old, new
            The present name, and a name that is free.
        """
        return await self._rename(AsyncServedRouter(self, old), new)

    async def delete_router(self, name: str) -> None:
        """Delete a router."""
        await self.send(Request("DELETE", path_of(name, "router"), skip, key=new_key()))

    async def _load(self, served: S, path: str | Path) -> S:
        address, content = f"{path_of(served.name, served.word)}/state", Path(path).read_bytes()
        await self.send(Request("PUT", address, skip, content, new_key()))
        return served

    async def _rename(self, served: S, new: str) -> S:
        address = path_of(served.name, served.word)
        await self.send(Request("PATCH", address, skip, {"name": new}, new_key()))
        return type(served)(self, new)
