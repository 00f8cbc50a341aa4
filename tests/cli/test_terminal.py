"""Text of users on a terminal and on a page."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import call
from tests.hostile import HOSTILE


def test_names_do_nothing_to_a_terminal_or_a_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, report = tmp_path / "data.parquet", tmp_path / "report.html"
    y = np.arange(40.0)
    days = [f"<a href='{k:02}'>" for k in range(40)]
    columns = {"ds": days, "y": y, HOSTILE: y + 1, "+b": y + 2, "line\nbreak": y + 3}
    pq.write_table(pa.table(columns), data)
    words = ["blend", str(data), "--target", "y", "--time", "ds", "--report", str(report)]
    code, out, error = call(capsys, *words)
    assert code == 0
    for text in (out, error):
        assert "\x1b" not in text
        assert "\x07" not in text
    assert "\\x1b[31mred" in out
    assert "line\\nbreak" in out
    html = report.read_text("utf-8")
    assert "\x1b" not in html.rpartition("</script>")[2]
    plots = re.findall(r"Plotly\.newPlot\(\s*\"\w+\",\s*(\[.*?\]),\s*\{", html, re.DOTALL)
    drawn = "".join(plots)
    assert "\\u0026lt;a href=" in drawn or "&lt;a href=" in drawn
    assert "\\u003ca href=" not in drawn
    assert "<a href=" not in drawn
    code, _, error = call(capsys, "blend", str(data), "--target", HOSTILE[:-1])
    assert code == 2
    assert "\x1b" not in error
