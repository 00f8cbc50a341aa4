"""A stream between stdin and stdout: every line is answered, or not taken."""

import errno
import io
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self, TypeVar

import click

from normalhedge.cli._terminal import echo, give_up_stdout
from normalhedge.live.journal import Operation
from normalhedge.live.line_stream import LineStream
from normalhedge.live.state_file import StateFile
from normalhedge.mixtures.streams import LONGEST, batches

T = TypeVar("T")

TAKEN = 1 << 16
"""How many bytes are read at once: lines that are there together are answered together."""

ASKING = ("SIGTERM", "SIGINT", "SIGHUP")
"""The signals to note, unless the process ignores them already, as under ``nohup``."""


class _Interrupted(BaseException):
    """Raised by a signal inside of `Signals.wait`, and nowhere else."""


class Signals:
    """Signals that are noted from entering the context until it is left."""

    def __init__(self) -> None:
        self.number = 0
        self._count = 0
        self._limit = math.inf
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        """Begin to note signals; Python allows that in the main thread only."""
        if threading.current_thread() is threading.main_thread():
            for name in ASKING:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the signals back to their former handlers."""
        for number, before in self._before.items():
            signal.signal(number, before)

    def wait(self, call: Callable[[], T], limit: int = 1) -> T | None:
        """Return the result of a call that may take for ever, or None if signals ended it."""
        try:
            try:
                self._limit = limit
                return None if self._count >= limit else call()
            finally:
                self._limit = math.inf
        except _Interrupted:
            return None

    def _note(self, number: int, _: FrameType | None) -> None:
        self._count += 1
        self.number = self.number or number
        if self._count >= self._limit:
            self._limit = math.inf  # it is raised once, and never outside of `wait`
            raise _Interrupted


def run_stream(
    make: Callable[[Callable[[Operation], None] | None], LineStream],
    target: T,
    state_file: StateFile[T] | None,
    longest: int | None,
) -> None:
    """Answer every line of stdin; answered lines survive any end of the process.

    ``make`` returns the stream of ``target``, which reports its operations if there is a state.
    """
    done: list[Operation] = []
    stream = make(None if state_file is None else done.append)
    if sys.stdin is None or sys.__stdout__ is None:
        _end("stdin or stdout is closed: nothing was read", 1)
    with Signals() as signals:
        if state_file is not None:
            state_file.begin(target)
        try:
            failed = _answer_all(stream, target, done, state_file, longest or LONGEST, signals)
            if state_file is not None:
                state_file.finish(target)
        finally:
            if state_file is not None:
                state_file.abandon()
    if failed is not None:
        give_up_stdout()
        _end(f"the answers cannot be written: {failed.strerror or failed}", 1)
    if signals.number:
        _end(f"ended by signal {signals.number}, between two lines", 128 + signals.number)
    if stream.refused:
        raise click.ClickException(
            f"{stream.refused} line{'s' * (stream.refused > 1)} refused; the others count"
        )


def _answer_all(
    stream: LineStream,
    target: T,
    done: list[Operation],
    state_file: StateFile[T] | None,
    longest: int,
    signals: Signals,
) -> OSError | None:
    """Answer batch by batch, each kept before it is answered; return why stdout failed, if so."""
    source = _source()
    for batch in batches(lambda: signals.wait(lambda: source.read1(TAKEN)), longest):
        done.clear()
        answers = [stream.answer(number, line, whole=whole) for number, line, whole in batch]
        lines = [answer for answer in answers if answer is not None]
        if state_file is not None:
            state_file.keep(target, done)
        try:
            # A second signal ends it where nobody reads: the answers are kept by now.
            signals.wait(lambda lines=lines: _print(lines), limit=2)  # type: ignore[misc]
        except OSError as error:
            return error
        if state_file is not None:
            state_file.fold_if_long(target)
        if signals.number:
            break
    return None


def _source() -> Any:
    """Return stdin in bytes, whatever the locale; one that is text only is taken as it is."""
    buffer = getattr(sys.stdin, "buffer", None)
    return io.BytesIO(sys.stdin.read().encode()) if buffer is None else buffer


def _print(answers: list[dict[str, Any]]) -> None:
    """Write the answers in one piece, and errors on stderr, too."""
    if not answers:
        return
    _write("".join(f"{json.dumps(answer)}\n" for answer in answers))
    for answer in answers:
        if "error" in answer:
            echo(f"normalhedge: line {answer['line']}: {answer['error']}", err=True)


def _write(text: str) -> None:
    """Write all of a text; with ``PYTHONUNBUFFERED`` a signal can end a write halfway."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # a stdout that is text only
        sys.stdout.write(text)
    else:
        data = memoryview(text.encode())
        while data:
            written = buffer.write(data)
            if written is None:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            data = data[written:]
        buffer.flush()


def _end(sentence: str, code: int) -> None:
    echo(f"normalhedge: {sentence}", err=True)
    sys.exit(code)
