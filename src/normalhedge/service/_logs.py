"""Structured logs: a line of JSON on stderr for each thing worth knowing."""

import json
import logging
import sys
import time
import traceback
from functools import partial
from typing import Any

from normalhedge.service._senders import described


def _write(level: str, what: str, **facts: Any) -> None:
    named = json.loads(described())
    line = json.dumps(
        {"time": round(time.time(), 3), "level": level, "what": what, **facts, **named}
    )
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody reads it


info = partial(_write, "info")  # write a line about an expected event
error = partial(_write, "error")  # write a line about a failure


def failure(what: str, cause: BaseException, **facts: Any) -> None:
    """Write a line about an error that nobody expected, with its traceback."""
    trace = "".join(traceback.format_exception(cause))
    error(what, error=f"{type(cause).__name__}: {cause}", trace=trace, **facts)


class LogLines(logging.Handler):
    """The logs of libraries, as lines like the others."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, but not of an error in a request: the edge wrote one, which knows more."""
        if record.exc_info is not None:
            return
        _write(record.levelname.lower(), record.name, sentence=record.getMessage())


def take_over(name: str) -> None:
    """Write the log of a library as lines like the others, from warnings on."""
    logger = logging.getLogger(name)
    logger.handlers = [LogLines(logging.WARNING)]
    logger.setLevel(logging.WARNING)
    logger.propagate = False
