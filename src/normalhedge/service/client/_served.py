"""The verbs that mixtures and routers of a server share."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from normalhedge.boundary import whole_files
from normalhedge.service.client._connection import Connection
from normalhedge.service.client._encoding import path_of, plain, read_list, read_object
from normalhedge.service.client._transport import Request, new_key

T = TypeVar("T")


class AsyncServed:
    """A mixture or a router of a server.

    Parameters
    ----------
    client
        The client.
    name
        Its name.
    """

    word: ClassVar[str]  # what it is

    def __init__(self, client: Connection, name: str) -> None:
        self.name = name
        self._path = path_of(name, self.word)
        self._transport = client._transport

    async def _read(
        self, verb: str, read: Callable[[bytes], T], query: dict[str, Any] | None = None
    ) -> T:
        return await self._transport.send(Request("GET", f"{self._path}{verb}", read, query=query))

    async def _change(self, verb: str, body: Any, key: str | None, read: Callable[[bytes], T]) -> T:
        request = Request("POST", f"{self._path}/{verb}", read, body, key or new_key())
        return await self._transport.send(request)

    async def batch(
        self, lines: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> list[dict[str, Any]]:
        """Do many things in one request, in order; return an answer to each.

        Parameters
        ----------
        lines
            Each as a line of ``normalhedge blend -``, such as ``{"ticket": 0, "outcome": 50.8}``,
            or of ``normalhedge route -``. A line that is refused is answered by
            ``{"error": ...}``, and the others are done.
        key
            As for `update` or `reward`.
        """
        body = {"rounds": [plain(dict(line), "a line") for line in lines]}
        return await self._change("rounds", body, key, read_list("answers"))

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
        return await self._transport.pages(f"{self._path}/history", "rounds", "before", query)

    async def alarms(self, limit: int = 100) -> list[dict[str, Any]]:
        """Return the alarms of it, the newest first: when they began, and ended.

        Parameters
        ----------
        limit
            The largest number of alarms.
        """
        return await self._read("/alarms", read_list("alarms"), {"limit": limit})

    async def pending(self) -> dict[int, dict[str, Any]]:
        """Return the rounds that wait for their outcomes, by ticket: their times, and their ids."""
        rows = await self._transport.pages(f"{self._path}/pending", "pending")
        return {row.pop("ticket"): row for row in rows}

    async def save(self, path: str | Path) -> None:
        """Write the state to a JSON file that `Mixture.load` reads, all or nothing."""
        content = await self._read("/state", bytes)
        whole_files.write_whole(Path(path), lambda file: file.write_bytes(content))

    async def details(self) -> dict[str, Any]:
        """Return the settings, the experts and the health of it."""
        return await self._read("", read_object)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"
