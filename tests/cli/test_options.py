"""Options that several verbs share."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from normalhedge.boundary import number_tables
from tests.cli.command import call


def test_no_cell_is_computed_by_a_spreadsheet(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, out = tmp_path / "data.parquet", tmp_path / "out.csv"
    y = -np.arange(4.0)
    words = ["=1+1", "@x", "-y", "plain"]
    pq.write_table(pa.table({"=ds": words, "y": y, "a": y - 1, "+b": y - 2}), data)
    given = ["blend", str(data), "--target", "y", "--time", "=ds", "--out", str(out), "--weights"]
    call(capsys, *given, "--safe-csv")
    with out.open() as file:
        head, *rows = list(csv.reader(file))
    assert head == ["'=ds", "y", "blend", "weight_a", "weight_+b"]
    assert [row[0] for row in rows] == ["'=1+1", "'@x", "'-y", "plain"]
    assert [float(row[1]) for row in rows] == y.tolist()
    call(capsys, *given)
    assert "'" not in out.read_text()
    table = tmp_path / "table.csv"
    number_tables.write_table(table, {"=x": ["\ta", "b"], "n": [-1.0, 2.0]}, safe=True)
    assert table.read_text().splitlines() == ["'=x,n", "'\ta,-1.0", "b,2.0"]
