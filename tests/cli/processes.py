"""Streams as real processes."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def running(verb: str, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a verb of the command on a stream."""
    pipe, command = subprocess.PIPE, [sys.executable, "-m", "normalhedge", verb, "-", *options]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: "subprocess.Popen[bytes]", line: str) -> dict[str, Any]:
    """Return the answer to a line, which comes at once."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer
