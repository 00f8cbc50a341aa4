"""Spread work over all cores.

The threads are Python threads that call functions of the core, which release the interpreter's
lock. They also work inside the threads of a caller and after a fork.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, TypeVar

T = TypeVar("T")

_pools: list[ThreadPoolExecutor] = []  # the pool of this process, made when it is first needed

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


_alone = ContextVar("_alone", default=False)  # whether the work of this thread stays in it


@contextmanager
def on_one_core() -> Iterator[None]:
    """Use no other thread inside: a cluster has given its other cores to other work."""
    before = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(before)


def cores() -> int:
    """Return the number of cores that this process may use, or this thread in `on_one_core`."""
    if _alone.get():
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(function: Callable[..., T], items: Sequence[tuple[Any, ...]]) -> list[T]:
    """Return ``[function(*item) for item in items]``, computed on all cores."""
    workers = min(cores(), len(items))

    def work(part: Sequence[tuple[Any, ...]]) -> list[T]:
        return [function(*item) for item in part]

    if workers <= 1:
        return work(items)
    if not _pools:
        _pools.append(ThreadPoolExecutor(cores(), thread_name_prefix="normalhedge"))
    edges = [len(items) * w // workers for w in range(workers + 1)]
    try:
        shares = [_pools[0].submit(work, items[a:b]) for a, b in pairwise(edges[1:])]
    except RuntimeError:  # the interpreter is shutting down
        return work(items)
    results = work(items[: edges[1]])  # the calling thread takes the first share itself
    for share in shares:
        results += share.result()
    return results
