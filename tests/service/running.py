"""Servers for tests: in a thread of this process, or as a process of their own."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import httpx

from normalhedge.service._storage import Storage
from normalhedge.service.server import run, storage_of
from normalhedge.service.settings import Settings


class Asked(httpx.Client):
    """A client that sends JSON and keeps its connection."""

    def __init__(self, url: str, token: str | None = None) -> None:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        super().__init__(base_url=url, timeout=30.0, headers=headers)

    def send_json(self, path: str, body: Any, key: str | None = None) -> Any:
        """Return the answer to a request that must succeed."""
        answer = self.post(path, json=body, headers={} if key is None else {"idempotency-key": key})
        assert answer.is_success, answer.text
        return answer.json()


@contextmanager
def served(
    db: Path | str, storage: Callable[..., Storage] = storage_of, **settings: Any
) -> Iterator[str]:
    """Serve in a thread; yield the address. Leaving stops the server as SIGTERM does."""
    chosen = Settings(db=str(db), port=0, **settings)
    more = (chosen.db_seconds,) if storage is storage_of else ()
    database = storage(chosen.db, *more)
    started: Queue[Any] = Queue()
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)  # as the command does: client and server take turns quickly

    def work() -> None:
        try:
            asyncio.run(run(chosen, database, lambda url, stop: started.put((url, stop))))
        except BaseException as error:
            started.put(error)
            raise

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    found = started.get(timeout=30)
    try:
        assert isinstance(found, tuple), found
        yield found[0]
        found[1]()
        thread.join(30)
        assert not thread.is_alive()
    finally:
        sys.setswitchinterval(before)


@contextmanager
def process(*options: str) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Serve in a process; yield the address and the process. Leaving kills it."""
    command = [sys.executable, "-m", "normalhedge", "serve", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as child:
        try:
            assert child.stderr is not None
            line = child.stderr.readline()
            assert line.startswith(b"{"), line + child.stderr.read()
            yield json.loads(line)["url"], child
        finally:
            child.kill()
