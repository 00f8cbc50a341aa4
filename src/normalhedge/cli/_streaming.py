"""A stream between stdin and stdout: every line is answered, or not taken."""

import errno
import io
import json
import os
import sys
from typing import Any, Protocol, TypeVar

import click

from normalhedge.cli._signals import Signals
from normalhedge.cli._terminal import echo, give_up_stdout
from normalhedge.live.journal import Operation
from normalhedge.live.state_file import StateFile
from normalhedge.mixtures.streams import batches

TAKEN = 1 << 16
"""How many bytes are read at once: lines that are there together are answered together."""


T = TypeVar("T")


class LineHandler(Protocol):
    """The protocol of a line handler."""

    refused: int  # how many lines were refused

    def answer(self, number: int, line: bytes, *, whole: bool) -> dict[str, Any] | None:
        """Return the answer to a line; none if it is empty."""


def run_stream(
    stream: LineHandler, target: T, done: list[Operation], kept: StateFile[T] | None, longest: int
) -> None:
    """Answer every line of stdin; what was answered is kept, however the process ends."""
    if sys.stdin is None or sys.__stdout__ is None:
        _end("stdin or stdout is closed: nothing was read", 1)
    with Signals() as signals:
        if kept is not None:
            kept.begin(target)
        try:
            failed = _answer_all(stream, target, done, kept, longest, signals)
            if kept is not None:
                kept.finish(target)
        finally:
            if kept is not None:
                kept.abandon()
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
    stream: LineHandler,
    target: T,
    done: list[Operation],
    kept: StateFile[T] | None,
    longest: int,
    signals: Signals,
) -> OSError | None:
    """Answer batch by batch, each kept before it is answered; return why stdout failed, if so."""
    source = _source()
    for batch in batches(lambda: signals.wait(lambda: source.read1(TAKEN)), longest):
        done.clear()
        answers = [stream.answer(number, line, whole=whole) for number, line, whole in batch]
        said = [answer for answer in answers if answer is not None]
        if kept is not None:
            kept.keep(target, done)
        try:
            # A second signal ends it where nobody reads: the answers are kept by now.
            signals.wait(lambda said=said: _print(said), limit=2)  # type: ignore[misc]
        except OSError as error:
            return error
        if kept is not None:
            kept.fold_if_long(target)
        if signals.number:
            break
    return None


def _source() -> Any:
    """Return stdin in bytes, whatever the locale; one that is text only is taken as it is."""
    found = getattr(sys.stdin, "buffer", None)
    return io.BytesIO(sys.stdin.read().encode()) if found is None else found


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
