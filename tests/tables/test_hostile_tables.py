"""Frames as adversaries write them: a blend or a sentence of this package, no foreign error."""

import datetime as dt
import decimal
import random
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from tests.cli.command import call

ROWS = 12
NUMBERS = [float(k % 5) for k in range(ROWS)]


def frame(**columns: Any) -> pd.DataFrame:
    """Return a table of objects, as pandas itself reads text before its version 3."""
    cells = {"y": NUMBERS, "a": NUMBERS, "b": [k + 0.5 for k in NUMBERS], **columns}
    objects = {name: c if name not in columns else _objects(c) for name, c in cells.items()}
    return pd.DataFrame(objects)


def _objects(cells: Any) -> Any:
    return pd.Series(cells, dtype=object) if isinstance(cells, list) else cells


def named(*names: Any) -> pd.DataFrame:
    return frame().set_axis(pd.Index(names, dtype=object), axis=1)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (named("y", "a", "a"), "column 'a' appears twice"),
        (named("y", 1, "1"), "column '1' appears twice: names must differ"),
        (named("y", 1, True), "column 1 appears twice"),
        (named("y", "a", "\ud800"), r"UTF-8 can hold, got '\ud800'"),
        (frame(a=[2**70] * ROWS), "column a cannot be read: a whole number in it has more than 64"),
        (frame(a=["\ud800"] * ROWS), "column a cannot be read: UTF-8 cannot hold some of its text"),
        (frame(a=[[1.0]] * ROWS), "column a must hold numbers, it holds list"),
        (frame(y=[{"a": 1}] * ROWS), "column y must hold numbers, it holds struct"),
        (frame(a=[1.0, "x", [2], None] * 3), "column a cannot be read: "),
        (frame(a=[object()] * ROWS), "column a cannot be read: "),
        (frame(a=pd.arrays.SparseArray(NUMBERS)), "column a cannot be read: "),
        (frame(a=[1j] * ROWS), "column a cannot be read: "),
    ],
)
def test_what_no_table_can_hold_is_a_sentence(table: pd.DataFrame, words: str) -> None:
    mixture = Mixture()
    with pytest.raises((ValueError, TypeError)) as caught:
        blend(table, "y", experts=["a", "b"] if "a" in table else None, mixture=mixture)
    assert words in str(caught.value)
    assert mixture.rounds == 0
    assert not mixture.names


def test_labels_of_numbers_are_names() -> None:
    result = blend(named("y", 1, 2.5), "y")
    assert set(result.mixture.names) == {"1", "2.5"}


def test_decimals_are_times() -> None:
    times = [decimal.Decimal(k) / 2 for k in range(ROWS)]
    result = blend(frame(ds=times[::-1]), "y", time="ds")
    assert result.frame["ds"].tolist() == times[::-1]


def test_a_key_may_have_the_name_of_a_model_that_is_blended() -> None:
    table = frame(blend=list(range(ROWS))).rename(columns={"a": "gam-lo-90", "b": "gam-hi-90"})
    names = list(blend(table.assign(gam=NUMBERS), "y", time="blend").frame)
    assert len(set(names)) == len(names)


CELLS: list[Callable[[random.Random], Any]] = [
    lambda rng: rng.gauss(0, 1), lambda rng: rng.choice([1e308, -1e308, 0.0, -0.0]),
    lambda rng: rng.choice([None, float("nan"), 1.0]), lambda _: 2**63 + 5, lambda _: -(2**64),
    lambda _: [1, 2], lambda _: {"a": 1}, lambda rng: rng.choice(["\ud800", "1.5"]),
    lambda _: b"\xff", lambda _: decimal.Decimal("1e400"), lambda _: 1 + 2j, lambda _: True,
    lambda rng: dt.datetime(2024, 1, rng.randrange(1, 29)), lambda _: dt.time(1),
    lambda _: dt.timedelta(1), lambda _: dt.datetime(9999, 12, 31), lambda _: pd.NaT,
    lambda rng: rng.choice([1, "a", None, 2.5]), lambda _: "1,5", lambda _: "31.12.2024",
    lambda _: "2024-01-01T01:00:00+01:00", lambda rng: rng.choice("ab"), lambda _: "\0",
    lambda _: pd.Period("2024"), lambda _: pd.Interval(0, 1), lambda _: "a" * 5000,
]  # fmt: skip
NAMES: list[Any] = [
    "y", "a", "b", "ds", "time", "model", "forecast", "unique_id", "cutoff", "level", "q0.1",
    "q0.5", "q0.9", "gam-lo-90", "gam-hi-90", "gam", "value", "", 1, None, ("a", "b"), True,
    float("nan"), b"z", "\ud800", "a\nb", "blend", "weight_a", "__index_level_0__",
]  # fmt: skip
ROLES = ("target", "time", "by", "cutoff", "model", "forecast", "level", "classes", "quantiles")


def random_frame(rng: random.Random) -> pd.DataFrame:
    names = list(dict.fromkeys(["y", "a", *rng.sample(NAMES, rng.randrange(1, 6))]))
    columns, rows = [], rng.choice([0, 1, 2, 30])
    for _ in names:
        cell = CELLS[0] if rng.random() < 0.8 else rng.choice(CELLS)
        columns.append(pd.Series([cell(rng) for _ in range(rows)], dtype=object))
    return pd.concat(columns, axis=1).set_axis(pd.Index(names, dtype=object), axis=1)


@pytest.mark.parametrize("seed", range(8))
def test_any_frame_is_blended_or_refused_in_a_sentence(seed: int) -> None:
    rng, blended = random.Random(seed), 0
    for _ in range(50):
        table = random_frame(rng)
        options: dict[str, Any] = {"target": "y"}
        for role in ROLES:
            if rng.random() < 0.05:
                options[role] = rng.choice([*table.columns, "nope", 3, ["a"]])
        error = refusal(table, options)
        if error is None:
            blended += 1
            continue
        last = traceback.extract_tb(error.__traceback__)[-1]
        assert "normalhedge" in last.filename, (options, error)
        assert "raise" in str(last.line), (options, error)
    assert blended


def refusal(table: pd.DataFrame, options: dict[str, Any]) -> Exception | None:
    try:
        blend(table, **options).summary()
    except (ValueError, TypeError) as error:
        return error
    return None


def test_a_loop_of_links_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop, data = tmp_path / "loop.csv", tmp_path / "data.csv"
    loop.symlink_to(loop)
    frame().to_csv(data, index=False)
    for words in (
        [str(loop), "--target", "y"],
        [str(data), "--target", "y", "--out", str(loop)],
        [str(data), "--target", "y", "--state", str(loop)],
    ):
        code, _, error = call(capsys, "blend", *words)
        assert code == 2
        assert str(loop) in error
        assert "Traceback" not in error


def test_two_columns_of_one_name_in_a_file_are_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.csv"
    path.write_text("y,a,a\n1,1,2\n")
    code, _, error = call(capsys, "blend", str(path))
    assert (code, error.strip()) == (2, "normalhedge: column a appears twice")


def test_arrow_tables_with_lists_and_large_integers() -> None:
    table = pa.table({"y": NUMBERS, "a": NUMBERS, "b": [[1]] * ROWS})
    with pytest.raises(TypeError, match="column b must hold numbers"):
        blend(table, "y", experts=["a", "b"])
    twice = pa.Table.from_arrays([pa.array(NUMBERS)] * 3, ["y", "ds", "ds"])
    with pytest.raises(ValueError, match="column ds appears twice"):
        blend(twice, "y")
    large = table.set_column(2, "b", pa.array([2**64 - 1] * ROWS, pa.uint64()))
    assert blend(large, "y").mixture.rounds == ROWS
