"""A proxy that cuts connections: before, within and after requests and answers."""

import socket
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import numpy as np

CUTS = ("before", "half request", "no answer", "gone early", "half answer")
"""Where a connection is cut; "gone early" does not even wait for the answer."""


class Proxy:
    """A proxy in threads, one for each connection.

    ``share`` is the share of requests that meet a cut; ``cuts`` counts them by place. With ``tls``
    the proxy speaks TLS to its clients.
    """

    def __init__(
        self,
        url: str,
        rng: np.random.Generator,
        share: float,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        there = urlsplit(url)
        self._there = there.hostname, there.port
        self._rng, self._share = rng, share
        self._lock = threading.Lock()
        self.cuts: Counter[str] = Counter()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._tls = tls
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._listening.getsockname()[1]}"
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _fate(self) -> tuple[str, float]:
        with self._lock:
            cut = self._rng.random() < self._share
            fate = str(self._rng.choice(CUTS)) if cut else "well"
            self.cuts[fate] += 1
            return fate, float(self._rng.random())

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        with ExitStack() as stack, suppress(OSError, EOFError):
            stack.enter_context(client)
            if self._tls is not None:
                client = stack.enter_context(self._tls.wrap_socket(client, server_side=True))
            server = stack.enter_context(socket.create_connection(self._there))
            self._open |= {client, server}
            stack.callback(self._open.difference_update, {client, server})
            while True:
                request = _message(client)
                fate, part = self._fate()
                if fate == "before":
                    break
                if fate == "half request":
                    server.sendall(request[: 1 + int(part * (len(request) - 2))])
                    break
                server.sendall(request)
                if fate == "gone early":
                    break
                answer = _message(server)
                if fate == "no answer":
                    break
                if fate == "half answer":
                    client.sendall(answer[: 1 + int(part * (len(answer) - 2))])
                    break
                client.sendall(answer)
            if part < 0.5:  # a reset, in place of a polite end
                for one in (client, server):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def close(self) -> None:
        """End all connections."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)


def _message(source: socket.socket) -> bytes:
    """Return a whole request or answer, whose length is in its head."""
    content = b""
    while b"\r\n\r\n" not in content:
        content += _more(source)
    head = content.partition(b"\r\n\r\n")[0]
    lengths = [
        int(line.partition(b":")[2])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    while len(content) < len(head) + 4 + sum(lengths):
        content += _more(source)
    return content


def _more(source: socket.socket) -> bytes:
    part = source.recv(1 << 16)
    if not part:
        raise EOFError
    return part


@contextmanager
def proxied(
    url: str, seed: int, share: float, tls: ssl.SSLContext | None = None
) -> Iterator[Proxy]:
    """Start a proxy before a server; ``share`` of the requests meet a cut."""
    proxy = Proxy(url, np.random.default_rng(seed), share, tls)
    try:
        yield proxy
    finally:
        proxy.close()
