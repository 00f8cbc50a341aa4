"""A table is a loop over a mixture, and causal."""

import copy
import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.mixtures import Loss
from tests.rules import SINGLE, either
from tests.tables.examples import Frame, loop, values, wide


def test_a_table_that_cannot_be_finished_leaves_the_mixture_as_it_was() -> None:
    calls: list[float] = []

    def fails_once(forecasts: np.ndarray, outcome: float) -> np.ndarray:
        calls.append(outcome)
        if len(calls) == 25:
            raise ValueError("not now")
        return np.abs(forecasts - outcome)

    outcomes = [0.0, 1.0, 2.0] * 4
    table = pd.DataFrame({"t": range(12), "y": [*outcomes[:10], None, None], "a": 1.0, "b": 0.5})
    later = table.assign(t=table.t + 10, y=outcomes, late=2.0)
    mixture = Mixture("squint", fails_once)
    blend(table[:4], "y", ["a", "b"], time="t", lag=2, mixture=mixture)
    before = copy.copy(mixture)
    calls[:] = [0.0] * 15
    with pytest.raises(ValueError, match="not now"):
        blend(later, "y", ["a", "b", "late"], time="t", lag=2, mixture=mixture)
    assert (mixture.names, mixture.items) == (["a", "b"], before.items)
    for one in (mixture, before):
        blend(later, "y", ["a", "b", "late"], time="t", lag=2, mixture=one)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(mixture.live, name), getattr(before.live, name))
    assert mixture.rounds == before.rounds
    assert mixture.pending.keys() == before.pending.keys()


@pytest.mark.parametrize(
    "options", [{}, {"hedger": SINGLE}, {"loss": "absolute", "even": 0.3, "include": "median"}]
)
@pytest.mark.parametrize("lag", [0, 3])
@pytest.mark.parametrize(("series", "pooled"), [(1, False), (3, False), (3, True)])
def test_blend_is_a_loop_over_mixtures(
    series: int, pooled: bool, lag: int, options: dict[str, Any]
) -> None:
    table = wide(60, series)
    by = () if series == 1 else "unique_id"
    experts = ["gam", "ar", "naive"]
    found = blend(pa.table(table), "y", experts, by, "ds", lag, pooled=pooled, **options)
    slow = loop(table, lag, pooled=pooled, **options)
    np.testing.assert_array_equal(values(found), slow)


@either
@pytest.mark.parametrize("lag", [0, 4])
@pytest.mark.parametrize("pooled", [False, True])
def test_the_future_changes_no_prediction(lag: int, pooled: bool, hedger: str | None) -> None:
    options: dict[str, Any] = {"lag": lag, "pooled": pooled, "hedger": hedger}
    table = wide(series=2)
    whole = values(blend(pa.table(table), "y", **options))
    for end in (10, 11, 60, 200):
        part = {name: column[:end] for name, column in table.items()}
        np.testing.assert_array_equal(values(blend(pa.table(part), "y", **options)), whole[:end])
    # Nor does an outcome that is not known yet.
    table["y"] = table["y"].copy()
    table["y"][100:] += 1e3
    changed = values(blend(pa.table(table), "y", **options))
    same = 100 + 2 * (lag + 1)
    np.testing.assert_array_equal(changed[:same], whole[:same])
    assert (changed[same:] != whole[same:]).any()


@either
@pytest.mark.parametrize("lag", [0, 3])
def test_series_that_begin_later_change_no_prediction(lag: int, hedger: str | None) -> None:
    table = wide(60, series=3)
    begins = {"s0": 10, "s1": 0, "s2": 35}
    rows = [k for k, (t, key) in enumerate(zip(table["ds"], table["unique_id"], strict=True))
            if t >= begins[key]]  # fmt: skip
    late: Frame = {name: [column[k] for k in rows] for name, column in table.items()}
    late |= {name: np.array(late[name]) for name in late if name != "unique_id"}
    options: dict[str, Any] = {"by": "unique_id", "lag": lag, "pooled": True, "hedger": hedger}
    whole = values(blend(pa.table(late), "y", ["gam", "ar", "naive"], **options))
    np.testing.assert_array_equal(whole, loop(late, lag, pooled=True, hedger=hedger))
    for end in (5, 10, 30, 60, 62, 100):
        part = pa.table(late).slice(0, end)
        found = values(blend(part, "y", ["gam", "ar", "naive"], **options))
        np.testing.assert_array_equal(found, whole[:end])


def test_include_may_be_any_iterable() -> None:
    table = pa.table(wide(20, series=2))
    for include in ("mean", ["mean"], iter(["mean"])):
        found = blend(table, "y", include=include, pooled=False).mixture
        assert found.names[0] == "(mean)"
        assert len(found.weights) == 2


@either
def test_rows_without_anybody_are_null(hedger: str | None) -> None:
    table = pd.DataFrame(wide(30))
    table.loc[10:12, ["gam", "ar", "naive"]] = np.nan
    found = blend(pa.Table.from_pandas(table), "y", hedger=hedger).frame["blend"]
    assert found.null_count == 3
    assert [k for k, v in enumerate(found.to_pylist()) if v is None] == [10, 11, 12]


@either
def test_infinite_forecasts_sleep(hedger: str | None) -> None:
    table = pd.DataFrame(wide(30, asleep=0.0))
    table.loc[5, "gam"] = math.inf
    found = blend(table, "y", hedger=hedger)
    assert found.mixture.live.total_sums[6] == 1
    assert any("1 infinite forecast" in sentence for sentence in found.notes)


def test_a_loss_of_your_own_in_a_table() -> None:
    table = pa.table(wide(40, series=2))
    own = blend(table, "y", lag=1, loss=lambda x, y: np.abs(x - y), combine="median")
    built_in = blend(table, "y", lag=1, loss="absolute", hedger=SINGLE)
    np.testing.assert_array_equal(values(own), values(built_in))
    np.testing.assert_array_equal(own.mixture.live.expert_sums, built_in.mixture.live.expert_sums)
    square = Loss("mine", function=lambda x, y: (x - y) ** 2, slope=lambda x, y: 2.0 * (x - y))
    own, built_in = (blend(table, "y", lag=1, loss=loss) for loss in (square, "square"))
    np.testing.assert_allclose(values(own), values(built_in), rtol=1e-12)


def test_a_table_without_rows_says_so() -> None:
    empty = pd.DataFrame(
        {"ds": [], "y": [], "a": [], "b": []}, dtype=str
    )  # a file with a head only
    with pytest.raises(ValueError, match="the table has no rows"):
        blend(empty, "y")
