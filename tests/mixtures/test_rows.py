"""`predict` takes a row of a table: a series of pandas, or a table with one row."""

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from normalhedge import Mixture
from normalhedge.service.client._encoding import encode_forecasts

FRAME = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, np.nan, 5.0]})

ROWS: dict[str, Any] = {
    "series": lambda k: FRAME.iloc[k],
    "series of objects": lambda k: FRAME.astype(object).iloc[k],
    "table with one row": lambda k: FRAME.iloc[[k]],
    "polars": lambda k: pl.from_pandas(FRAME)[k],
}


@pytest.mark.parametrize("kind", ROWS)
def test_a_row_predicts_as_a_dict_does(kind: str) -> None:
    mixture, plain = Mixture(), Mixture()
    for k in range(3):
        row = {name: None if value != value else value for name, value in FRAME.iloc[k].items()}  # noqa: PLR0124
        made = mixture.predict(ROWS[kind](k))
        assert made.value == plain.predict(row).value
        assert made.weights == plain.peek(row)._replace(ticket=made.ticket).weights or k == 0
        mixture.update(made.ticket, 2.0)
        plain.update(made.ticket, 2.0)
    assert mixture.names == ["a", "b"]
    assert mixture.peek(ROWS[kind](0)).value == plain.peek({"a": 1.0, "b": 3.0}).value


def test_confidences_and_requests_take_rows() -> None:
    sure = pd.Series({"a": 1.0, "b": 0.5})
    made = Mixture().predict(FRAME.iloc[0], sure)
    assert made.value == Mixture().predict({"a": 1.0, "b": 3.0}, {"a": 1.0, "b": 0.5}).value
    assert encode_forecasts(FRAME.iloc[0], None) == {"forecasts": {"a": 1.0, "b": 3.0}}


@pytest.mark.parametrize(
    ("forecasts", "kind", "message"),
    [
        (FRAME, ValueError, "forecasts must be one row of a table, got 3 rows: blend(table) takes"),
        (FRAME.iloc[:0], ValueError, "forecasts must be one row of a table, got 0 rows"),
        (pd.Series([1.0, 2.0], ["a", "a"]), ValueError, "forecasts must have each expert once"),
        (
            [1.0],
            TypeError,
            "forecasts must be a mapping of names to forecasts, or a row of a table",
        ),
        (np.ones(2), TypeError, "or a row of a table, got ndarray"),
    ],
)
def test_other_forms_are_refused(forecasts: Any, kind: type[Exception], message: str) -> None:
    mixture = Mixture()
    with pytest.raises(kind, match=re.escape(message)):
        mixture.predict(forecasts)
    assert mixture.rounds == 0
