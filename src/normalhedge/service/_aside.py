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
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, TypeVar

from normalhedge.service._problems import StorageFailure
from normalhedge.service._storage import Storage

T = TypeVar("T")

THREADS = 4  # short work does not wait until long work is done
NICE = 10  # how much less the system favours this process than others
LENGTH = struct.Struct("<Q")  # the number of bytes of the message behind it


class Aside:
    """The process; it calls functions of the database, a few at a time."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._process: subprocess.Popen[bytes] | None = None
        self._writer = ThreadPoolExecutor(1, "aside")
        self._listener: threading.Thread | None = None
        self._waiting: dict[int, Future[Any]] = {}  # of the present process

    async def __call__(self, call: Callable[..., T], *arguments: Any) -> T:
        """Return ``call(storage, *arguments)``; all of it must be known to pickle."""
        answer: Future[T] = Future()
        await asyncio.wrap_future(self._writer.submit(self._send, answer, call, arguments))
        return await asyncio.wrap_future(answer)

    def _send(self, answer: "Future[Any]", call: Callable[..., Any], arguments: Any) -> None:
        """Hand work over to the process, and start it if there is none."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        number = id(answer)
        self._waiting[number] = answer
        try:
            self._process.stdin.write(_message((number, call, arguments)))
            self._process.stdin.flush()
        except (OSError, ValueError):  # it has ended, or its pipe is closed
            self._waiting.pop(number, None)
            raise StorageFailure(ENDED) from None

    def _start(self) -> None:
        command = [sys.executable, "-m", __name__]
        pipe = subprocess.PIPE
        process = self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        if hasattr(os, "setpriority"):  # also while it loads
            os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
        assert process.stdin is not None
        process.stdin.write(_message(self._storage))
        waiting: dict[int, Future[Any]] = {}
        self._waiting = waiting
        self._listener = threading.Thread(target=_listen, args=(process, waiting), daemon=True)
        self._listener.start()

    def stop(self) -> None:
        """End the process."""
        self._writer.shutdown(cancel_futures=True)
        if self._process is not None and self._listener is not None:
            self._process.kill()
            self._listener.join()


ENDED = "the process that reads the database has ended"


def _listen(process: subprocess.Popen[bytes], waiting: "dict[int, Future[Any]]") -> None:
    """Hand results to those who wait for them, until the process ends."""
    assert process.stdout is not None
    with suppress(EOFError, OSError):
        while True:
            number, result, failure = _read(process.stdout)
            answer = waiting.pop(number)
            if not answer.set_running_or_notify_cancel():
                continue  # nobody waits any more
            if failure is None:
                answer.set_result(result)
            else:
                answer.set_exception(failure)
    with suppress(OSError), process:  # what was not written is lost with the process
        pass
    for answer in list(waiting.values()):
        if answer.set_running_or_notify_cancel():
            answer.set_exception(StorageFailure(ENDED))


def _message(content: Any) -> bytes:
    data = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


def _read(source: IO[bytes]) -> Any:
    """Return a message; raise an EOFError when the other side has ended."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    return pickle.loads(source.read(LENGTH.unpack(head)[0]))


def main() -> None:
    """Answer the messages of a server until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told, and ends this process
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
