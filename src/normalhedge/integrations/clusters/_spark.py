"""Mixtures in Spark: one for each key of a stream, and tables in batches.

The state of a key is the text of `Mixture.save`, with its version and checksum. So a query can
continue from its checkpoint after an upgrade of this package.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

import pandas as pd
from pyspark.sql import DataFrame, functions
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import (
    BinaryType,
    DoubleType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from normalhedge.boundary import specs
from normalhedge.integrations.clusters._answers import StreamAnswer, StreamRow, answers
from normalhedge.integrations.clusters._parts import (
    KEY,
    SAMPLE,
    add_facts,
    blend_part,
    plan_table,
    read_facts,
)
from normalhedge.mixtures import Mixture, MixtureOptions
from normalhedge.mixtures.files import Snapshot, read_snapshot_text, snapshot_text
from normalhedge.tables.frames import as_tuple

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""The store of states that Spark needs for them."""

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
"""The setting of a session that names its store of states."""

STATE = StructType([StructField("mixture", BinaryType())])


class MixturePerKey(StatefulProcessor):  # type: ignore[misc]
    """The rows of each key of a stream, answered by a mixture of its own; see `blend_stream`.

    ``columns`` are the columns of the answers.
    """

    def __init__(
        self,
        by: Sequence[str],
        experts: Sequence[str],
        target: str,
        time: str,
        id: str,  # noqa: A002
        options: Mapping[str, Any],
        columns: Sequence[str],
    ) -> None:
        self.by, self.experts, self.columns = list(by), list(experts), list(columns)
        self.target, self.time, self.id = target, time, id
        self.options = dict(options)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state."""
        self.state = handle.getValueState("mixture", STATE)

    def handleInputRows(  # noqa: N802 -- the name is Spark's
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any = None,  # noqa: ARG002, N803
    ) -> Iterator[pd.DataFrame]:
        """Answer the rows of a key in a batch, and keep its mixture."""
        mixture = Mixture(**self.options)
        saved = self.state.get() if self.state.exists() else None
        if saved is not None:
            mixture = Mixture.of(read_snapshot_text(bytes(saved[0]), f"the state of {key}").state)
        columns = [self.time, self.id, self.target, *self.experts]
        stream_rows = [
            StreamRow(time, name, forecasts, outcome)
            for part in rows
            for time, name, outcome, *forecasts in part[columns].itertuples(index=False, name=None)
        ]
        replies = answers(mixture, self.experts, stream_rows)
        text = snapshot_text(Snapshot(mixture), history=False)  # nobody corrects a stream
        self.state.update((text.encode("ascii"),))
        yield self._table(key, replies)

    def _table(self, key: Any, replies: Sequence[StreamAnswer]) -> pd.DataFrame:
        """Return answers as a table with the columns of the result."""
        no_bounds = (None,) * (len(self.columns) - len(self.by) - 5)
        rows = [
            (*key, time, name, blend, *(intervals or no_bounds), weights, error)
            for time, name, blend, intervals, weights, error in replies
        ]
        return pd.DataFrame(rows, columns=self.columns)

    def close(self) -> None:
        """Close nothing."""


def blend_stream(
    rows: DataFrame,
    target: str,
    experts: str | Sequence[str],
    by: str | Sequence[str],
    time: str,
    id: str,  # noqa: A002
    **options: Unpack[MixtureOptions],
) -> DataFrame:
    """Blend a stream of Spark: each key has a mixture of its own, kept in the state of the query.

    A row with forecasts is a round. Its outcome is in the same row, or in a later row with the same
    id and no forecasts, or never comes. Each key gets, to the bit, the numbers of a `Mixture`
    that gets the rows batch by batch, and in a batch in the order of `time`. A query that
    starts again from its checkpoint goes on as if it had not stopped.

    Parameters
    ----------
    rows
        A streaming table of Spark 4 or later. The session must keep states in RocksDB: `PROVIDER`
        must be `ROCKS`.
    target
        The column of outcomes; empty if the outcome is unknown yet.
    experts
        The columns of the forecasts; empty where a model sleeps, and all empty in a row that has an
        outcome alone.
    by
        The columns of the key.
    time
        The column that orders the rows of a key within a batch.
    id
        The column of the ids of rounds, numbers or words. An id can be used again once its round
        has its outcome.
    **options
        Arguments of `Mixture`: ``hedger``, ``loss``, ``interval`` and others. Forecasts are single
        numbers, so the loss cannot be one of classes, labels or quantiles.

    Returns
    -------
    blended
        A streaming table with a row for each round: the key, ``time``, ``id``, ``blend``, the
        intervals that were asked for, ``weights`` and ``error``. A row that cannot be used is
        answered by its ``error``, and the stream goes on.
    """
    keys, names = as_tuple(by), as_tuple(experts)
    if not rows.isStreaming:
        raise ValueError("rows must be a stream of Spark: for a table, call blend")
    _refuse_columns(
        rows.columns,
        {"by": keys, "experts": names, "target": (target,), "time": (time,), "id": (id,)},
    )
    mixture = Mixture(**options)  # wrong options are refused here, and not on a worker
    loss = mixture.settings.loss
    if not loss.of_single_numbers:
        raise ValueError(f"loss must be a loss of single numbers in a stream, got {loss}")
    if loss.own:
        raise ValueError("loss must have a name: the state of a query cannot hold a function")
    snapshot_text(Snapshot(mixture))  # refuses hedgers of the user, which no state can hold
    if rows.sparkSession.conf.get(PROVIDER, None) != ROCKS:
        raise ValueError(
            f"a stream with states needs RocksDB: spark.conf.set({PROVIDER!r}, {ROCKS!r})"
        )
    levels = () if mixture.intervals is None else mixture.intervals.conformal.levels
    bounds = [f"blend-{side}-{100.0 * level:.10g}" for level in levels for side in ("lo", "hi")]
    schema = StructType(
        [
            *(rows.schema[name] for name in (*keys, time, id)),
            *(StructField(name, DoubleType()) for name in ("blend", *bounds)),
            StructField("weights", MapType(StringType(), DoubleType())),
            StructField("error", StringType()),
        ]
    )
    processor = MixturePerKey(keys, names, target, time, id, options, schema.names)
    selected = list(dict.fromkeys([*keys, time, id, target, *names]))
    return (
        rows.select(*selected)
        .groupBy(*keys)
        .transformWithStateInPandas(processor, schema, outputMode="Append", timeMode="None")
    )


def blend_spark(
    frame: DataFrame,
    group: str | Sequence[str],
    arguments: Mapping[str, Any],
    partitions: int | None,
) -> DataFrame:
    """Blend a table of Spark; see `normalhedge.integrations.clusters.blend`.

    Its rows have no order: they are taken series by series, in the order of time. Without
    ``partitions`` there are as many parts as Spark's shuffles have.
    """
    if frame.isStreaming:
        raise ValueError("frame must be a table: for a stream of Spark, call blend_stream")
    sample = frame.limit(SAMPLE).toPandas()
    plan = plan_table(sample, group, arguments)
    if plan.columns.time is None:
        raise ValueError("time must name the column of times: rows of a Spark table have no order")
    if plan.facts:
        distinct = frame.select(*plan.facts).distinct().toPandas()
        facts = read_facts(plan, distinct.sort_values(plan.facts[::-1]))
        plan = add_facts(plan, sample, [facts])
    count = partitions or int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    together = [
        functions.coalesce(functions.col(f"`{name}`").cast("string"), functions.lit(""))
        for name in plan.together
    ]
    keyed = frame.select(*(f"`{name}`" for name in plan.needed)).withColumn(
        KEY, functions.pmod(functions.xxhash64(*together), functions.lit(count))
    )
    schema = _schema(frame, plan.empty)
    columns = plan.columns
    roles = (*columns.by, columns.cutoff, columns.time, columns.model, plan.level)
    order = [name for name in roles if name]

    def play(part: pd.DataFrame) -> pd.DataFrame:  # its rows come in another order each time
        return blend_part(plan, part.sort_values(order))[0]

    return keyed.groupBy(KEY).applyInPandas(play, schema)


def _schema(frame: DataFrame, empty: pd.DataFrame) -> StructType:
    """Return the types of a result: columns of the table keep theirs, others are numbers."""
    kinds = {field.name: field for field in frame.schema}
    return StructType([kinds.get(name, StructField(name, DoubleType())) for name in empty.columns])


def _refuse_columns(columns: Sequence[str], roles: Mapping[str, Sequence[str]]) -> None:
    """Refuse columns that are not there, and columns with two roles."""
    taken: dict[str, str] = {}
    for role, names in roles.items():
        if not names:
            raise ValueError(f"{role} must name a column")
        for name in names:
            if name not in columns:
                raise specs.nearest("column", name, columns)
            if name in taken:
                raise ValueError(f"column {name} cannot be both {taken[name]} and {role}")
            taken[name] = role
