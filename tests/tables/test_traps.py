"""Tables that would be blended to no good get a sentence, and honest ones get none."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from tests.cli.command import call

ROWS = 60


def honest(rows: int = ROWS, seed: int = 0, **columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = 10.0 + rng.normal(size=rows).cumsum()
    table = pd.DataFrame(
        {"y": y, "gam": y + rng.normal(size=rows), "ar": y + rng.normal(size=rows)}
    )
    return table.assign(**columns)


def days(rows: int = ROWS) -> pd.DatetimeIndex:
    return pd.date_range("2024-01-20", periods=rows)


def notes_of(table: pd.DataFrame, **options: Any) -> str:
    return "; ".join(blend(table, "y", **options).notes)


def test_an_honest_table_has_no_doubts() -> None:
    for options in ({}, {"time": "when"}):
        notes = notes_of(honest(when=days()), **options)
        assert not any(
            word in notes for word in ("copy", "percent", "falls", "new, and", "revised")
        )
    assert not blend(honest(), "y").summary().partial


@pytest.mark.parametrize(
    "when",
    [
        days(),
        days().strftime("%Y-%m-%d"),
        days().strftime("%d.%m.%Y"),
        range(20240131, 20240101, -1),
    ],
    ids=["dates", "texts", "day first", "numbers"],
)
def test_falling_dates_under_another_name_are_refused(
    when: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rising = honest(len(when), measured_on=list(when))
    falling = rising if isinstance(when, range) else rising[::-1].reset_index(drop=True)
    mixture = Mixture()
    with pytest.raises(ValueError, match="the blend would learn backwards; name the column") as no:
        blend(falling, "y", mixture=mixture)
    assert "column measured_on falls from" in str(no.value)
    assert mixture.rounds == 0
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    falling.to_csv(data, index=False)
    code, _, error = call(capsys, "blend", str(data), "--target", "y", "--out", str(out))
    assert code == 2
    assert "learn backwards" in error
    assert not out.exists()
    by_time = blend(falling, "y", time="measured_on", experts=["gam", "ar"])
    assert by_time.mixture.rounds == len(when)


def test_series_below_each_other_may_each_rise_or_fall() -> None:
    stacked = pd.concat([honest(30, k, place=f"p{k}", on=days(30)) for k in range(3)])
    assert blend(stacked, "y", by="place", experts=["gam", "ar"]).mixture.rounds == 30
    with pytest.raises(ValueError, match="column on falls"):
        blend(stacked[::-1], "y", by="place", experts=["gam", "ar"])


def test_numbers_that_count_down_are_named() -> None:
    assert "hour counts down evenly, like a time in falling order" in notes_of(
        honest(hour=np.arange(ROWS)[::-1] * 3600)
    )


def test_a_copy_of_the_target_is_named() -> None:
    table = honest()
    table["copy"] = table["y"]
    assert "copy equals the outcome in all of its rows: is it a copy" in notes_of(table)
    table.loc[5, "copy"] += 1.0
    assert "copy equals the outcome in 98% of its rows" in notes_of(table)
    table.loc[5:15, "copy"] += 1.0
    assert "equals the outcome" not in notes_of(table)


def test_outcomes_of_few_values_are_hit_by_good_forecasts() -> None:
    table = honest()
    table["y"] = np.arange(ROWS) % 4
    assert "equals the outcome" not in notes_of(table.assign(sure=table["y"]))


def test_percent_beside_fractions_is_named() -> None:
    table = honest() / 100.0
    found = notes_of(table.assign(gam=100.0 * table["gam"]))
    assert "gam is about 100 times the outcome in most rows: percent beside fractions?" in found
    found = notes_of(honest().assign(gam=table["gam"]))
    assert "gam is about a hundredth of the outcome" in found


def test_one_expert_in_each_row_is_no_problem_of_blending(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, rng = honest(), np.random.default_rng(1)
    chosen = rng.integers(2, size=ROWS)
    for k, name in enumerate(("gam", "ar")):
        table.loc[chosen != k, name] = np.nan
    result = blend(table, "y")
    assert "such as EXP3" in result.summary().partial
    assert "Warning: nearly every row has a forecast of one expert only" in str(result.summary())
    data, page = tmp_path / "data.csv", tmp_path / "page.html"
    table.to_csv(data, index=False)
    code, out, _ = call(capsys, "blend", str(data), "--target", "y", "--report", str(page))
    assert code == 0
    assert "such as EXP3" in out
    assert "such as EXP3" in page.read_text()
    one = blend(table[["y", "gam"]], "y")  # a single expert that is sometimes asleep
    assert not one.summary().partial


def state_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def tomorrow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that blends a table with the state of the day before."""
    words = ["--target", "y", "--time", "ds", "--state", str(tmp_path / "state.json")]

    def run(table: pd.DataFrame) -> str:
        table.to_csv(tmp_path / "data.csv", index=False)
        code, _, error = call(capsys, "blend", str(tmp_path / "data.csv"), *words)
        assert code == 0
        return error

    return run


def test_a_revised_outcome_is_told(tomorrow: Any) -> None:
    table = honest(ds=days())
    assert "revised" not in tomorrow(table[:50])
    assert "revised" not in tomorrow(table[:50])  # the same again
    assert "revised" not in tomorrow(table[:55])  # grown
    revised = table[:58].copy()
    revised.loc[20, "y"] += 1.0
    assert "outcomes of 1 row of earlier tables were revised" in tomorrow(revised)
    assert "revised" not in tomorrow(table[58:])  # later rows alone


def test_a_revised_outcome_of_a_part_is_told(tomorrow: Any) -> None:
    table = honest(ds=days())
    assert "revised" not in tomorrow(table[:30])
    assert "revised" not in tomorrow(table[20:40])  # a window that moves
    revised = table[25:45].copy()
    revised.loc[[27, 33], "y"] += 1.0  # of the first table, and of the last
    day = str(table["ds"][27])[:10]
    assert f"outcomes of 2 rows of earlier tables were revised, the first at {day}: they" in (
        tomorrow(revised)
    )
    assert "revised" not in tomorrow(table[38:50])


def test_a_revised_forecast_is_told() -> None:
    table, mixture = honest(ds=days()), Mixture()
    blend(table, "y", time="ds", mixture=mixture)
    table.loc[20, "gam"] += 1.0
    notes = notes_of(table, time="ds", mixture=mixture)
    assert "forecasts of rows of the last table were revised" in notes
    assert mixture.rounds == ROWS


def test_a_renamed_model_is_told(tomorrow: Any) -> None:
    table = honest(ds=days())
    tomorrow(table[:50])
    error = tomorrow(table[:50].rename(columns={"gam": "spline"}))
    assert "spline is new, and gam is missing" in error
    assert "models of the last table have other names, and the same forecasts" in error


def test_a_renamed_model_in_new_rows_is_told(tomorrow: Any) -> None:
    table = honest(ds=days())
    tomorrow(table[:50])
    error = tomorrow(table[50:].rename(columns={"gam": "spline"}))
    assert "spline is new, and gam is missing" in error
    assert "Mixture.rename" in error


def test_a_model_that_joins_is_no_renamed_one(tomorrow: Any) -> None:
    table = honest(ds=days())
    tomorrow(table[:50])
    assert "is new" not in tomorrow(table[50:].assign(spline=table["gam"]))


def test_a_number_in_place_of_missing_values_is_told() -> None:
    table = honest(ds=days())
    assert "missing value" not in notes_of(table, time="ds")
    table.loc[[5, 9, 20], "gam"] = -999.0
    assert "gam is -999 in 3 rows, far from its other values" in notes_of(table, time="ds")
    table = honest(ds=days())
    table.loc[[5, 9], "y"] = 99999.0
    assert "y is 99999 in 2 rows, far from its other values" in notes_of(table, time="ds")


def test_a_column_without_outcomes_is_told() -> None:
    table, mixture = honest(ds=days()), Mixture()
    empty = table.assign(y=np.nan)
    assert "column y has no outcome, so that nothing is learned" in notes_of(empty, time="ds")
    blend(table[:50], "y", time="ds", mixture=mixture)
    assert "no outcome" not in notes_of(empty[50:], time="ds", mixture=mixture)


def test_a_row_of_totals_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = honest(ds=days())
    table["ds"] = table["ds"].astype(str)
    path = tmp_path / "data.csv"
    text = table[["ds", "y", "gam", "ar"]].to_csv(index=False)
    path.write_text(text + "Total,10000,10000,10000\n")
    code, _, error = call(capsys, "blend", str(path), "--target", "y", "--time", "ds")
    assert code
    assert f"in row {ROWS + 1} it is 'Total'" in error


@pytest.mark.parametrize(("form", "encoding"), [("|", "utf-8"), (",", "utf-16"), (";", "utf-16")])
def test_bars_and_utf_16_are_read(
    form: str, encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(honest(ds=days()).to_csv(index=False, sep=form).encode(encoding))
    code, out, _ = call(capsys, "blend", str(path), "--target", "y", "--time", "ds")
    assert code == 0
    assert f"{ROWS}" in out


def test_names_in_other_case_are_suggested() -> None:
    table = honest(ds=days()).rename(columns={"y": " Load "})
    with pytest.raises(ValueError, match="did you mean ' Load '"):
        blend(table, "load")
    with pytest.raises(ValueError, match="did you mean gam"):
        blend(table, "GAM")
    units = table.assign(gam=table["gam"].map("{:.1f} MW".format))
    with pytest.raises(TypeError, match=r"it holds text, such as '.* MW'"):
        blend(units, "gam")


def test_outcomes_of_zero_and_one_beside_fractions_may_be_events() -> None:
    rng = np.random.default_rng(0)
    told = rng.random((ROWS, 2))
    table = pd.DataFrame(
        {"y": (rng.random(ROWS) < told[:, 0]) * 1, "a": told[:, 0], "b": told[:, 1]}
    )
    word = "the loss brier or log keeps the blend between 0 and 1"
    assert word in notes_of(table)
    for other in (table.round(), table.assign(b=table["b"] + 0.5), table.assign(y=table["a"])):
        assert word not in notes_of(other)
    assert word not in notes_of(table, loss="brier")
    assert blend(table, "y", loss="brier").frame["blend"].between(0.0, 1.0).all()
