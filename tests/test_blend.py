import io
import json
import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures import Loss
from normalhedge.mixtures.stream import Stream
from normalhedge.tables import Blend
from normalhedge.tables.timeline import timeline
from tests.rules import SINGLE, either
from tests.test_cli import call

Frame = dict[str, Any]
ROUNDS = 120


def wide(rounds: int = ROUNDS, series: int = 1, seed: int = 0, asleep: float = 0.2) -> Frame:
    """Return a table of three experts, sorted by time and then by series."""
    rng = np.random.default_rng(seed)
    rows = rounds * series
    y = rng.normal(size=(rounds, series)).cumsum(axis=0).ravel() * 10.0
    forecasts = y[:, np.newaxis] + rng.normal(size=(rows, 3)) * [1.0, 2.0, 5.0]
    forecasts[rng.random(forecasts.shape) < asleep] = np.nan
    return {
        "ds": np.repeat(np.arange(rounds), series),
        "unique_id": [f"s{k}" for _ in range(rounds) for k in range(series)],
        "y": y,
        **{name: forecasts[:, i] for i, name in enumerate(("gam", "ar", "naive"))},
    }


def values(result: Blend) -> np.ndarray:
    return np.array(result.frame["blend"], dtype=float)


def loop(table: Frame, lag: int, *, pooled: bool, **options: Any) -> np.ndarray:
    """Return what a loop over mixtures predicts: each series its own, or all in one."""
    names = ["gam", "ar", "naive"]
    groups = sorted(set(table["unique_id"]))
    found = np.full(len(table["y"]), np.nan)
    for group in [None] if pooled else groups:
        mixture = Mixture(**options)
        mixture.join(names)
        waiting: list[tuple[int, Any]] = []
        for time in np.unique(table["ds"]):
            rows = [
                k
                for k in np.flatnonzero(table["ds"] == time)
                if pooled or table["unique_id"][k] == group
            ]
            if len(waiting) > lag:
                mixture.update(*waiting.pop(0))
            if pooled:
                keys = [table["unique_id"][k] for k in rows]
                said: Any = {
                    name: {key: table[name][k] for key, k in zip(keys, rows, strict=True)}
                    for name in names
                }
                made = mixture.predict(said)
                found[rows] = [
                    np.nan if made.value[key] is None else made.value[key] for key in keys
                ]
                outcome: Any = {key: table["y"][k] for key, k in zip(keys, rows, strict=True)}
            else:
                made = mixture.predict({name: table[name][rows[0]] for name in names})
                found[rows] = np.nan if made.value is None else made.value
                outcome = float(table["y"][rows[0]])
            waiting.append((made.ticket, outcome))
    return found


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


@either
def test_all_kinds_of_tables_give_the_same(hedger: str | None) -> None:
    table = wide(series=2)
    table["naive"] = np.nan_to_num(table["naive"])  # somebody is awake in every row of a long table
    expected = values(blend(pa.table(table), "y", hedger=hedger))
    from_pandas = blend(pd.DataFrame(table), "y", hedger=hedger).frame
    from_polars = blend(pl.DataFrame(table), "y", hedger=hedger).frame
    assert isinstance(from_pandas, pd.DataFrame)
    assert isinstance(from_polars, pl.DataFrame)
    np.testing.assert_array_equal(from_pandas["blend"].to_numpy(), expected)
    np.testing.assert_array_equal(from_polars["blend"].to_numpy(), expected)
    shuffled = pd.DataFrame(table).sample(frac=1.0, random_state=0)
    back = blend(shuffled, "y", hedger=hedger).frame
    np.testing.assert_array_equal(back["y"].to_numpy(), shuffled["y"].to_numpy())
    order = np.argsort(shuffled.index.to_numpy())
    np.testing.assert_array_equal(back["blend"].to_numpy()[order], expected)
    long = pd.DataFrame(table).melt(
        ["ds", "unique_id", "y"], ["gam", "ar", "naive"], "model", "forecast"
    )
    found = blend(long.dropna(subset="forecast"), "y", hedger=hedger).frame
    both = pd.DataFrame({**table, "wide": expected}).merge(found, on=["ds", "unique_id"])
    np.testing.assert_allclose(both["wide"], both["blend"], rtol=1e-12)


def test_dates_words_and_numbers_are_times() -> None:
    table = wide()
    expected = values(blend(pa.table(table), "y"))
    days = pd.date_range("2024-01-01", periods=ROUNDS)
    for times in (days, days.strftime("%Y-%m-%d").tolist(), np.arange(ROUNDS) * 0.5):
        found = blend(pd.DataFrame({**table, "ds": times}), "y")
        np.testing.assert_array_equal(values(found), expected)
    without = {name: column for name, column in table.items() if name not in {"ds", "unique_id"}}
    np.testing.assert_array_equal(values(blend(pa.table(without), "y")), expected)


def cross_validation() -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Return what Nixtla's `cross_validation` does: two series, 30 windows, three steps ahead."""
    rng = np.random.default_rng(3)
    rows = []
    truth = {key: rng.normal(size=40).cumsum() for key in ("a", "b")}
    days = pd.date_range("2024-01-01", periods=40)
    for key, y in truth.items():
        for window in range(30):
            for step in range(1, 4):
                at = window + step
                noise = rng.normal(size=2) * [0.1 * step, 1.0]
                rows.append([key, days[at], days[window], y[at], *(y[at] + noise)])
    names = ["unique_id", "ds", "cutoff", "y", "AutoARIMA", "Naive"]
    return pd.DataFrame(rows, columns=names), truth


@either
def test_nixtla_as_it_is(hedger: str | None) -> None:
    frame, _ = cross_validation()
    options: dict[str, Any] = {"loss": "absolute", "hedger": hedger}
    found = blend(frame, **options)
    assert found.notes == [
        "target: y",
        "time: ds",
        "series: unique_id",
        "forecasts made at: cutoff",
        "experts: AutoARIMA, Naive",
    ]
    assert found.mixture.items == [f"{key}|step {k}" for key in "ab" for k in (1, 2, 3)]
    # Step 3 of a series by hand: an outcome is known to the forecast that is made at its time.
    mixture = Mixture(**options)
    rows = frame[frame.unique_id == "b"].groupby("cutoff").tail(1)
    waiting: list[tuple[pd.Timestamp, int, float]] = []
    expected = []
    for row in rows.itertuples():
        while waiting and waiting[0][0] <= row.cutoff:
            _, ticket, y = waiting.pop(0)
            mixture.update(ticket, y)
        made = mixture.predict({"AutoARIMA": row.AutoARIMA, "Naive": row.Naive})
        waiting.append((row.ds, made.ticket, row.y))
        expected.append(made.value)
    np.testing.assert_array_equal(found.frame.loc[rows.index, "blend"], expected)
    pooled = blend(frame, **options, pooled=True)
    # By default, there is a game for each item beside the one that they share.
    assert len(pooled.mixture.weights) == (1 if hedger == SINGLE else 7)
    half = frame[frame.cutoff < frame.cutoff.max() - pd.Timedelta(days=9)]
    for whole, together in ((found, False), (pooled, True)):
        part = blend(half, **options, pooled=together).frame
        np.testing.assert_array_equal(part["blend"], whole.frame.loc[half.index, "blend"])


@pytest.mark.parametrize("own", [{}, {"hedger": SINGLE}, {"include": ("mean", "median")}])
@pytest.mark.parametrize("lag", [0, 5])
@pytest.mark.parametrize(("series", "pooled"), [(1, False), (3, False), (3, True)])
def test_tomorrow_continues_today(
    tmp_path: Path, lag: int, series: int, pooled: bool, own: dict[str, Any]
) -> None:
    table = pa.table(wide(series=series))
    options: dict[str, Any] = {
        "lag": lag,
        "pooled": pooled,
        "by": "unique_id" if series > 1 else (),
    }
    settings: dict[str, Any] = {"loss": "absolute"} | own
    experts = ["gam", "ar", "naive"]
    whole = values(blend(table, "y", experts, **options, **settings))
    found, mixture = [], None
    for first, last in ((0, 21), (21, 22), (22, 80), (80, 120)):
        part = table.slice(first * series, (last - first) * series)
        extra = settings if mixture is None else {"mixture": mixture}
        result = blend(part, "y", experts, **options, **extra)
        found.append(values(result))
        result.mixture.save(tmp_path / "state.json")
        mixture = Mixture.load(tmp_path / "state.json")
    np.testing.assert_array_equal(np.concatenate(found), whole)


@either
def test_a_file_that_grows_is_read_from_where_it_was(hedger: str | None) -> None:
    table = wide(series=2)
    whole = values(blend(pa.table(table), "y", lag=2, hedger=hedger))
    today = pd.DataFrame(table).head(100)
    first = blend(today, "y", lag=2, hedger=hedger)
    second = blend(pd.DataFrame(table), "y", lag=2, mixture=first.mixture)
    assert len(second.frame) == len(whole) - 100
    np.testing.assert_array_equal(values(second), whole[100:])
    assert "100 rows seen before" in second.notes[-1]
    third = blend(pd.DataFrame(table), "y", lag=2, mixture=second.mixture)
    assert len(third.frame) == 0


@either
def test_outcomes_that_come_later_are_filled_in(hedger: str | None) -> None:
    table = pd.DataFrame(wide(asleep=0.0))
    whole = blend(table, "y", lag=2, hedger=hedger)
    today = table.head(80).copy()
    today.loc[78:, "y"] = np.nan  # the last two are not known yet, which the lag allows for
    first = blend(today, "y", lag=2, hedger=hedger)
    assert not np.isnan(values(first)).any()
    second = blend(table, "y", lag=2, mixture=first.mixture)
    assert "2 outcomes filled in" in second.notes[-1]
    np.testing.assert_array_equal(values(second), values(whole)[80:])
    np.testing.assert_allclose(second.mixture.games.expert_sums, whole.mixture.games.expert_sums)
    # One that comes too late is learned when it comes.
    today.loc[70:, "y"] = np.nan
    late = blend(today, "y", hedger=hedger)
    assert len(late.mixture.books.deferred) == 10
    after = blend(table, "y", mixture=late.mixture)
    assert not after.mixture.books.deferred
    assert after.mixture.games.total_sums[2] == whole.mixture.games.total_sums[2]


@either
def test_a_day_whose_outcomes_are_all_unknown(hedger: str | None) -> None:
    table = pd.DataFrame(wide(series=2, asleep=0.0))
    whole = values(blend(table, "y", lag=1, hedger=hedger))
    mixture = blend(table.head(100), "y", lag=1, hedger=hedger).mixture
    days = []
    for first in range(100, 120, 2):  # every day: yesterday with its outcome, today without
        today = table.iloc[first - 2 : first + 2].copy()
        today["y"] = [*today["y"][:2], None, None]
        found = blend(
            pa.Table.from_pandas(today, preserve_index=False), "y", lag=1, mixture=mixture
        )
        days.append(values(found))
        mixture = found.mixture
    np.testing.assert_array_equal(np.concatenate(days), whole[100:120])
    empty = pa.table({"ds": [1], "y": pa.nulls(1), "a": [1.0], "b": [3.0]})
    assert values(blend(empty, "y")).tolist() == [2.0]


@either
def test_with_a_cutoff_outcomes_are_filled_in_by_their_times(hedger: str | None) -> None:
    frame, _ = cross_validation()
    options: dict[str, Any] = {"loss": "absolute", "hedger": hedger}
    whole = blend(frame, **options).frame
    mixture, found = None, []
    for day in sorted(frame.cutoff.unique()):
        # Today's forecasts, and the rows of before whose outcome has become known.
        today = frame[frame.cutoff == day].assign(y=np.nan)
        known = frame[(frame.ds == day) & (frame.cutoff < day)]
        extra = options if mixture is None else {"mixture": mixture}
        result = blend(pd.concat([known, today]), "y", **extra)
        mixture = result.mixture
        found.append(result.frame[["unique_id", "ds", "cutoff", "blend"]])
    both = whole.merge(pd.concat(found), on=["unique_id", "ds", "cutoff"])
    assert len(both) == len(frame)
    np.testing.assert_array_equal(both["blend_x"], both["blend_y"])


@either
def test_what_waits_is_not_thrown_away(hedger: str | None) -> None:
    table = pa.table(wide(12, series=8, asleep=0.0))
    options: dict[str, Any] = {"by": "unique_id", "lag": 5}
    whole = values(blend(table, "y", **options, hedger=hedger))
    settings: list[dict[str, Any]] = [{"max_pending": 3}, {"max_age": 2}]
    for limits in settings:
        first = blend(table.slice(0, 64), "y", **options, hedger=hedger, **limits)
        second = blend(table.slice(64), "y", **options, mixture=first.mixture)
        np.testing.assert_array_equal(values(second), whole[64:])
    silent = wide(60, asleep=0.0)
    silent["y"] = np.full(60, np.nan)
    found = blend(pa.table(silent), "y", hedger=hedger, max_pending=10).mixture
    assert len(found.books.deferred) == len(found.pending) == 10
    assert found.expired == 50


def test_include_may_be_any_iterable() -> None:
    table = pa.table(wide(20, series=2))
    for include in ("mean", ["mean"], iter(["mean"])):
        found = blend(table, "y", include=include, pooled=False).mixture
        assert found.names[0] == "(mean)"
        assert len(found.weights) == 2


def test_the_index_of_pandas_is_kept() -> None:
    frame = pd.DataFrame(wide(20)).sample(frac=1.0, random_state=1)
    assert blend(frame, "y").frame.index.equals(frame.index)


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
    assert found.mixture.games.total_sums[6] == 1
    assert any("1 infinite forecast" in sentence for sentence in found.notes)


@either
def test_weights_on_request(hedger: str | None) -> None:
    table = pd.DataFrame(wide(40, series=2))
    found = blend(table, "y", weights=True, hedger=hedger).frame
    shares = found[[f"weight_{name}" for name in ("gam", "ar", "naive")]].to_numpy()
    heard = ~found["blend"].isna().to_numpy()
    np.testing.assert_allclose(shares[heard].sum(axis=1), 1.0)
    forecasts = table[["gam", "ar", "naive"]].fillna(0.0).to_numpy()
    if hedger == SINGLE:  # by default, medians have their say
        np.testing.assert_allclose((shares * forecasts).sum(axis=1)[heard], found["blend"][heard])


@either
def test_classes_in_a_long_table(hedger: str | None) -> None:
    rng = np.random.default_rng(4)
    rows = []
    for day in range(60):
        for place in ("x", "y"):
            truth = int(rng.integers(3))
            for model, skill in (("sharp", 0.8), ("flat", 1 / 3)):
                p = np.full(3, (1 - skill) / 2)
                p[truth] = skill
                rows.append([day, place, model, truth, *p])
    frame = pd.DataFrame(rows, columns=["time", "location", "model", "truth", "a", "b", "c"])
    found = blend(frame, classes=["a", "b", "c"], loss="l1", pooled=True, hedger=hedger)
    p = found.frame[["blend_a", "blend_b", "blend_c"]].to_numpy()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    late = found.frame["time"] > 30
    right = p[np.arange(len(p)), found.frame["truth"].to_numpy()]
    assert right[late].mean() > 0.75
    with pytest.raises(ValueError, match="sum to one"):
        blend(frame.assign(a=0.9), classes=["a", "b", "c"], loss="l1")
    with pytest.raises(ValueError, match=r"must hold classes in 0\.\.2"):
        blend(frame.assign(truth=7), classes=["a", "b", "c"], loss="l1")
    with pytest.raises(ValueError, match="probabilities"):
        blend(frame, classes=["a", "b", "c"], loss="square")


def test_a_loss_of_your_own_in_a_table() -> None:
    table = pa.table(wide(40, series=2))
    own = blend(table, "y", lag=1, loss=lambda x, y: np.abs(x - y), combine="median")
    built_in = blend(table, "y", lag=1, loss="absolute", hedger=SINGLE)
    np.testing.assert_array_equal(values(own), values(built_in))
    np.testing.assert_array_equal(own.mixture.games.expert_sums, built_in.mixture.games.expert_sums)
    square = Loss("mine", function=lambda x, y: (x - y) ** 2, slope=lambda x, y: 2.0 * (x - y))
    own, built_in = (blend(table, "y", lag=1, loss=loss) for loss in (square, "square"))
    np.testing.assert_allclose(values(own), values(built_in), rtol=1e-12)


@either
def test_the_sums_do_not_depend_on_the_shares(hedger: str | None) -> None:
    table = pa.table(wide(40, series=1500, asleep=0.1))  # large enough to be spread over cores
    found = blend(table, "y", pooled=False, hedger=hedger)
    few = blend(table.filter(pa.compute.equal(table["unique_id"], "s7")), "y", hedger=hedger)
    of_it = np.array(found.frame["unique_id"].to_pylist()) == "s7"
    np.testing.assert_array_equal(values(found)[of_it], values(few))
    summary = found.summary()
    losses = np.square(values(found) - np.array(table["y"]))
    assert summary.blend == pytest.approx(np.nanmean(losses))


@either
def test_the_course_adds_up(hedger: str | None) -> None:
    found = blend(pa.table(wide(3000)), "y", ["gam", "ar", "naive"], time="ds", hedger=hedger)
    went = timeline(found)
    assert len(went.when) == 500
    assert went.rounds == pytest.approx(6.0, abs=0.02)
    np.testing.assert_allclose(went.weights.sum(axis=1) + went.others, 1.0)
    summary = found.summary()
    assert went.behind[-1, -1] == pytest.approx((summary.uniform - summary.blend) * summary.settled)
    assert summary.rounds == 3000
    assert summary.convex <= summary.uniform


@pytest.mark.parametrize(
    ("change", "options", "word"),
    [
        ({}, {"target": "z"}, "unknown column 'z'"),
        ({}, {"target": "gamm"}, "did you mean gam"),
        ({}, {"experts": ["gam", "aar"]}, "unknown column 'aar': did you mean ar"),
        ({"y": ["a"] * ROUNDS}, {}, "column y must hold numbers"),
        ({"y": [math.inf] * ROUNDS}, {}, "column y must be finite"),
        ({"ds": [1, 1, *range(2, ROUNDS)]}, {}, "time 1 stands in more than one row of s0"),
        ({"ds": [None, *range(1, ROUNDS)]}, {}, "time must be given in every row"),
        ({"gam": ["x"] * ROUNDS}, {"experts": ["gam"]}, "column gam must hold numbers"),
        ({}, {"lag": -1}, "lag must not be negative"),
        ({}, {"lag": 2**40}, None),
        ({}, {"experts": ["y", "ar"]}, "column y cannot be an expert"),
        ({}, {"experts": ["ds", "ar"], "time": "ds"}, "column ds cannot be an expert"),
        ({}, {"experts": ["ar", "ar"]}, "expert ar is there twice"),
        ({}, {"cutoff": "ds", "time": "ds", "lag": 1}, "give one of them"),
        ({"ds": ["9/30/2024"] * ROUNDS}, {}, "write them as 2024-09-30"),
        ({"ds": [[1]] * ROUNDS}, {}, "the time must be a date, a number or a word"),
        ({}, {"loss": "l1"}, "probabilities"),
        ({}, {"model": "unique_id", "forecast": "gam", "by": (), "time": "ds"}, None),
    ],
)
def test_bad_tables_are_a_sentence(
    change: Frame, options: dict[str, Any], word: str | None
) -> None:
    frame = pa.table({**wide(), **change})
    if word is None:
        blend(frame, "y", **options)
        return
    with pytest.raises((ValueError, TypeError), match=word):
        blend(frame, **{"target": "y", **options})


def test_more_bad_tables() -> None:
    table = wide(4)
    with pytest.raises(TypeError, match="frame must be a pandas, polars or pyarrow table"):
        blend([1, 2], "y")
    with pytest.raises(ValueError, match="no rows"):
        blend(pa.table(table).slice(0, 0), "y")
    with pytest.raises(ValueError, match="no column of numbers left"):
        blend(pa.table({"y": [1.0], "ds": [1]}), "y")
    with pytest.raises(ValueError, match="target must name one of the columns"):
        blend(pa.table({"a": [1.0], "b": [1.0]}))
    with pytest.raises(ValueError, match="column a is there twice"):
        blend(pa.Table.from_arrays([pa.array([1.0])] * 3, ["y", "a", "a"]), "y")
    counted = blend(pa.table({**table, "id": [1, 2, 3, 4], "note": list("abcd")}), "y")
    assert counted.notes[-2:] == ["experts: gam, ar, naive", "left out: id, note"]
    long = {"ds": [1, 1], "model": ["a", "a"], "forecast": [1.0, 2.0], "y": [1.0, 1.0]}
    with pytest.raises(ValueError, match="more than one forecast for ds 1, model a"):
        blend(pa.table(long), "y")
    with pytest.raises(ValueError, match="must agree in their target"):
        blend(pa.table({**long, "model": ["a", "b"], "y": [1.0, 2.0]}), "y")
    with pytest.raises(TypeError, match="loss belongs to the mixture"):
        blend(pa.table(table), "y", mixture=Mixture(), loss="square")
    words = blend(pd.DataFrame(table).assign(ds=list("abcd")), "y").mixture
    with pytest.raises(ValueError, match="cannot be compared"):
        blend(pa.table(table), "y", mixture=words)


@either
def test_a_stream_answers_every_line(hedger: str | None) -> None:
    lines = (
        """
        {"gam": 1.0, "ar": 3.0}
        {"ticket": 0, "outcome": 1.0}
        {"forecasts": {"gam": 2.0, "ar": 4.0}, "id": "tuesday"}
        not JSON
        {"id": "tuesday", "outcome": "?"}
        {"id": "tuesday", "outcome": 2.0}
        {"id": "tuesday", "outcome": 2.0}
        {"ticket": 0, "outcome": 2.0}
        {"ticket": true, "outcome": 2.0}
        {"outcome": 2.0}
        {"forecasts": {"gam": 2.0}, "colour": "red"}
        {"confidence": {}}
        [1, 2]
        {"gam": null, "ar": null}
        {"ticket": 2, "outcome": 5, "forecasts": {"gam": 7.0, "ar": 8.0}}
        {"forecasts": {"gam": 1}, "confidence": [1]}
        {"ticket": 3, "outcome": 5, "forecasts": {"gam": "x"}}
    """
        + "[" * 100_000
        + "\n"
        + '{"gam": 1'
        + "0" * 400
        + "}\n"
    )
    stream = Stream(Mixture(hedger, "absolute"))
    answers = list(stream.answers(io.StringIO(lines)))
    assert [a["line"] for a in answers] == list(range(2, 21))
    wrong = [a["line"] for a in answers if "error" in a]
    assert wrong == [5, 6, 8, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20]
    assert stream.refused == 13
    assert answers[16]["settled"] == 3  # what was done is said
    answers = answers[:15]
    assert answers[0] == {
        "line": 2, "ticket": 0, "prediction": 2.0, "weights": {"gam": 0.5, "ar": 0.5}
    }  # fmt: skip
    assert answers[2]["id"] == "tuesday"
    assert answers[5] == {"line": 7, "settled": 1}
    assert answers[-2]["prediction"] is None
    assert answers[-1]["settled"] == 2
    assert answers[-1]["prediction"] == pytest.approx(7.0, abs=0.5 if hedger is None else 0.0)
    json.dumps(answers)


def write(path: Path, table: Frame) -> Path:
    frame = pd.DataFrame(table)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


@either
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, ending: str, hedger: str | None
) -> None:
    table = wide(series=2)
    data = write(tmp_path / f"data{ending}", table)
    out, report = tmp_path / f"out{ending}", tmp_path / "report.html"
    code, said, errors = call(
        capsys, "blend", str(data), "--target", "y", "--lag", "2", "--loss", "absolute",
        "--out", str(out), "--report", str(report), "--weights", "--hedger", hedger or "auto",
    )  # fmt: skip
    assert code == 0
    assert "guessed: time: ds; series: unique_id; experts: gam, ar, naive" in errors
    assert "best convex combination" in said
    found = pd.read_csv(out) if ending == ".csv" else pd.read_parquet(out)
    expected = values(blend(pa.table(table), "y", lag=2, loss="absolute", hedger=hedger))
    np.testing.assert_allclose(found["blend"], expected, rtol=1e-12)
    assert "weight_gam" in found.columns
    assert "Weights of the experts" in report.read_text("utf-8")


def test_the_command_continues(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = wide(series=2)
    frame = pd.DataFrame(table)
    state, out = tmp_path / "state.json", tmp_path / "out.parquet"
    words = [
        "--target",
        "y",
        "--lag",
        "1",
        "--memory",
        "15",
        "--state",
        str(state),
        "--out",
        str(out),
    ]
    found = []
    for k, part in enumerate((frame.head(100), frame.iloc[100:150], frame)):
        data = write(tmp_path / f"{k}.parquet", part)
        code, _, _ = call(capsys, "blend", str(data), *words)
        assert code == 0
        found.append(pd.read_parquet(out)["blend"].to_numpy())
    whole = blend(frame, "y", lag=1, hedger="normal-hedge:c=1,alpha=0.06666666666666667")
    np.testing.assert_array_equal(np.concatenate(found), values(whole))
    code, _, errors = call(
        capsys, "blend", str(data), "--target", "y", "--loss", "absolute", *words[6:8]
    )
    assert code == 2
    assert "was made with another loss" in errors
    text = state.read_text()
    state.write_text(text[: len(text) // 2])
    code, _, errors = call(capsys, "blend", str(data), *words)
    assert code == 2
    assert "is not a whole JSON file" in errors
    assert len(errors.splitlines()) == 1


@either
def test_the_command_on_a_stream(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    hedger: str | None,
) -> None:
    state = tmp_path / "state.json"
    outs, words = [], ["--state", str(state), *(["--hedger", hedger] if hedger else [])]
    for lines in ('{"a": 1, "b": 2}\n{"ticket": 0, "outcome": 1}\n', '{"a": 1, "b": 2}\n'):
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        code, out, _ = call(capsys, "blend", "-", *words)
        assert code == 0
        outs += [json.loads(line) for line in out.splitlines()]
    assert outs[2]["prediction"] == 1.0 if hedger else 1.0 < outs[2]["prediction"] < 1.5
    assert outs[2]["ticket"] == 1
    monkeypatch.setattr("sys.stdin", io.StringIO('{"a": 1}\nnope\n{"a": 2}\n'))
    code, out, errors = call(capsys, "blend", "-")
    assert code == 2
    assert len(out.splitlines()) == 3
    assert "line 2: this is not JSON" in errors
    assert "1 line refused; the others count" in errors


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.csv"], "there is no file nowhere.csv"),
        (["{data}", "--target", "z"], "unknown column 'z'"),
        (["{data}", "--experts", "gam,aar"], "did you mean ar"),
        (["{data}", "--loss", "squared"], "did you mean square"),
        (["{data}", "--lag", "-1"], "-1 is not in the range"),
        (["{data}", "--out", "x.txt"], "must end in .csv or .parquet"),
        (["{data}", "--report", "x.pdf"], "must end in .html"),
        (["{data}", "--memory", "0"], "memory must be"),
        (["-", "--target", "y"], "--target is for files"),
        (["{data}", "--even", "2"], "even must be"),
        (["{text}"], "must end in .csv, .csv.gz or .parquet"),
        (["{broken}"], "cannot be read"),
        (["{empty}"], "cannot be read"),
    ],
)
def test_bad_words_for_blend(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], sentence: str
) -> None:
    places = {
        "data": write(tmp_path / "data.csv", wide()),
        "text": tmp_path / "data.xlsx",
        "broken": tmp_path / "broken.parquet",
        "empty": tmp_path / "empty.csv",
    }
    for name in ("text", "broken"):
        places[name].write_text("abc")
    places["empty"].write_text("")
    code, out, errors = call(capsys, "blend", *(word.format(**places) for word in words))
    assert code == 2
    assert out == ""
    assert sentence in errors
    assert len(errors.strip().splitlines()) == 1


def test_a_stream_that_is_ended_keeps_its_state(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    command = [sys.executable, "-m", "normalhedge", "blend", "-", "--state", str(state)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        for k in range(3):
            run.stdin.write('{"a": 1, "b": 2}\n')
            run.stdin.flush()
            assert json.loads(run.stdout.readline())["ticket"] == k
        run.send_signal(signal.SIGTERM)
        run.wait(timeout=60)
    assert list(Mixture.load(state).pending) == [0, 1, 2]


def test_what_is_read_is_not_written_over(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = write(tmp_path / "data.csv", wide())
    code, _, errors = call(capsys, "blend", str(data), "--out", str(data))
    assert code == 2
    assert "is what is read" in errors


@pytest.mark.parametrize("divided", [";", "\t", ","])
def test_any_csv(capsys: pytest.CaptureFixture[str], tmp_path: Path, divided: str) -> None:
    data, out = tmp_path / "data.csv.gz", tmp_path / "out.csv"
    pd.DataFrame(wide(30)).to_csv(data, index=False, sep=divided, encoding="utf-8-sig")
    code, _, _ = call(capsys, "blend", str(data), "--target", "y", "--out", str(out))
    assert code == 0
    np.testing.assert_allclose(pd.read_csv(out)["blend"], values(blend(pa.table(wide(30)), "y")))


def test_a_parquet_file_round_trip(tmp_path: Path) -> None:
    table = pa.table(wide())
    pq.write_table(table, tmp_path / "data.parquet")
    again = pq.read_table(tmp_path / "data.parquet")
    np.testing.assert_array_equal(values(blend(table, "y")), values(blend(again, "y")))
