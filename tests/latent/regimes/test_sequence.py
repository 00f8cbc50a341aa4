"""Values of a series become numbers."""

import math
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge.latent import infer
from normalhedge.latent.regimes._encoding import Encoding
from normalhedge.latent.regimes._sequence import encode


def test_kinds_are_told_apart() -> None:
    words = encode(["b", None, "a", "", "b", float("nan")])
    assert words.labels == ("a", "b")
    np.testing.assert_array_equal(words.numbers, [1, np.nan, 0, np.nan, 1, np.nan])
    assert words.decode() == {"observed": ["b", None, "a", None, "b", None]}
    assert words.guess == "2 symbols"
    assert encode([True, False]).labels == ("False", "True")
    assert encode([10, 9, 10.0]).labels == ("9", "10")
    assert encode([1, 2, 2.5]).encoding == Encoding("numbers")
    assert encode([1, 2, 2.5], kind="symbols").labels == ("1", "2", "2.5")
    assert encode([1, 2, 1], kind="numbers").encoding == Encoding("numbers")
    assert encode([0, 3, 7, None]).guess == "counts"
    assert encode([0, 3, 70_000]).encoding.kind == "numbers"
    assert encode([0, -3, 7]).encoding.kind == "numbers"
    rain = encode([0.0, 2.0, None], above=0.0)
    np.testing.assert_array_equal(rain.numbers, [0, 1, np.nan])
    assert rain.labels == ("at most 0", "above 0")
    assert rain.raw is not None


def test_several_columns_in_every_form() -> None:
    table = np.array([[1.5, 2.0], [0.5, np.nan], [3.0, 4.0]])
    for given in (
        table,
        [list(row) for row in table.tolist()],
        {"a": table[:, 0], "b": table[:, 1]},
        pd.DataFrame({"a": table[:, 0], "b": table[:, 1]}),
    ):
        found = encode(given)
        np.testing.assert_array_equal(found.numbers, table)
        assert found.known.tolist() == [True, False, True]
        assert found.encoding.emission == "full"
    assert list(found.decode()) == ["a", "b"]
    assert encode(pd.DataFrame({"a": [1.5, 2.5]})).numbers.shape == (2,)
    assert encode(pd.Series([1.5, 2.5, 4.0])).encoding.kind == "numbers"
    many = encode(np.random.default_rng(0).normal(size=(30, 12)))
    assert many.encoding.emission == "diagonal"


DAYS = [date(2020, 1, 1) + timedelta(k) for k in range(40)]


@pytest.mark.parametrize(
    ("values", "options", "word"),
    [
        ([], {}, "no value is given"),
        ([None, float("nan"), " "], {}, "no value is given"),
        (["a", "a", None], {}, "every value is a"),
        ([2.5, 2.5], {}, "every value is 2.5"),
        ([1.0, 2.0], {"above": 5}, "every value is at most 5"),
        (["a", "b"], {"above": 0}, "values must be numbers, got 'a' in row 1"),
        (["a", 1.0], {"kind": "numbers"}, "values must be numbers, got 'a'"),
        ([*map(str, range(40)), "x"], {}, "values must be numbers, got 'x' in row 41"),
        ([*range(40), "x"], {}, "values must be numbers, got 'x' in row 41"),
        ([1.0, math.inf], {"kind": "numbers"}, "within ±1e100, got inf in row 2"),
        ([1.5, -math.inf], {}, "within ±1e100, got -inf in row 2"),
        ([1.5, 1e200], {}, "within ±1e100, got 1e.200 in row 2"),
        ([1, 2], {"kind": "words"}, "kind must be one of numbers, autoregressive, counts, symbols"),
        ([1, 2], {"kind": "numbers", "above": 1}, "kind cannot be numbers"),
        ([f"day {k}" for k in range(300)], {}, "300 different symbols in 300 rows are too many"),
        ([f"day {k}" for k in range(30)], {}, "30 different symbols in 30 rows"),
        ([f"n{k}" for k in range(10**6)], {}, "1,000,000 different symbols"),
        ([10**400, 1, 2], {}, "within ±1e100"),
        ([{"a"}, {"b"}], {}, "values must be words or numbers, got {'a'} in row 1"),
        ([b"caf\xe9", "a"], {}, "values must be words or numbers"),
        (["1", 1, "a"], {}, "words and numbers are mixed"),
        (["a", "b"], {"above": math.nan}, "above must"),
        (DAYS, {}, "these are dates, such as 2020-01-01"),
        ([str(day) for day in DAYS], {}, "these are dates"),
        ([f"{day:%d.%m.%Y}" for day in DAYS], {}, "these are dates"),
        ([1.5, 2.0, -1.0], {"kind": "counts"}, "counts must be whole numbers from 0 on, got 1.5"),
        ([1, 2, 10**6], {"kind": "counts"}, "at most 10,000, got 1e.06: larger ones are better"),
        ({"a": [1, 2], "b": ["x", "y"]}, {}, "must all be numbers: in column b, values"),
        ({"a": [1, 2], "b": [1]}, {}, "the same length"),
        ({"a": [1, None], "b": [None, 1]}, {}, "no row has a value in each column"),
        ({"a": [1, 2], "b": [3, 3]}, {}, "every value of b is the same"),
        ({"a": [1, 2], "b": [3, 4]}, {"above": 2}, "above needs a single column"),
        ({"a": [1, 2], "b": [3, 4]}, {"kind": "counts"}, "kind cannot be counts"),
        ([[1, 2], [3]], {}, "the same number of columns"),
        (np.zeros((2, 2, 2)), {}, "T or T x d"),
        (np.zeros((9, 99)), {}, "at most 50 columns"),
    ],
)
def test_what_teaches_nothing_is_a_sentence(values: Any, options: Any, word: str) -> None:
    for read in (encode, infer):
        with pytest.raises((ValueError, TypeError), match=word) as said:
            read(values, **options)
        assert len(str(said.value)) < 400
