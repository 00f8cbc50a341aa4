"""Work that the workers of a cluster do; they must have the same code."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager


@contextmanager
def done_by(workers: Executor | None) -> Iterator[None]:
    """Take back what workers were asked for, if something goes wrong inside."""
    try:
        yield
    except BaseException:
        if workers is not None:
            workers.shutdown(wait=False)  # Dask cancels its tasks then
        raise


def same_code(asked: str, here: str) -> None:
    """Refuse to compute for someone whose code is another.

    Examples
    --------
    >>> same_code("a", "a")
    """
    if asked != here:
        raise RuntimeError(
            "a worker has another version of normalhedge, numpy or scipy: install the same "
            "everywhere"
        )
