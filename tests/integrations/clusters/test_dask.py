"""Tables of Dask, on a cluster of two processes."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import normalhedge
from normalhedge.integrations.clusters import ClusterSummary, blend
from tests.integrations.clusters.examples import (
    SETTINGS,
    assert_same,
    long_table,
    quantile_rows,
    steps_ahead,
    table,
)

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("default")  # Dask has warnings of its own


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@pytest.fixture
def here() -> Iterator[None]:
    """Compute in this process, where a cluster would prove nothing more."""
    with dask.config.set(scheduler="synchronous"):
        yield


def _spread(frame: Any, partitions: int = 5) -> Any:
    return dd.from_pandas(frame, npartitions=partitions, sort=False)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
def test_every_row_has_the_number_of_one_machine(options: dict[str, Any]) -> None:
    rows = table()
    found = blend(_spread(rows), **options)
    assert_same(found.frame.compute(), normalhedge.blend(rows, **options).frame)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", ["int64", "int8", "uint64", "float64", "Int64", "category"])
def test_series_have_names_of_any_kind(kind: str) -> None:
    rows = table()
    number = rows["unique_id"].str[1:].astype(int)
    rows["unique_id"] = (number if kind == "uint64" else number - 5).astype(kind)
    found = blend(_spread(rows), by="unique_id", hedger="squint").frame.compute()
    expected = normalhedge.blend(rows, by="unique_id", hedger="squint").frame
    assert found["blend"].sort_index().equals(expected["blend"])


@pytest.mark.usefixtures("here")
def test_a_partition_is_read_once() -> None:
    rows, read = table(), []

    def part(k: int) -> Any:
        read.append(k)
        return rows[k::3]

    found = blend(dd.from_map(part, range(3), meta=rows[:0]), hedger="squint")
    read.clear()  # of the sample
    assert len(found.frame.compute()) == len(rows)
    assert sorted(read) == [0, 1, 2]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("rows", [long_table(), steps_ahead(), quantile_rows()])
def test_what_the_whole_table_decides_is_known_to_its_parts(rows: Any) -> None:
    options: dict[str, Any] = {"hedger": "hedge", "weights": True, "pooled": False}
    found = blend(_spread(rows, 6), **options)
    assert_same(found.frame.compute(), normalhedge.blend(rows, **options).frame)


@pytest.mark.usefixtures("here")
def test_a_group_is_a_table_of_its_own() -> None:
    rows = table()
    rows["region"] = rows["unique_id"].map(lambda name: "north" if name < "s2" else "south")
    found = blend(_spread(rows), group="region").frame.compute()
    for region, part in rows.groupby("region"):
        expected = normalhedge.blend(part.drop(columns="region")).frame
        assert_same(found[found["region"] == region].drop(columns="region"), expected)
    # It is not what weights of each series by itself give.
    alone = blend(_spread(rows.drop(columns="region")), pooled=False).frame.compute()
    assert not found["blend"].sort_index().equals(alone["blend"].sort_index())


@pytest.mark.usefixtures("here")
def test_groups_may_have_models_of_their_own() -> None:
    rows = long_table()
    rows["region"] = rows["unique_id"].map(lambda name: "north" if name < "s6" else "south")
    late = rows[(rows["region"] == "north") | (rows["model"] != "naive")]
    late = late.sort_values(["region"], ascending=False, kind="stable").reset_index(drop=True)
    found = blend(_spread(late), group="region", weights=True, hedger="squint").frame
    assert {"weight_gam", "weight_ar", "weight_naive"} <= set(found.columns)
    south = found[found["region"] == "south"].compute()
    assert south["weight_naive"].isna().all()
    assert found.compute()["weight_naive"].notna().any()


@pytest.mark.usefixtures("here")
def test_a_model_that_only_few_series_have_is_found() -> None:
    rows = long_table().sort_values("model", kind="stable", ignore_index=True)
    options: dict[str, Any] = {"hedger": "hedge", "weights": True}
    found = blend(_spread(rows), **options).frame
    expected = normalhedge.blend(rows, **options).frame
    assert list(found.columns) == list(expected.columns)
    assert_same(found.compute(), expected)


@pytest.mark.usefixtures("here")
def test_the_index_says_which_row_is_which_and_no_shuffle_is_needed_for_whole_series() -> None:
    rows = table()
    rows.index = np.random.default_rng(0).permutation(len(rows)) + 1000
    expected = normalhedge.blend(rows, hedger="squint").frame
    found = blend(_spread(rows), hedger="squint").frame.compute()
    assert found.loc[rows.index, "blend"].equals(expected["blend"])
    series = [part for _, part in rows.groupby("unique_id")]
    whole = dd.concat([dd.from_pandas(part, npartitions=1, sort=False) for part in series])
    kept = blend(whole, hedger="squint", shuffle=False).frame.compute()
    assert kept.loc[rows.index, "blend"].equals(expected["blend"])


@pytest.mark.usefixtures("here")
def test_rows_without_times_are_in_the_order_of_the_partitions() -> None:
    rows = table().drop(columns="ds")
    found = blend(_spread(rows), hedger="squint").frame.compute()
    expected = normalhedge.blend(rows, hedger="squint").frame
    assert found["blend"].sort_index().equals(expected["blend"])


@pytest.mark.usefixtures("here")
def test_the_summary_is_that_of_one_machine_but_for_the_last_digits() -> None:
    rows = table()
    rows.loc[::9, "y"] = np.nan
    found = blend(_spread(rows), hedger="squint").summary()
    expected = normalhedge.blend(rows, hedger="squint").summary()
    assert isinstance(found, ClusterSummary)
    assert (found.series, found.rows, found.settled) == (17, len(rows), expected.settled)
    assert found.silent == expected.silent > 0
    assert (found.blend, found.uniform) == pytest.approx((expected.blend, expected.uniform))
    losses = {one.name: (one.loss, one.blend_loss, one.awake) for one in found.experts}
    for one in expected.experts:
        assert losses[one.name] == pytest.approx((one.loss, one.blend_loss, one.awake))
    assert "17 series" in str(found)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("change", "options", "why"),
    [
        ({}, {}, "auto shares weights between series by default: pass pooled=False"),
        ({}, {"hedger": "squint", "pooled": True}, "pooled=True makes one game of all series"),
        ({}, {"group": "place"}, "there is no column place"),
        ({}, {"hedger": "squint", "partitions": 0}, "partitions must be 1 or more, got 0"),
        ({}, {"hedger": "squint", "shuffle": False, "partitions": 3}, "partitions needs a shuffle"),
        ({"ds": str}, {"hedger": "squint"}, "column ds holds text: turn it into times"),
        ({"ar": str}, {"hedger": "squint", "experts": ["gam", "ar"]}, "holds text"),
        ({}, {"hedger": "squint", "target": "z"}, "z"),
    ],
)
def test_what_cannot_be_divided_is_refused_with_a_sentence(
    change: dict[str, Any], options: dict[str, Any], why: str
) -> None:
    rows = table(4, 12).astype(change)
    with pytest.raises((TypeError, ValueError), match=why):
        blend(_spread(rows, 2), **options)


@pytest.mark.usefixtures("here")
def test_other_wrong_calls_are_refused() -> None:
    rows = table(4, 12)
    one = rows[rows["unique_id"] == "s1"].drop(columns="unique_id")
    with pytest.raises(ValueError, match="by must name the series"):
        blend(_spread(one, 2), hedger="squint")
    with pytest.raises(TypeError, match="mixture cannot be given here: a cluster keeps no"):
        blend(_spread(rows, 2), mixture=normalhedge.Mixture())
    with pytest.raises(TypeError, match=r"got DataFrame: for a table of one machine call"):
        blend(rows, hedger="squint")
    with pytest.raises(TypeError, match=r"call normalhedge\.integrations\.clusters\.blend"):
        normalhedge.blend(_spread(rows, 2), hedger="squint")
    with pytest.raises(ValueError, match="the table has no rows"):
        blend(_spread(rows[:0], 1), hedger="squint")


def _slowly(part: Any, folder: Path) -> Any:
    """Return a partition, after a mark that it was read, and a while."""
    (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(0.4)
    return part


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(client: Any, tmp_path: Path) -> None:
    rows = table(60, 30)
    options: dict[str, Any] = {"pooled": False, "interval": 0.8}
    slow = _spread(rows, 12).map_partitions(_slowly, tmp_path, meta=rows[:0])
    before = set(client.run(os.getpid).values())
    found = blend(slow, **options)
    for mark in tmp_path.iterdir():  # of the sample
        mark.unlink()
    work = client.compute(found.frame)
    while len(list(tmp_path.iterdir())) < 4:
        time.sleep(0.02)
    assert not work.done()
    os.kill(min(before), signal.SIGKILL)
    assert_same(work.result(timeout=120), normalhedge.blend(rows, **options).frame)
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != before


def test_persist_keeps_results_on_the_workers(client: Any) -> None:
    rows = table()
    found = blend(_spread(rows), hedger="squint").persist()
    distributed.wait(found.frame)
    assert client.futures
    expected = normalhedge.blend(rows, hedger="squint")
    assert_same(found.frame.compute(), expected.frame)
    assert found.summary().blend == pytest.approx(expected.summary().blend)
