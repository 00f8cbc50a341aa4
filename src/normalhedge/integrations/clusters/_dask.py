"""Blend a Dask table: its series are divided among the workers of a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

from normalhedge.integrations.clusters._parts import (
    KEY,
    ROW,
    SAMPLE,
    TablePlan,
    add_facts,
    blend_part,
    hash_keys,
    plan_table,
    read_facts,
)
from normalhedge.integrations.clusters._summary import ClusterSummary, summarise


@dataclass(frozen=True, repr=False)
class DaskBlend:
    """The result of `blend` for a Dask table.

    Attributes
    ----------
    frame
        A Dask table with the columns that `normalhedge.blend` returns, computed when it is used.
        A wide table keeps the index of its rows; their order changes.
    notes
        Sentences about the roles of columns.
    """

    frame: Any
    notes: list[str]
    _pairs: Sequence[Any]
    _plan: TablePlan

    def __repr__(self) -> str:
        """Return the target and the number of partitions."""
        return f"DaskBlend({self._plan.columns.target}, {len(self._pairs):,} partitions)"

    def persist(self) -> "DaskBlend":
        """Compute all of it now, and keep the results in the memory of the workers."""
        pairs = dask.persist(*self._pairs)
        return replace(self, frame=_frame(pairs, self._plan), _pairs=pairs)

    def summary(self) -> ClusterSummary:
        """Return the sums of all series; without `persist`, the table is blended for them."""
        return summarise(dask.compute(*(pair[1] for pair in self._pairs)))


def blend_dask(
    frame: Any,
    group: str | Sequence[str],
    arguments: Mapping[str, Any],
    *,
    partitions: int | None,
    shuffle: bool,
) -> DaskBlend:
    """Blend a Dask table; see `normalhedge.integrations.clusters.blend`."""
    sample = _sample(frame)
    plan = plan_table(sample, group, arguments)
    if plan.facts:
        parts = frame[plan.facts].to_delayed()
        facts = dask.compute(*(dask.delayed(read_facts)(plan, part) for part in parts))
        plan = add_facts(plan, sample, facts)
    frame = frame[plan.needed]
    if shuffle:
        keys = frame.map_partitions(partial(_keys, plan), meta=_keys(plan, frame._meta))
        marked = frame.map_partitions(_mark_rows, meta=_mark_rows(frame._meta))
        frame = marked.shuffle(on=keys, npartitions=partitions or frame.npartitions)
    elif partitions is not None:
        raise ValueError("partitions needs a shuffle: pass shuffle=True, or leave partitions out")
    play = dask.delayed(blend_part, nout=2, pure=True)
    pairs = [play(plan, part) for part in frame.to_delayed()]
    return DaskBlend(_frame(pairs, plan), _notes(plan), pairs, plan)


def _sample(frame: Any) -> Any:
    """Return the first rows of the first partition that has any."""
    for k in range(frame.npartitions):
        rows = frame.get_partition(k).head(SAMPLE, npartitions=1, compute=True)
        if len(rows):
            return rows
    return frame._meta


def _keys(plan: TablePlan, part: Any) -> Any:
    """Return the key of each row of a partition, as a column that is not sent along."""
    return pd.Series(hash_keys(plan, part), part.index, name=KEY)


def _mark_rows(part: Any, partition_info: Any = None) -> Any:
    """Return a partition with the place of each row."""
    first = (partition_info or {"number": 0})["number"] << 40
    return part.assign(**{ROW: first + np.arange(len(part), dtype=np.int64)})


def _frame(pairs: Sequence[Any], plan: TablePlan) -> Any:
    return dd.from_delayed(
        [pair[0] for pair in pairs], meta=plan.empty, prefix="blend", verify_meta=False
    )


def _notes(plan: TablePlan) -> list[str]:
    """Return sentences about the roles of columns."""
    columns = plan.columns
    experts = list(columns.experts or ())
    shown = {
        "target": columns.target, "time": columns.time, "series": ", ".join(columns.by),
        "forecasts made at": columns.cutoff, "models in": columns.model,
        "experts": ", ".join(experts[:6]) + ", ..." * (len(experts) > 6),
        "groups": ", ".join(plan.group),
    }  # fmt: skip
    return [f"{role}: {name}" for role, name in shown.items() if name]
