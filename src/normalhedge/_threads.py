"""Work spread over all cores.

Threads of Python around functions of the core that release the interpreter's lock: they work inside
other people's threads and after a fork.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

T = TypeVar("T")

_pools: list[ThreadPoolExecutor] = []  # the one of this process, made when first needed

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


def cores() -> int:
    """Return how many cores this process may use."""
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
