"""Answers that stay open, over a bare connection: both sides talk at the same time."""

import socket
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Talk:
    """A request whose body and whose answer are sent in chunks, in turns."""

    def __init__(
        self, url: str, path: str, method: str = "POST", token: str = "", host: str = ""
    ) -> None:
        there = urlsplit(url)
        self.socket = socket.create_connection((there.hostname, there.port), 20)
        self._file = self.socket.makefile("rb")
        head = [f"{method} {path} HTTP/1.1", f"host: {host or there.netloc}"]
        if token:
            head.append(f"authorization: Bearer {token}")
        if method == "POST":
            head += ["content-type: application/x-ndjson", "transfer-encoding: chunked"]
        self.socket.sendall("\r\n".join([*head, "", ""]).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self.socket.close()

    def say(self, line: bytes) -> None:
        """Send a line as a chunk."""
        self.socket.sendall(b"%x\r\n%b\n\r\n" % (len(line) + 1, line))

    def head(self) -> list[bytes]:
        """Return the status and the headers of the answer."""
        lines = []
        while line := self._file.readline().strip():
            lines.append(line)
        return lines

    def hear(self) -> bytes:
        """Return the next chunk of the answer; empty at its proper end."""
        size = self._file.readline()
        if not size:
            raise ConnectionError("the answer was cut")
        chunk = self._file.read(int(size, 16))
        self._file.readline()
        return chunk
