"""Long work that only reads the database, in a process of its own.

A thread that composes ten thousand rounds shares Python's lock with everybody's requests, so that
each of them takes twice as long. A process of low priority does not. It ends with the server, also
when the server is killed, and it is started when it is needed, again if something killed it.
"""

import asyncio
import os
import pickle
import signal
import struct
import sys
import threading
from asyncio.subprocess import Process
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar

from normalhedge.service._problems import StorageFailure
from normalhedge.service._storage import Storage

T = TypeVar("T")

THREADS = 4  # short work does not wait until long work is done
NICE = 10  # how much less the system favours this process than others
LENGTH = struct.Struct("<Q")  # the number of bytes of the message behind it


class Aside:
    """The process, which calls functions of the database in the order of nobody's requests."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._process: Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = 0

    async def __call__(self, call: Callable[..., T], *arguments: Any) -> T:
        """Return ``call(storage, *arguments)``; all of it must be known to pickle."""
        try:
            async with self._starting:
                if self._process is None or self._listening is None or self._listening.done():
                    await self._start()
            assert self._process is not None
            assert self._process.stdin is not None
            self._number += 1
            number = self._number
            self._waiting[number] = asyncio.get_running_loop().create_future()
            try:
                self._process.stdin.write(_message((number, call, arguments)))
                await self._process.stdin.drain()
                result: T = await self._waiting[number]
            finally:
                del self._waiting[number]
        except OSError as error:
            raise StorageFailure(
                f"the process that reads the database has ended: {error}"
            ) from error
        return result

    async def _start(self) -> None:
        """Start the process, and hand the database over."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stdin is not None
        self._process.stdin.write(_message(self._storage))
        self._listening = asyncio.create_task(self._listen(self._process))

    async def _listen(self, process: Process) -> None:
        """Hand results to those who wait for them, until the process ends."""
        assert process.stdout is not None
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                (size,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
                number, result, failure = pickle.loads(await process.stdout.readexactly(size))
                future = self._waiting.get(number)
                if future is None or future.done():  # nobody waits any more
                    continue
                if failure is None:
                    future.set_result(result)
                else:
                    future.set_exception(failure)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(
                    StorageFailure("the process that reads the database has ended")
                )

    async def stop(self) -> None:
        """End the process."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


def _message(content: Any) -> bytes:
    data = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


def _read(source: BinaryIO) -> Any:
    """Return a message; raise an EOFError when the server has ended."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    return pickle.loads(source.read(LENGTH.unpack(head)[0]))


def main() -> None:
    """Answer the messages of a server until it ends."""
    with suppress(ValueError, OSError):  # the server is told, and ends this process
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.nice(NICE)
    storage, turn = _read(sys.stdin.buffer), threading.Lock()

    def work(number: int, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        try:
            answer = _message((number, call(storage, *arguments), None))
        except Exception as error:
            answer = _message((number, None, error))
        with turn:
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()

    pool = ThreadPoolExecutor(THREADS, "aside")
    with suppress(EOFError):
        while True:
            pool.submit(work, *_read(sys.stdin.buffer))
    os._exit(0)  # nobody waits for what is not done yet


if __name__ == "__main__":
    main()
