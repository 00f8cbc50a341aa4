"""Mixtures in streams and tables of Spark, on two worker processes; `nox -s cluster` runs this."""

import os
import shutil
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import normalhedge
from normalhedge import Mixture
from tests.integrations.clusters.examples import assert_same, long_table, steps_ahead, table

pyspark = pytest.importorskip("pyspark")
pd = pytest.importorskip("pandas")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java 17 or later: make system PARTS=java", allow_module_level=True)

from normalhedge.integrations.clusters import blend, blend_stream  # noqa: E402
from normalhedge.integrations.clusters._spark import PROVIDER, ROCKS  # noqa: E402

EXPERTS = ["gam", "ar", "naive"]
SCHEMA = "series long, t long, id string, gam double, ar double, naive double, y double"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession  # noqa: PLC0415

    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")  # two, of one core and 1 GB each
        .config("spark.sql.shuffle.partitions", "2")
        .config(PROVIDER, ROCKS)
        .getOrCreate()
    )
    yield session
    session.stop()


def test_the_work_is_done_by_two_processes(spark: Any) -> None:
    made = spark.range(4).repartition(4).rdd.map(lambda _: os.getppid())
    assert len(set(made.collect()) - {os.getpid()}) == 2


def _rows(series: int, rounds: int) -> Any:
    """Return rows of a stream: outcomes at once, three rounds late in another row, or never."""
    rng = np.random.default_rng(5)
    found = []
    for key in range(series):
        truth = np.cumsum(rng.normal(size=rounds))
        for t in range(rounds):
            made = truth[t] + rng.normal(0.0, [0.3, 1.0, 3.0])
            made[1:][rng.random(2) < 0.3] = np.nan
            at_once, never = t % 3 == 0, t % 7 == 6
            outcome = truth[t] if at_once else np.nan
            found.append((key, 10 * t, f"r{t}", *made, outcome))
            if not at_once and not never:
                found.append((key, 10 * (t + 3) + 5, f"r{t}", *[np.nan] * 3, truth[t]))
    return pd.DataFrame(found, columns=["series", "t", "id", *EXPERTS, "y"])


def _write_batches(rows: Any, folder: Path, edges: list[int], first: int = 0) -> None:
    """Write a file for each stretch of time, its rows in an order that means nothing."""
    folder.mkdir(exist_ok=True)
    for k, (start, stop) in enumerate(pairwise(edges)):
        part = rows[(rows.t >= start) & (rows.t < stop)].sample(frac=1.0, random_state=k)
        part.to_parquet(folder / f"{first + k:03d}.parquet")


def _run(spark: Any, folder: Path, out: Path, **options: Any) -> None:
    """Answer all that has come so far, from the checkpoint if there is one."""
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))
    made = blend_stream(rows, "y", EXPERTS, by="series", time="t", id="id", **options)
    query = (
        made.writeStream.format("parquet")
        .option("checkpointLocation", str(out / "checkpoint"))
        .option("path", str(out / "table"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def _answers(spark: Any, out: Path) -> dict[tuple[int, str], Any]:
    found = spark.read.parquet(str(out / "table")).toPandas()
    assert not found.duplicated(["series", "id", "error"]).any()
    return {(row.series, row.id): row for row in found.itertuples(index=False)}


def _expected(rows: Any, **options: Any) -> dict[tuple[int, str], Any]:
    """Return the predictions of a loop over a mixture for each series."""
    found = {}
    for key, part in rows.groupby("series"):
        mixture = Mixture(**options)
        for _, row in part.sort_values("t", kind="stable").iterrows():
            forecasts = {name: row[name] for name in EXPERTS}
            if np.isnan(list(forecasts.values())).all():
                if not np.isnan(row.y):
                    mixture.update(id=row.id, outcome=row.y)
                continue
            made = mixture.predict(forecasts, id=row.id)
            found[key, row.id] = made
            if not np.isnan(row.y):
                mixture.update(made.ticket, row.y)
    return found


@pytest.mark.parametrize("options", [{}, {"hedger": "squint", "interval": 0.8, "season": 2}])
def test_a_stream_that_stops_and_goes_on_has_the_numbers_of_mixtures(
    spark: Any, tmp_path: Path, options: dict[str, Any]
) -> None:
    rows = _rows(series=5, rounds=30)
    _write_batches(rows, tmp_path / "in", [0, 40, 95, 150])
    _run(spark, tmp_path / "in", tmp_path, **options)
    before = len(_answers(spark, tmp_path))
    _write_batches(rows, tmp_path / "in", [150, 151, 1000], first=10)
    _run(spark, tmp_path / "in", tmp_path, **options)  # from the checkpoint
    found, expected = _answers(spark, tmp_path), _expected(rows, **options)
    assert 0 < before < len(found)
    assert found.keys() == expected.keys()
    for place, made in expected.items():
        assert found[place].error is None
        assert found[place].blend == made.value or (
            made.value is None and np.isnan(found[place].blend)
        )
        assert dict(found[place].weights) == dict(made.weights)
        if options:
            low, high = made.intervals[0.8]
            assert tuple(found[place][4:6]) == (low, high)


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (table(), {"pooled": False, "interval": 0.8, "season": 7}),
        (steps_ahead(), {"hedger": "squint", "weights": True}),
        (long_table().sort_values("model"), {"hedger": "hedge", "weights": True}),
    ],
)
def test_a_table_has_the_numbers_of_one_machine(
    spark: Any, rows: Any, options: dict[str, Any]
) -> None:
    found = blend(
        spark.createDataFrame(rows.astype({"unique_id": object})), partitions=3, **options
    )
    assert_same(found.toPandas(), normalhedge.blend(rows, **options).frame)


def test_a_group_of_a_table_is_a_table_of_its_own(spark: Any) -> None:
    rows = table(6, 20)
    rows["region"] = rows["unique_id"].map(lambda name: "north" if name < "s3" else "south")
    found = blend(spark.createDataFrame(rows).repartition(5), group="region").toPandas()
    in_order = rows.sort_values(["unique_id", "ds"])
    for region, part in in_order.groupby("region"):
        expected = normalhedge.blend(part.drop(columns="region")).frame
        assert_same(found[found["region"] == region].drop(columns="region"), expected)


def test_wrong_calls_are_refused_before_anything_runs(spark: Any, tmp_path: Path) -> None:
    rows = spark.createDataFrame(table(3, 8))
    with pytest.raises(ValueError, match="auto shares weights between series by default"):
        blend(rows)
    with pytest.raises(ValueError, match="rows of a Spark table have no order"):
        blend(rows.drop("ds"), hedger="squint")
    with pytest.raises(ValueError, match="shuffle=False is for Dask"):
        blend(rows, hedger="squint", shuffle=False)
    with pytest.raises(TypeError, match=r"call normalhedge\.clusters\.blend"):
        normalhedge.blend(rows)
    names: dict[str, Any] = {
        "target": "y",
        "experts": EXPERTS,
        "by": "series",
        "time": "t",
        "id": "id",
    }
    with pytest.raises(ValueError, match="rows must be a stream of Spark: for a table, call blend"):
        blend_stream(rows, **names)
    stream = spark.readStream.schema(SCHEMA).parquet(str(tmp_path))
    with pytest.raises(ValueError, match="for a stream of Spark, call blend_stream"):
        blend(stream, hedger="squint")
    with pytest.raises(ValueError, match="place"):
        blend_stream(stream, **{**names, "by": "place"})
    with pytest.raises(ValueError, match="column t cannot be both time and id"):
        blend_stream(stream, **{**names, "id": "t"})
    with pytest.raises(ValueError, match="loss must be a loss of single numbers in a stream"):
        blend_stream(stream, **names, loss="log")
    with pytest.raises((TypeError, ValueError)):
        blend_stream(stream, **names, loss=lambda forecast, outcome: abs(forecast - outcome))
    spark.conf.unset(PROVIDER)
    try:
        with pytest.raises(ValueError, match="a stream with states needs RocksDB"):
            blend_stream(stream, **names)
    finally:
        spark.conf.set(PROVIDER, ROCKS)
