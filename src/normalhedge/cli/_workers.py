"""The option ``--dask`` of sweeps: workers that compute their cells."""

from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext

import click

from normalhedge.integrations.clusters import dask_workers

dask_option = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Compute on the Dask cluster of this scheduler, tcp://HOST:PORT, or on 'local:4' processes"
    " of this machine; the files are the same.",
)
"""The option."""


def workers_of(address: str | None, jobs: int | None) -> AbstractContextManager[Executor | None]:
    """Return the workers of ``--dask``; none if the option was not given."""
    if address is None:
        return nullcontext()
    if jobs is not None:
        raise click.UsageError("--jobs is for this machine, and --dask for a cluster: give one")
    return dask_workers(address)
