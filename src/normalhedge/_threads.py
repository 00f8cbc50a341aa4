"""Long arrays in slices, on all cores.

Threads of Python around kernels that release the GIL, rather than numba's own pool: they work
inside other people's threads and after a fork. The slices depend on the length alone, so the same
input gives the same bits on any number of cores.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

T = TypeVar("T")

SLICE = 1 << 17
"""The length of a slice: long beside the cost of a call, short beside the cache."""

LARGE = 1 << 21
"""From this length on, handing half of the work to another thread costs less than it saves."""

_pools: list[ThreadPoolExecutor] = []  # the one of this process, made when first needed

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def slices(length: int) -> list[slice]:
    """Return the slices of an array of this length."""
    return [slice(start, min(start + SLICE, length)) for start in range(0, length, SLICE)]


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
