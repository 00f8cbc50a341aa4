"""A mixture between stdin and stdout: every line is answered, or not taken."""

import errno
import io
import json
import os
import sys
from typing import Any

import click

from normalhedge.cli.signals import Signals
from normalhedge.cli.terminal import echo, give_up_stdout
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.lines import batches
from normalhedge.mixtures.operations import Operation
from normalhedge.mixtures.state_file import StateFile
from normalhedge.mixtures.stream import Stream

TAKEN = 1 << 16
"""How many bytes are read at once: lines that are there together are answered together."""


def run_stream(mixture: Mixture, kept: StateFile | None, longest: int) -> None:
    """Answer every line of stdin; what was answered is kept, however the process ends.

    Parameters
    ----------
    mixture
        What answers.
    kept
        Where it is kept, if anywhere.
    longest
        How many bytes a line may have.
    """
    if sys.stdin is None or sys.__stdout__ is None:
        _end("stdin or stdout is closed: nothing was read", 1)
    done: list[Operation] = []
    stream = Stream(mixture, done.append if kept is not None else None)
    with Signals() as signals:
        if kept is not None:
            kept.begin(mixture)
        try:
            failed = _answer_all(stream, done, kept, longest, signals)
            if kept is not None:
                kept.finish(mixture)
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
    stream: Stream,
    done: list[Operation],
    kept: StateFile | None,
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
            kept.append(done)
        try:
            # A second signal ends it where nobody reads: the answers are kept by now.
            signals.wait(lambda said=said: _print(said), limit=2)  # type: ignore[misc]
        except OSError as error:
            return error
        if kept is not None:
            kept.fold_if_long(stream.mixture)
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
