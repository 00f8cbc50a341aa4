"""Long arrays in slices, on all cores.

Threads of Python around kernels that release the GIL, rather than numba's own pool: they work
inside other people's threads and after a fork. The slices depend on the length alone, so the same
input gives the same bits on any number of cores.
"""

import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from normalhedge._jit import STRICT, kernel

T = TypeVar("T")
S = TypeVar("S")

SLICE = 1 << 17
"""The length of a slice: long beside the cost of a call, short beside the cache."""

LARGE = 2 * SLICE
"""From this length on, handing half of the work to another thread costs less than it saves."""

PATIENCE = 200e-6
"""Seconds to watch for what comes next before going to sleep: waking up takes a third of that."""

_Task = tuple[Future[Any], Callable[[Any], Any], Any]
_inboxes: list[queue.SimpleQueue[_Task]] = []


@kernel(STRICT)
def _pause(x: float) -> float:
    """Spend a few microseconds without holding the GIL, in a chain no compiler can shorten."""
    for _ in range(1000):
        x = 3.9 * x * (1.0 - x)
    return x


def _watch(ready: Callable[[], bool]) -> None:
    """Return as soon as it is ready, or when patience ends."""
    end = time.perf_counter() + PATIENCE
    while not ready() and time.perf_counter() < end:
        _pause(0.5)


def _serve(inbox: queue.SimpleQueue[_Task]) -> None:
    while True:
        _watch(lambda: not inbox.empty())
        future, function, argument = inbox.get()
        try:
            future.set_result(function(argument))
        except BaseException as error:  # the caller raises it
            future.set_exception(error)
        del future, function, argument  # nothing of the last task is kept alive while waiting


def _hire(workers: int) -> None:
    while len(_inboxes) < workers:
        inbox: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), name="normalhedge", daemon=True).start()
        _inboxes.append(inbox)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_inboxes.clear)  # threads do not survive a fork


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def slices(length: int) -> list[slice]:
    """Return the slices of an array of this length."""
    return [slice(start, min(start + SLICE, length)) for start in range(0, length, SLICE)]


def spread(function: Callable[[S], T], items: Sequence[S]) -> list[T]:
    """Return ``[function(item) for item in items]``, computed on all cores."""
    workers = min(cores(), len(items))

    def work(part: Sequence[S]) -> list[T]:
        return [function(item) for item in part]

    if workers <= 1:
        return work(items)
    _hire(workers - 1)
    edges = [len(items) * w // workers for w in range(workers + 1)]
    futures: list[Future[list[T]]] = []
    for inbox, a, b in zip(_inboxes, edges[1:-1], edges[2:], strict=False):
        futures.append(Future())
        inbox.put((futures[-1], work, items[a:b]))
    results = work(items[: edges[1]])  # the calling thread takes the first share itself
    for future in futures:
        _watch(future.done)
        results += future.result()
    return results
