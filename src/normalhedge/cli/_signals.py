"""Signals that ask a process to end: noted, and looked at where it can end well."""

import math
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

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

    def __enter__(self) -> "Signals":
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
