"""Requests over a plain connection: the sender takes little of the processor, and sees each cut."""

import asyncio
import json
from contextlib import suppress
from typing import Any, Self
from urllib.parse import urlsplit


class Connection:
    """A connection that is kept open; requests are sent one after another."""

    def __init__(self, url: str) -> None:
        there = urlsplit(url)
        self._host, self._port = there.hostname, there.port
        self._head = f"host: {there.netloc}\r\ncontent-type: application/json\r\n"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()

    async def ask(
        self, method: str, path: str, body: Any = None, key: str | None = None
    ) -> tuple[int, bytes]:
        """Return the status and the body of the answer; ``body`` is sent as JSON, or as bytes."""
        content = b"" if body is None else body if isinstance(body, bytes) else _json(body)
        named = "" if key is None else f"idempotency-key: {key}\r\n"
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{named}content-length: {len(content)}\r\n"
        return await self.send(f"{head}\r\n".encode() + content)

    async def send(self, message: bytes) -> tuple[int, bytes]:
        """Send a whole request; return the status and the body of the answer."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        assert self._reader is not None
        self._writer.write(message)
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
            low = head.lower()
            if b"transfer-encoding: chunked" in low:
                return int(head[9:12]), await self._chunks()
            length = int(low.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            return int(head[9:12]), await self._reader.readexactly(length)
        except asyncio.IncompleteReadError as error:
            raise ConnectionError("the connection ended") from error

    async def _chunks(self) -> bytes:
        assert self._reader is not None
        found = b""
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            found += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)
        return found


def _json(body: Any) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
