"""The roles of columns: given, guessed, and wrong."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from tests.rules import SINGLE, either
from tests.tables.examples import ROUNDS, Frame, cross_validation, wide


def test_classes_are_columns_of_a_long_table() -> None:
    wide = pd.DataFrame({"y": [0, 1, 2], "a": 0.5, "b": 0.2, "p": 0.5, "q": 0.5, "r": 0.0})
    with pytest.raises(ValueError, match="classes need a long table"):
        blend(wide, "y", ["a", "b"], classes=["p", "q", "r"], loss="log")
    long = pd.DataFrame({"y": [0, 0], "time": [0, 1], "model": "a", "p": 1.0})
    with pytest.raises(ValueError, match="two columns or more, got p alone"):
        blend(long, "y", classes=["p"], loss="log")


@either
def test_nixtla_as_it_is(hedger: str | None) -> None:
    frame, _ = cross_validation()
    options: dict[str, Any] = {"loss": "absolute", "hedger": hedger}
    found = blend(frame, **options, pooled=False)
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


@pytest.mark.parametrize(
    ("change", "options", "word"),
    [
        ({}, {"target": "z"}, "unknown column 'z'"),
        ({}, {"target": "gamm"}, "did you mean gam"),
        ({}, {"experts": ["gam", "aar"]}, "unknown column 'aar': did you mean ar"),
        ({"y": ["a"] * ROUNDS}, {}, "column y must hold numbers"),
        ({"y": [math.inf] * ROUNDS}, {}, "column y must be finite"),
        ({"ds": [1, 1, *range(2, ROUNDS)]}, {}, "time 1 appears in more than one row of s0"),
        ({"ds": [None, *range(1, ROUNDS)]}, {}, "time must be given in every row"),
        ({"gam": ["x"] * ROUNDS}, {"experts": ["gam"]}, "column gam must hold numbers"),
        ({}, {"lag": -1}, "lag must not be negative"),
        ({}, {"lag": 2**40}, None),
        ({}, {"experts": ["y", "ar"]}, "column y cannot be an expert"),
        ({}, {"experts": ["ds", "ar"], "time": "ds"}, "column ds cannot be an expert"),
        ({}, {"experts": ["ar", "ar"]}, "expert ar appears twice"),
        ({"made": range(ROUNDS)}, {"cutoff": "made", "time": "ds", "lag": 1}, "give one of them"),
        ({}, {"cutoff": "ds", "time": "ds"}, "column ds cannot be both time and cutoff"),
        ({}, {"time": "ds", "by": "ds"}, "column ds cannot be both time and by"),
        ({}, {"by": 3}, "by must name columns, as text, got 3"),
        ({}, {"target": ["y"]}, r"target must name columns, as text, got \['y'\]"),
        ({"ds": ["9/30/24"] * ROUNDS}, {}, "write them as 2024-09-30"),
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
    with pytest.raises(ValueError, match="column a appears twice"):
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
