"""Sweeps on a Dask cluster: an executor for the cells of an experiment."""

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from normalhedge.boundary import extras
from normalhedge.boundary.threads import cores

LOCAL = re.compile(r"local(?::([1-9]\d*))?")
"""An address that stands for a cluster of processes on this machine, with their number."""

WAIT = "10s"
"""How long to wait for an answer of a scheduler."""

REMOTE = re.compile(r"(?:[a-z]+://)?\S+:\d+/?")
"""The address of a scheduler."""


@contextmanager
def dask_workers(address: str) -> Iterator[Executor]:
    """Connect to a Dask cluster, and close the connection in the end."""
    distributed = extras.require("distributed")
    local = LOCAL.fullmatch(address)
    nobody = ValueError(
        f"there is no Dask scheduler at {address}: give the address that 'dask scheduler' prints, "
        "such as tcp://10.0.0.1:8786, or local"
    )
    if local is None and REMOTE.fullmatch(address) is None:
        raise nobody
    with _scheduler(distributed, local, address) as scheduler:
        try:
            client = distributed.Client(scheduler, set_as_default=False, timeout=WAIT)
        except (OSError, ValueError) as error:
            raise nobody from error
        with client:
            yield client.get_executor()


@contextmanager
def _scheduler(distributed: Any, local: re.Match[str] | None, address: str) -> Iterator[Any]:
    """Return a cluster on this machine, or the address of another."""
    if local is None:
        yield address
        return
    with distributed.LocalCluster(
        n_workers=int(local[1] or cores()), threads_per_worker=1, processes=True,
        dashboard_address=None,
    ) as cluster:  # fmt: skip
        yield cluster
