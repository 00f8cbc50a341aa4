"""The example of Spark on the page about clusters; its other examples are doctests."""

import re
import shutil
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "clusters.md"


def test_the_example_of_spark_runs(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17 or later: make system PARTS=java")
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (example,) = [block for block in blocks if "pyspark" in block]
    names = {"folder": str(tmp_path)}
    exec(example, names)
    names["spark"].stop()  # type: ignore[attr-defined]


def test_the_page_has_figures() -> None:
    assert "FIGURES" not in PAGE.read_text()
