"""The client for asyncio: the verbs of `normalhedge.service.client.Client`, awaited."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, Unpack

from normalhedge.boundary import extras, whole_files
from normalhedge.mixtures import Mixture, MixtureOptions
from normalhedge.mixtures.state import Prediction
from normalhedge.service.client import _verbs as verbs
from normalhedge.service.client._clients import answer_of, options
from normalhedge.service.client._retrying import AGAIN, Ask, Attempts, result, sentence_of
from normalhedge.service.client._summaries import ServedSummary


class AsyncClient:
    """A server of ``normalhedge serve``, for asyncio: `Client` says more.

    Parameters
    ----------
    url, token, timeout, patience
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

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = 30.0, patience: float = 60.0
    ) -> None:
        httpx = extras.require("httpx")
        self.url = url
        self.patience = patience
        self._http = httpx.AsyncClient(**options(url, token, timeout))
        self._trouble: type[Exception] = httpx.TransportError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, ask: Ask) -> Any:
        """Send a request until there is an answer, and return the result."""
        attempts, arguments = Attempts(self.patience, ask.key or None), ask.arguments()
        while True:
            try:
                answer = answer_of(await self._http.request(**arguments))
            except self._trouble as error:
                trouble, wait = str(error) or type(error).__name__, None
            else:
                if answer.status not in AGAIN:
                    return result(ask, answer)
                trouble, wait = sentence_of(answer)[0], answer.wait
            await asyncio.sleep(attempts.pause(trouble, wait))

    async def mixture(
        self, name: str, *, create: bool = True, **settings: Unpack[MixtureOptions]
    ) -> "AsyncServedMixture":
        """Return a mixture of the server; make it if there is none of this name.

        Parameters
        ----------
        name, create, **settings
            As for `Client.mixture`.
        """
        given = verbs.checked(settings)
        mixture = AsyncServedMixture(self, name)
        try:
            known = (await mixture.details())["settings"]
        except KeyError:
            if not create:
                raise
            try:
                await self.send(verbs.create(name, given))
                return mixture
            except ValueError as error:
                try:  # another client may have made it meanwhile
                    known = (await mixture.details())["settings"]
                except KeyError:
                    raise error from None
        verbs.check_same(name, given, known)
        return mixture

    async def names(self) -> list[str]:
        """Return the names of the mixtures that the token may see."""
        found: list[str] = await self.send(verbs.names())
        return found

    async def load(self, name: str, path: str | Path) -> "AsyncServedMixture":
        """Make a mixture of a file that `Mixture.save` wrote.

        Parameters
        ----------
        name, path
            As for `Client.load`.
        """
        await self.send(verbs.upload(verbs.path_of(name), path))
        return AsyncServedMixture(self, name)

    async def rename(self, old: str, new: str) -> "AsyncServedMixture":
        """Give a mixture another name.

        Parameters
        ----------
        old, new
            The present name, and a name that is free.
        """
        await self.send(verbs.rename(verbs.path_of(old), new))
        return AsyncServedMixture(self, new)

    async def delete(self, name: str) -> None:
        """Delete a mixture."""
        await self.send(verbs.delete(verbs.path_of(name)))

    def __repr__(self) -> str:
        """Return the address."""
        return f"AsyncClient({self.url!r})"


class AsyncServedMixture:
    """A mixture of a server, whose verbs are those of `ServedMixture`, awaited.

    Parameters
    ----------
    client
        The client.
    name
        The name of the mixture.
    """

    def __init__(self, client: AsyncClient, name: str) -> None:
        self.name = name
        self._path = verbs.path_of(name)
        self._send = client.send

    async def predict(
        self,
        forecasts: Mapping[str, Any],
        confidence: Mapping[str, float] | None = None,
        *,
        id: Any = None,  # noqa: A002
        key: str | None = None,
    ) -> Prediction:
        """Return the blend of the forecasts, the weights of the experts and a ticket.

        Parameters
        ----------
        forecasts, confidence, id, key
            As for `ServedMixture.predict`.
        """
        ask = verbs.predict(self._path, forecasts, confidence, id, key)
        found: Prediction = await self._send(ask)
        return found

    async def peek(
        self, forecasts: Mapping[str, Any], confidence: Mapping[str, float] | None = None
    ) -> Prediction:
        """Return what `predict` would return, and change nothing; the ticket is -1.

        Parameters
        ----------
        forecasts, confidence
            As for `predict`.
        """
        ask = verbs.predict(self._path, forecasts, confidence, None, None, peek=True)
        found: Prediction = await self._send(ask)
        return found

    async def update(
        self,
        ticket: int | None = None,
        outcome: Any = None,
        *,
        id: Any = None,  # noqa: A002
        key: str | None = None,
    ) -> None:
        """Learn from an outcome.

        Parameters
        ----------
        ticket, outcome, id, key
            As for `ServedMixture.update`.
        """
        await self._send(verbs.settle(self._path, "outcome", ticket, outcome, id, key))

    async def correct(
        self,
        ticket: int | None = None,
        outcome: Any = None,
        *,
        id: Any = None,  # noqa: A002
        key: str | None = None,
    ) -> None:
        """Replace the outcome of a settled round by the right one.

        Parameters
        ----------
        ticket, outcome, id, key
            As for `ServedMixture.correct`.
        """
        await self._send(verbs.settle(self._path, "correct", ticket, outcome, id, key))

    async def batch(
        self, lines: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> list[dict[str, Any]]:
        """Do many things in one request, in order; return an answer to each.

        Parameters
        ----------
        lines, key
            As for `ServedMixture.batch`.
        """
        found: list[dict[str, Any]] = await self._send(verbs.batch(self._path, lines, key))
        return found

    async def leave(self, name: str, *, key: str | None = None) -> None:
        """Remove an expert; its weight goes to the others, and its name is free again.

        Parameters
        ----------
        name, key
            As for `ServedMixture.leave`.
        """
        await self._send(verbs.experts(self._path, "leave", name, key))

    async def retire(self, name: str, *, key: str | None = None) -> None:
        """Let an expert sleep for good, whatever is forecast in its name.

        Parameters
        ----------
        name, key
            As for `ServedMixture.retire`.
        """
        await self._send(verbs.experts(self._path, "retire", name, key))

    async def rename(self, old: str, new: str, *, key: str | None = None) -> None:
        """Give an expert another name; its weight, its record and its pending forecasts stay.

        Parameters
        ----------
        old, new, key
            As for `ServedMixture.rename`.
        """
        await self._send(verbs.experts(self._path, "rename", [old, new], key))

    async def inherit(self, new: str, old: str, *, key: str | None = None) -> None:
        """Let an expert start where another stands, as a new version of a model does.

        Parameters
        ----------
        new, old, key
            As for `ServedMixture.inherit`.
        """
        await self._send(verbs.experts(self._path, "inherit", [new, old], key))

    async def summary(self) -> ServedSummary:
        """Return a summary of the mixture, which prints as tables."""
        found: ServedSummary = await self._send(verbs.summary(self._path))
        return found

    async def past_rounds(
        self, since: float | None = None, until: float | None = None, limit: int = 500
    ) -> list[dict[str, Any]]:
        """Return settled rounds with their losses and weights, the oldest first.

        Parameters
        ----------
        since, until, limit
            As for `ServedMixture.past_rounds`.
        """
        ask = verbs.past(self._path, since, until, limit)
        found: list[dict[str, Any]] = await self._send(ask)
        return found

    async def pending(self) -> dict[int, dict[str, Any]]:
        """Return the rounds that wait for their outcomes, by ticket."""
        found: dict[int, dict[str, Any]] = await self._send(verbs.pending(self._path))
        return found

    async def local(self) -> Mixture:
        """Return a copy as a `Mixture` of this process, exact to the bit; it goes its own way."""
        return verbs.local(await self._send(verbs.state(self._path)), self.name)

    async def save(self, path: str | Path) -> None:
        """Write the state to a JSON file that `Mixture.load` reads, all or nothing."""
        content: bytes = await self._send(verbs.state(self._path))
        whole_files.write_whole(Path(path), lambda file: file.write_bytes(content))

    async def next_weights(self, names: Iterable[str] | None = None) -> dict[str, float]:
        """Return the weights with which `predict` would combine these experts in the next round."""
        return (await self.local()).next_weights(names)

    async def details(self) -> dict[str, Any]:
        """Return the settings, the experts and the health of the mixture."""
        found: dict[str, Any] = await self._send(verbs.details(self._path))
        return found

    def __repr__(self) -> str:
        """Return the name."""
        return f"AsyncServedMixture({self.name!r})"
