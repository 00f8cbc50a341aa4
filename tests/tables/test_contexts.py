"""Contexts of tables: the numbers of a loop over `Mixture`, parts of dates, parts of tables."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from normalhedge.boundary.inputs import Floats

WEATHER = ("sun", "rain", None, "fog")


def hourly(
    days: int = 30, experts: int = 3, seed: int = 0, freq: str = "h", start: str = "2024-01-30"
) -> pd.DataFrame:
    """Return a table in which each hour has an expert that is good at it."""
    rng = np.random.default_rng(seed)
    count = 24 * days
    times = pd.date_range(start, periods=count, freq=freq)
    y = rng.normal(0.0, 5.0, count)
    forecasts = y[:, np.newaxis] + rng.normal(0.0, 5.0, (count, experts))
    best = rng.integers(0, experts, 24)[times.hour]
    forecasts[np.arange(count), best] = y + rng.normal(0.0, 1.0, count)
    weather = np.array(WEATHER, dtype=object)[rng.integers(0, 4, count)]
    columns = {f"m{i}": forecasts[:, i] for i in range(experts)}
    return pd.DataFrame({"ds": times, "y": y, **columns, "weather": weather})


def loop(table: pd.DataFrame, contexts: list[dict[str, Any]], lag: int = 0) -> Floats:
    """Return the blends of a loop over a mixture."""
    mixture, values, waiting = Mixture(), [], list[tuple[int, float]]()
    names = [name for name in table.columns if name.startswith("m")]
    for row, context in zip(table.to_dict("records"), contexts, strict=True):
        prediction = mixture.predict({name: row[name] for name in names}, context=context)
        values.append(prediction.value)
        waiting.append((prediction.ticket, row["y"]))
        if len(waiting) > lag:
            mixture.update(*waiting.pop(0))
    return np.array(values)


def parts_of(time: pd.Timestamp) -> dict[str, int]:
    """Return the hour, the weekday and the month of a time."""
    return {"hour": time.hour, "weekday": time.weekday(), "month": time.month}


def blends(table: pd.DataFrame, **options: Any) -> Floats:
    """Return the blends of a table."""
    return np.asarray(blend(table, target="y", time="ds", **options).frame["blend"])


@pytest.mark.parametrize("lag", [0, 5])
def test_a_table_has_the_numbers_of_a_loop(lag: int) -> None:
    table = hourly(days=20)
    contexts = [
        {"weather": weather} | {name: parts_of(time)[name] for name in ("month", "hour")}
        for weather, time in zip(table["weather"], table["ds"], strict=True)
    ]
    expected = loop(table, contexts, lag)
    names = ["weather", "month", "hour"]
    np.testing.assert_array_equal(blends(table, context=names, lag=lag), expected)


def test_by_default_parts_of_dates_are_tried_after_twenty_rounds_for_each_value() -> None:
    table = hourly(days=40)
    begin = {"hour": 480, "weekday": 140, "month": 240}
    contexts: list[dict[str, Any]] = []
    known: set[str] = set()
    for k, (before, now) in enumerate(pairwise(map(parts_of, table["ds"]))):
        known |= {n for n in now if k + 1 >= begin[n] and before[n] != now[n]}
        contexts.append({name: value for name, value in now.items() if name in known})
    expected = loop(table, [{}, *contexts])
    np.testing.assert_array_equal(blends(table), expected)
    assert not np.array_equal(blends(table, context=[]), expected)
    np.testing.assert_array_equal(blends(table, context=[]), loop(table, [{}] * len(table)))


@pytest.mark.parametrize(
    ("freq", "names"),
    [("h", ["weekday", "hour", "month"]), ("D", ["weekday", "month"]), ("7D", ["month"]),
     ("MS", ["month"]), ("YS", []), ("24h", ["weekday", "month"]), ("B", ["weekday", "month"])],
)  # fmt: skip
def test_parts_that_do_not_change_are_not_tried(freq: str, names: list[str]) -> None:
    table = hourly(days=50, freq=freq, start="1677-12-01" if freq == "YS" else "1950-01-03")
    if freq == "YS":
        table = table[:300]
    mixture = blend(table, target="y", time="ds", experts=["m0", "m1"]).mixture
    assert list(dict.fromkeys(cell.split("=")[0] for cell in mixture.live.cells)) == names


@pytest.mark.parametrize("context", [None, "weather", ["hour", "weather"]])
@pytest.mark.parametrize("lag", [0, 3])
@pytest.mark.parametrize("cut", [1, 100, 479, 480, 481, 600])
def test_a_table_in_two_parts(tmp_path: Path, context: Any, lag: int, cut: int) -> None:
    table = hourly(days=30)
    options: dict[str, Any] = {"target": "y", "time": "ds", "context": context, "lag": lag}
    if context is None:
        table = table.drop(columns="weather")
    whole = blend(table, **options)
    first = blend(table[:cut], **options)
    first.mixture.save(tmp_path / "m.json")
    second = blend(table[cut:], mixture=Mixture.load(tmp_path / "m.json"), **options)
    both = pd.concat([first.frame, second.frame])
    np.testing.assert_array_equal(both["blend"], whole.frame["blend"])
    assert second.mixture.live.cells == whole.mixture.live.cells
    np.testing.assert_array_equal(second.mixture.live.cell_rows, whole.mixture.live.cell_rows)


def test_no_row_depends_on_later_rows() -> None:
    table = hourly(days=30)
    whole = blends(table, lag=2)
    for cut in (50, 200, 490, 700):
        np.testing.assert_array_equal(blends(table[:cut], lag=2), whole[:cut])


def test_the_same_table_with_further_rows_goes_back() -> None:
    table = hourly(days=30)
    first = blend(table[:500], target="y", time="ds")
    grown = blend(table, target="y", time="ds", mixture=first.mixture)
    np.testing.assert_array_equal(grown.frame["blend"], blends(table))


def test_overlapping_tables_count_their_rounds_once() -> None:
    table = hourly(days=30)
    whole, first = blends(table), blend(table[:300], target="y", time="ds")
    second = blend(table[250:], target="y", time="ds", mixture=first.mixture)
    np.testing.assert_array_equal(second.frame["blend"], whole[300:])


def test_the_best_expert_of_each_hour_is_found() -> None:
    table = hourly(days=100, experts=4)
    late = slice(1200, None)
    contexts: dict[str, Any] = {"none": [], "hour": "hour", "default": None}
    errors = {
        name: np.mean(np.square(blends(table, context=context) - table["y"])[late])
        for name, context in contexts.items()
    }
    assert errors["hour"] < 1.3
    assert errors["default"] < 1.4
    assert errors["none"] > 3.0


def test_a_useless_context_costs_little() -> None:
    table = hourly(days=100)
    rng = np.random.default_rng(1)
    table["coin"], table["weather"] = rng.integers(0, 10, len(table)), "sun"
    for name in ("m0", "m1", "m2"):
        table[name] = table["y"] + rng.normal(0.0, 1.0, len(table))
    errors = [
        np.mean(np.square(blends(table, context=context) - table["y"]))
        for context in ([], ["coin"], ["weather"], ["coin", "weather", "month"])
    ]
    assert max(errors) < 1.01 * errors[0]


def test_series_that_share_weights_have_contexts_of_their_own() -> None:
    table = hourly(days=10)
    other = table.assign(unique_id="b", y=-table["y"], weather=table["weather"][::-1].to_numpy())
    table = pd.concat([table.assign(unique_id="a"), other]).sort_values(["ds", "unique_id"])
    mixture, expected = Mixture(), []
    for _, rows in table.groupby("ds"):
        forecasts = {
            name: dict(zip(rows["unique_id"], rows[name], strict=True)) for name in ("m0", "m1")
        }
        context = {"weather": dict(zip(rows["unique_id"], rows["weather"], strict=True))}
        prediction = mixture.predict(forecasts, context=context)
        expected += [prediction.value["a"], prediction.value["b"]]
        outcomes = dict(zip(rows["unique_id"], rows["y"], strict=True))
        mixture.update(prediction.ticket, outcomes)
    values = blends(table, by="unique_id", context="weather", experts=["m0", "m1"])
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    shuffled = table.sample(frac=1.0, random_state=1)
    again = blend(shuffled, target="y", time="ds", by="unique_id", context="weather",
                  experts=["m0", "m1"]).frame.sort_values(["ds", "unique_id"])  # fmt: skip
    np.testing.assert_allclose(again["blend"], values, rtol=1e-9)


def test_a_long_table_has_a_context_for_each_time() -> None:
    table = hourly(days=5)
    long = table.melt(["ds", "y", "weather"], var_name="model", value_name="forecast")
    result = blend(long, target="y", context="weather").frame.sort_values("ds")
    np.testing.assert_array_equal(result["blend"], blends(table, context="weather"))
    long.loc[0, "weather"] = "storm"
    with pytest.raises(ValueError, match="must agree in their weather"):
        blend(long, target="y", context="weather")


def with_cutoffs(days: int = 30) -> pd.DataFrame:
    """Return daily forecasts of the next three times, eight hours apart."""
    rng = np.random.default_rng(5)
    parts = []
    for day in pd.date_range("2024-01-01", periods=days, freq="D"):
        times = day + pd.to_timedelta([8, 16, 24], "h")
        parts.append(pd.DataFrame({"cutoff": day, "ds": times}))
    table = pd.concat(parts, ignore_index=True)
    table["y"] = rng.normal(0.0, 5.0, len(table))
    for k in range(3):
        table[f"m{k}"] = table["y"] + rng.normal(k, 2.0, len(table))
    return table


@pytest.mark.parametrize("context", [None, "hour", ["step", "weekday"]])
def test_steps_ahead_in_two_parts(context: Any) -> None:
    table = with_cutoffs(60)
    options: dict[str, Any] = {"target": "y", "time": "ds", "cutoff": "cutoff", "context": context}
    whole, first = blend(table, **options), blend(table[:90], **options)
    second = blend(table[90:], mixture=first.mixture, **options)
    both = pd.concat([first.frame, second.frame])["blend"]
    np.testing.assert_array_equal(both, whole.frame["blend"])


def test_the_step_ahead_is_a_context() -> None:
    result = blend(with_cutoffs(), target="y", time="ds", cutoff="cutoff", context="step")
    assert result.mixture.live.cells == ["step=1", "step=2", "step=3"]


def test_the_future_has_contexts_too() -> None:
    table = hourly(days=30)
    past, future = table[:700], table[700:710]
    result = blend(past, target="y", time="ds", context=["weather", "hour"])
    peeked = [
        result.mixture.peek(
            {f"m{i}": row[f"m{i}"] for i in range(3)},
            context={"weather": row["weather"], "hour": row["ds"].hour},
        ).value
        for row in future.to_dict("records")
    ]
    found = result.predict(future.drop(columns="y"))["blend"]
    np.testing.assert_allclose(found, peeked, rtol=1e-12)
    with pytest.raises(ValueError, match="no column weather, which the past has"):
        result.predict(future.drop(columns=["y", "weather"]))


def test_a_later_table_goes_on_with_the_contexts_of_the_mixture() -> None:
    table = hourly(days=30)
    table["weather"] = pd.factorize(table["weather"])[0]  # numbers, which could be forecasts
    first = blend(table[:400], target="y", time="ds", context="weather")
    second = blend(table[400:], target="y", time="ds", mixture=first.mixture)
    whole = blends(table, context="weather")
    np.testing.assert_array_equal(second.frame["blend"], whole[400:])


def test_columns_of_contexts_may_have_any_type_of_categories() -> None:
    table = hourly(days=5)
    codes = np.arange(len(table)) % 3
    kinds: list[Any] = [
        pd.Series(codes), pd.Series(codes.astype(float)), pd.Series(codes).astype(str),
        pd.Series(codes).astype(str).astype("category"), pd.Series(codes, dtype="Int8"),
    ]  # fmt: skip
    results = [blends(table.assign(weather=kind), context="weather") for kind in kinds]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    switch = blend(table.assign(weather=codes > 1), target="y", time="ds", context="weather")
    assert switch.mixture.live.cells == ["weather=false", "weather=true"]
    empty = blends(table.assign(weather=pd.Series([None] * len(table))), context="weather")
    np.testing.assert_array_equal(empty, blends(table, context=[]))


def test_many_values_have_sixty_four_cells() -> None:
    count = 100_000
    rng = np.random.default_rng(0)
    table = pa.table({
        "y": rng.normal(size=count), "a": rng.normal(size=count), "b": rng.normal(size=count),
        "id": [f"v{k}" for k in range(count)],
    })  # fmt: skip
    result = blend(table, target="y", context="id")
    assert len(result.mixture.live.cells) == 64
    assert any("context id has more than 64 values" in note for note in result.notes)


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ("wether", "unknown context 'wether': did you mean weather"),
        ("y", "column y cannot be a context"),
        (["weather", "hour", "month", "weekday"], "at most 3 contexts"),
        ("m=0", "no '='"),
        ("m1.5", "must be a category"),
        ("made", "must hold text, whole numbers"),
        ("long", "at most 100 characters"),
        ("step", "unknown context 'step'"),
    ],
)
def test_a_bad_context_is_refused(context: Any, words: str) -> None:
    table = hourly(days=3)
    table["made"], table["long"], table["m1.5"] = table["ds"], "x" * 101, 1.5
    mixture = Mixture()
    names = ["m0", "m1"]
    with pytest.raises((ValueError, TypeError), match=words):
        blend(table, target="y", time="ds", experts=names, context=context, mixture=mixture)
    assert not mixture.names


def test_contexts_of_dates_need_dates() -> None:
    table = hourly(days=3).assign(ds=range(72))
    with pytest.raises(ValueError, match="need a column of times that are dates"):
        blends(table, context="hour")
    with pytest.raises(ValueError, match="need a column of times that are dates"):
        blend(table.drop(columns="ds"), target="y", context="hour")
    words = hourly(days=3)
    words["ds"] = words["ds"].dt.strftime("%Y-%m-%d %H:%M")
    np.testing.assert_array_equal(
        blends(words, context="hour"), blends(hourly(days=3), context="hour")
    )


def test_local_hours_count() -> None:
    table = hourly(days=3)
    local = table.assign(ds=table["ds"].dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata"))
    mixture = blend(local, target="y", time="ds", context="hour").mixture
    assert mixture.live.cells[0] == "hour=5"


def test_contexts_need_the_default_and_shared_weights() -> None:
    table = hourly(days=30)
    with pytest.raises(ValueError, match="context needs the hedger"):
        blends(table, context="hour", hedger="normal-hedge")
    table["unique_id"] = np.arange(len(table)) % 2
    with pytest.raises(ValueError, match="items that share"):
        blends(table, context="hour", by="unique_id", pooled=False)
    separate = blend(table, target="y", time="ds", by="unique_id", pooled=False)
    assert separate.mixture.live.cells == []
    assert blend(hourly(), target="y", time="ds", hedger="normal-hedge").mixture.live.cells == []
