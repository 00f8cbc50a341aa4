"""Panels of long tables, with classes and with several columns of series."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import blend
from tests.rules import either


def test_series_of_several_columns_are_told_apart() -> None:
    rows = [("a|", "b"), ("a", "|b"), ("q", ""), ("|q", ""), ("a\\", "|b"), ("a\\|", "b")]
    table = pa.table(
        {
            "one": [one for one, _ in rows for _ in range(3)],
            "two": [two for _, two in rows for _ in range(3)],
            "t": [t for _ in rows for t in range(3)],
            "y": [1.0] * 3 * len(rows),
            "m": [1.0] * 3 * len(rows),
            "n": [2.0] * 3 * len(rows),
        }
    )
    found = blend(table, "y", ["m", "n"], by=("one", "two"), time="t")
    assert len(set(found.mixture.items)) == len(rows)


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
