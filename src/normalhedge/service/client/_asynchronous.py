"""The verbs of the client, written once: for asyncio as they stand, for threads by `_blocking`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, Unpack

from normalhedge.boundary import whole_files
from normalhedge.mixtures import Mixture, MixtureOptions
from normalhedge.mixtures.alerts import Alert
from normalhedge.mixtures.files import read_snapshot_text
from normalhedge.mixtures.state import Prediction
from normalhedge.service.client._encoding import (
    MIXTURES,
    check_experts,
    check_same,
    encode_forecasts,
    encode_id,
    encode_outcome,
    encode_settings,
    path_of,
    plain,
    read_list,
    read_object,
    read_pending,
    read_prediction,
    skip,
)
from normalhedge.service.client._summaries import ServedSummary
from normalhedge.service.client._transport import (
    File,
    Request,
    Transport,
    check_patience,
    new_key,
)

T = TypeVar("T")


class AsyncClient:
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

    _blocking: ClassVar[bool] = False

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        ca: File | None = None,
        certificate: File | tuple[File, ...] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.url = url
        self._transport = Transport(
            url, token, blocking=self._blocking, timeout=timeout, patience=patience, ca=ca,
            certificate=certificate, options=options,
        )  # fmt: skip

    @property
    def patience(self) -> float:
        """The seconds after which a request is not repeated any more."""
        return self._transport.patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        self._transport.patience = check_patience(seconds)

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
    ) -> "AsyncServedMixture":
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
        try:
            present = (await mixture.details())["settings"]
        except KeyError:
            if not create:
                raise
            body = {key: value for key, value in wanted.items() if value is not None}
            try:
                await self.send(Request("POST", MIXTURES, skip, {"name": name, **body}, new_key()))
                return mixture
            except ValueError as error:
                try:  # another client may have made it meanwhile
                    present = (await mixture.details())["settings"]
                except KeyError:
                    raise error from None
        check_same(name, wanted, present)
        return mixture

    async def names(self) -> list[str]:
        """Return the names of the mixtures that the token may see."""
        mixtures = await self.send(Request("GET", MIXTURES, read_list("mixtures")))
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

    async def load(self, name: str, path: str | Path) -> "AsyncServedMixture":
        """Make a mixture of a file that `Mixture.save` wrote.

        Parameters
        ----------
        name
            The name of the new mixture; it must be free.
        path
            The file.
        """
        address, content = f"{path_of(name)}/state", Path(path).read_bytes()
        await self.send(Request("PUT", address, skip, content, new_key()))
        return AsyncServedMixture(self, name)

    async def rename(self, old: str, new: str) -> "AsyncServedMixture":
        """Give a mixture another name.

        Parameters
        ----------
        old, new
            The present name, and a name that is free.
        """
        await self.send(Request("PATCH", path_of(old), skip, {"name": new}, new_key()))
        return AsyncServedMixture(self, new)

    async def delete(self, name: str) -> None:
        """Delete a mixture."""
        await self.send(Request("DELETE", path_of(name), skip, key=new_key()))

    def __repr__(self) -> str:
        return f"AsyncClient({self.url!r})"


class AsyncServedMixture:
    """A mixture of a server, with the verbs of `ServedMixture`, awaited.

    Parameters
    ----------
    client
        The client.
    name
        The name of the mixture.
    """

    def __init__(self, client: AsyncClient, name: str) -> None:
        self.name = name
        self._path = path_of(name)
        self._client = client

    async def _read(
        self, verb: str, read: Callable[[bytes], T], query: dict[str, Any] | None = None
    ) -> T:
        return await self._client.send(Request("GET", f"{self._path}{verb}", read, query=query))

    async def _change(self, verb: str, body: Any, key: str | None, read: Callable[[bytes], T]) -> T:
        request = Request("POST", f"{self._path}/{verb}", read, body, key or new_key())
        return await self._client.send(request)

    async def predict(
        self,
        forecasts: Mapping[str, Any],
        confidence: Mapping[str, float] | None = None,
        *,
        id: Any = None,  # noqa: A002
        context: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Prediction:
        """Return the blend of the forecasts, the weights of the experts and a ticket.

        Parameters
        ----------
        forecasts, confidence, id, context
            As for `Mixture.predict`.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        body = encode_forecasts(forecasts, confidence, context) | encode_id(id)
        return await self._change("predict", body, key, read_prediction)

    async def peek(
        self,
        forecasts: Mapping[str, Any],
        confidence: Mapping[str, float] | None = None,
        *,
        context: Mapping[str, Any] | None = None,
    ) -> Prediction:
        """Return the result that `predict` would have, and change nothing; the ticket is -1.

        Parameters
        ----------
        forecasts, confidence, context
            As for `predict`.
        """
        body = encode_forecasts(forecasts, confidence, context)
        request = Request("POST", f"{self._path}/peek", read_prediction, body)
        return await self._client.send(request)

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
            As for `Mixture.update`; the key as for `predict`.
        """
        await self._change("outcome", encode_outcome(ticket, outcome, id), key, skip)

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
            As for `Mixture.correct`; the key as for `predict`.
        """
        await self._change("correct", encode_outcome(ticket, outcome, id), key, skip)

    async def batch(
        self, lines: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> list[dict[str, Any]]:
        """Do many things in one request, in order; return an answer to each.

        Parameters
        ----------
        lines
            Each as a line of ``normalhedge blend -``: ``{"forecasts": {...}}``, ``{"ticket": 0,
            "outcome": 50.8}``, ``{"retire": "gam"}``. A line that is refused is answered by
            ``{"error": ...}``, and the others are done.
        key
            As for `predict`.
        """
        body = {"rounds": [plain(dict(line), "a line") for line in lines]}
        return await self._change("rounds", body, key, read_list("answers"))

    async def leave(self, name: str, *, key: str | None = None) -> None:
        """Remove an expert; its weight goes to the others, and its name is free again.

        Parameters
        ----------
        name, key
            The expert; the key as for `predict`.
        """
        check_experts(name)
        await self._change("experts", {"leave": name}, key, skip)

    async def retire(self, name: str, *, key: str | None = None) -> None:
        """Let an expert sleep for good, whatever is forecast in its name.

        Parameters
        ----------
        name, key
            The expert; the key as for `predict`.
        """
        check_experts(name)
        await self._change("experts", {"retire": name}, key, skip)

    async def rename(self, old: str, new: str, *, key: str | None = None) -> None:
        """Give an expert another name; its weight, its record and its pending forecasts stay.

        Parameters
        ----------
        old, new, key
            The present name, and a name that no expert has; the key as for `predict`.
        """
        check_experts(old, new)
        await self._change("experts", {"rename": [old, new]}, key, skip)

    async def inherit(self, new: str, old: str, *, key: str | None = None) -> None:
        """Let an expert start where another stands, as a new version of a model does.

        Parameters
        ----------
        new, old, key
            The new expert, which joins if it is not present, and the old one; the key as for
            `predict`.
        """
        check_experts(new, old)
        await self._change("experts", {"inherit": [new, old]}, key, skip)

    async def summary(self) -> ServedSummary:
        """Return a summary of the mixture, which prints as tables."""
        return await self._read("/summary", ServedSummary.of)

    async def past_rounds(
        self, since: float | None = None, until: float | None = None, limit: int = 500
    ) -> list[dict[str, Any]]:
        """Return settled rounds with their losses and weights, the oldest first.

        Parameters
        ----------
        since, until
            The times between which they were settled, in seconds since 1970.
        limit
            The largest number of rounds; the last ones.
        """
        bounds = {"since": since, "until": until, "limit": limit}
        query = {name: value for name, value in bounds.items() if value is not None}
        return await self._read("/history", read_list("rounds"), query)

    async def alarms(self, limit: int = 100) -> list[dict[str, Any]]:
        """Return the alarms of the mixture, the newest first: when they began, and ended.

        Parameters
        ----------
        limit
            The largest number of alarms.
        """
        return await self._read("/alarms", read_list("alarms"), {"limit": limit})

    async def alerts(self) -> tuple[Alert, ...]:
        """Return the experts that got worse, that stopped, or that repeat another one."""
        return (await self.local()).alerts()

    async def pending(self) -> dict[int, dict[str, Any]]:
        """Return the rounds that wait for their outcomes, by ticket: their times, and their ids."""
        return await self._read("/pending", read_pending)

    async def local(self) -> Mixture:
        """Return a copy as a `Mixture` of this process, exact to the bit; it goes its own way."""
        return Mixture.of(read_snapshot_text(await self._read("/state", bytes), self.name).state)

    async def save(self, path: str | Path) -> None:
        """Write the state to a JSON file that `Mixture.load` reads, all or nothing."""
        content = await self._read("/state", bytes)
        whole_files.write_whole(Path(path), lambda file: file.write_bytes(content))

    async def next_weights(self, names: Iterable[str] | None = None) -> dict[str, float]:
        """Return the weights with which `predict` would combine these experts in the next round."""
        return (await self.local()).next_weights(names)

    async def details(self) -> dict[str, Any]:
        """Return the settings, the experts and the health of the mixture."""
        return await self._read("", read_object)

    def __repr__(self) -> str:
        return f"AsyncServedMixture({self.name!r})"
