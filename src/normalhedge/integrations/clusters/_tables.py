"""Blend tables that are spread over a cluster."""

from collections.abc import Sequence
from typing import Any


def blend(
    frame: Any,
    target: str | None = None,
    experts: Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    time: str | None = None,
    lag: int = 0,
    *,
    group: str | Sequence[str] = (),
    pooled: bool | None = None,
    weights: bool = False,
    partitions: int | None = None,
    shuffle: bool = True,
    **options: Any,
) -> Any:
    """Blend a table of Dask or Spark, with the numbers of `normalhedge.blend` to the bit.

    Two kinds of tables can be divided. If each series has weights of its own, a series depends on
    no other: every row gets the number that it gets from `normalhedge.blend` of the whole table.
    Series that share weights belong together. With a column ``group``, each of its values is a
    table of its own: its rows get the numbers of `normalhedge.blend` of these rows alone. Other
    settings are refused.

    Parameters
    ----------
    frame
        A Dask or Spark table. Rows of a series may be anywhere in it.
    target, experts, by, time, lag, pooled, weights
        As for `normalhedge.blend`. Without ``group``, ``"auto"`` needs ``pooled=False``; a single
        rule has weights for each series anyway. Without ``time``, which Spark needs, rows of a
        series are in the order of the partitions.
    group
        The columns whose values name tables of their own.
    partitions
        The number of parts, which are blended one by one; by default as many as the table has. A
        part should have some 10,000 rows or more, and fit into the memory of a worker.
    shuffle
        Whether the rows that belong together must be brought together first. False, for Dask, if
        every partition holds whole series, or groups, already: that is not checked.
    **options
        Further arguments of `normalhedge.blend`, such as ``cutoff``, ``model`` and ``quantiles``;
        and of `Mixture`, such as ``hedger`` and ``loss``.

    Returns
    -------
    blended
        For a Dask table a `DaskBlend`, with a lazy ``frame`` and a ``summary()``; for a Spark table
        a lazy Spark table.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask.dataframe as dd
    >>> table = pd.DataFrame({"ds": [1, 1, 2, 2], "unique_id": ["a", "b"] * 2,
    ...                       "y": [1.0, 5.0, 2.0, 6.0], "gam": [1.0, 5.0, 2.0, 6.0],
    ...                       "ar": [0.0, 3.0, 1.0, 4.0]})
    >>> found = blend(dd.from_pandas(table, npartitions=2), hedger="normal-hedge")
    >>> found.frame.compute().sort_index()["blend"].tolist()
    [0.5, 4.0, 2.0, 6.0]
    """
    arguments = {
        "target": target, "experts": experts, "by": by, "time": time, "lag": lag,
        "pooled": pooled, "weights": weights, **options,
    }  # fmt: skip
    if partitions is not None and (isinstance(partitions, bool) or partitions < 1):
        raise ValueError(f"partitions must be 1 or more, got {partitions}")
    engine = type(frame).__module__.partition(".")[0]
    if engine == "dask" and hasattr(frame, "npartitions"):
        from normalhedge.integrations.clusters._dask import blend_dask  # noqa: PLC0415

        return blend_dask(frame, group, arguments, partitions=partitions, shuffle=shuffle)
    if engine == "pyspark":
        from normalhedge.integrations.clusters._spark import blend_spark  # noqa: PLC0415

        if not shuffle:
            raise ValueError("shuffle=False is for Dask: Spark brings series together by itself")
        return blend_spark(frame, group, arguments, partitions)
    raise TypeError(
        f"frame must be a Dask or Spark table, got {type(frame).__name__}: for a table of one "
        "machine call normalhedge.blend"
    )
