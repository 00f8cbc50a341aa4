"""The page of a blend, opened in a browser."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.mixtures import Summary
from normalhedge.mixtures.summaries._comparison import Line
from normalhedge.reports import write_blend
from normalhedge.reports.analysis._review import review
from normalhedge.tables._result import Blend
from normalhedge.tables._timeline import timeline
from tests.reports.browser import from_outside, in_browser, opened


def write(path: Path, result: Blend, summary: Summary, title: str) -> None:
    """Write the page of a blend."""
    write_blend(
        path, summary, timeline(result), review(result), title=title, notes=result.notes,
        command="normalhedge blend", settings={},
    )  # fmt: skip


@pytest.fixture(scope="module")
def blend_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a hundred thousand rounds."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=100_000)
    names = ["<b>gam</b>", "ar & co", *(f"m{i}" for i in range(12))]
    columns = {name: y + rng.normal(size=len(y)) * (1 + k / 5) for k, name in enumerate(names)}
    columns["ar & co"][:30_000] = np.nan
    result = blend(pa.table({"y": y, **columns}), "y", hedger="hedge-fixed:alpha=0.05,eta=0.5")
    path = tmp_path_factory.mktemp("blend") / "report.html"
    write(path, result, result.summary(), "A hundred thousand rounds")
    return path


def test_the_page_of_a_blend_stands_alone_and_stays_small(blend_page: Path) -> None:
    html = blend_page.read_text("utf-8")
    assert from_outside(html) == []
    assert len(html) < 4_500_000  # of which the library that draws is 2, and 100,000 rows 1.7
    assert "Mean weights over 4,000 rounds around each time." in html
    assert "At the end it is at most" in html
    assert "<b>gam</b></td>" not in html


@in_browser
def test_the_page_of_a_blend_opens_without_errors(blend_page: Path, tmp_path: Path) -> None:
    shown = opened(blend_page, tmp_path)
    for section in ("behind", "weights", "loss", "awake", "regret"):
        part = shown.split(f'id="{section}"')[1].split("<h2")[0]
        assert "<svg" in part
    assert 'id="components"' not in shown
    assert shown.split('id="weights"')[1].split("<h2")[0].count('class="js-fill"') >= 11


@pytest.fixture(scope="module")
def auto_page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Summary]:
    """Return the page of two series with absurd forecasts, and its summary."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=400)
    columns = {name: y + rng.normal(size=400) for name in ("<b>gam</b>", "ar", "naive", "survey")}
    columns["<b>gam</b>"][100::50] = 1e6
    table = pa.table({"day": np.arange(400) // 2, "of": np.arange(400) % 2, "y": y, **columns})
    result = blend(table, "y", by="of", time="day")
    path = tmp_path_factory.mktemp("auto") / "report.html"
    # A warning, whatever came out.
    worse = Line("blend", 9.0, 9.0, 9.0)
    summary = result.summary()
    lines = (worse, *summary.comparison.lines[1:])
    summary = replace(summary, comparison=replace(summary.comparison, lines=lines))
    write(path, result, summary, "Two series")
    return path, summary


def test_the_page_of_auto_explains_it(auto_page: tuple[Path, Summary]) -> None:
    path, summary = auto_page
    html = path.read_text("utf-8").split("<body>")[1]
    assert "auto (14 ways of combining, guard on), loss square" in html
    assert f"{summary.warning[0].upper()}{summary.warning[1:]}." in html
    assert html.index('id="verdict"') < html.index("<h2")
    assert "more than the plain mean" in summary.warning or "times as much" in summary.warning
    assert "The guard moved " in html
    assert "of &lt;b&gt;gam&lt;/b&gt;" in html
    assert "<b>gam</b></td>" not in html
    head, rows = summary.comparison.table()
    for cell in [*head, *(cell for row in rows for cell in row if "<" not in cell)]:
        assert f">{cell}</t" in html
    for component in summary.components:
        assert component.name in html
    assert "Regret and its bound" not in html
    assert 'id="regret"' not in html


@in_browser
def test_the_page_of_auto_opens_without_errors(
    auto_page: tuple[Path, Summary], tmp_path: Path
) -> None:
    path, summary = auto_page
    shown = opened(path, tmp_path)
    part = shown.split('id="components"')[1].split("<h2")[0]
    assert "<svg" in part
    assert part.count('class="point"') >= len(summary.components)
    for component in summary.components:
        assert component.name in part


def test_a_page_without_any_outcome(tmp_path: Path) -> None:
    table = pa.table({"day": [1, 2], "y": pa.array([None, None], pa.float64()), "a": [1.0, 2.0]})
    result = blend(table, "y", time="day")
    path = tmp_path / "report.html"
    write(path, result, result.summary(), "Nothing yet")
    assert "No row has an outcome yet." in path.read_text("utf-8")
