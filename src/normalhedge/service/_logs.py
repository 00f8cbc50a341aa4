"""Structured logs: a line of JSON on stderr for each thing worth knowing."""

import json
import logging
import sys
import time
import traceback
from typing import Any


def info(what: str, **facts: Any) -> None:
    """Write a line about an expected event."""
    _write("info", what, facts)


def error(what: str, **facts: Any) -> None:
    """Write a line about a failure."""
    _write("error", what, facts)


def _write(level: str, what: str, facts: dict[str, Any]) -> None:
    line = json.dumps({"time": round(time.time(), 3), "level": level, "what": what, **facts})
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody reads it


def failure(what: str, error: BaseException, **facts: Any) -> None:
    """Write a line about an error that nobody expected, with its traceback."""
    trace = "".join(traceback.format_exception(error))
    _write("error", what, {"error": f"{type(error).__name__}: {error}", "trace": trace, **facts})


class LogLines(logging.Handler):
    """The logs of libraries, as lines like the others."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        _write(record.levelname.lower(), record.name, {"sentence": record.getMessage()})


def take_over(name: str) -> None:
    """Write the log of a library as lines like the others, from warnings on."""
    logger = logging.getLogger(name)
    logger.handlers = [LogLines(logging.WARNING)]
    logger.setLevel(logging.WARNING)
    logger.propagate = False
