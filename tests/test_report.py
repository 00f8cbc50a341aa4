"""The page, opened in a browser."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.experiments.paper.part import PaperSettings
from normalhedge.experiments.paper.parts import CHOICES
from normalhedge.experiments.paper.reproduce import reproduce
from normalhedge.mixtures import Summary
from normalhedge.mixtures.comparison import Line
from normalhedge.reports import write_blend
from normalhedge.tables.review import review
from normalhedge.tables.timeline import timeline

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--enable-logging=stderr",
    "--virtual-time-budget=20000",
    "--dump-dom",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("paper")
    settings = PaperSettings(runs=2, rounds=1000, quick=True)
    left_out = {"learning", "frontier", *(f"hidden-{c}" for c in ("among", "without", "mild"))}
    parts = [part for part in CHOICES if part not in left_out]
    reproduce(out, settings, only=parts)
    return out / "report.html"


def test_the_page_stands_alone(page: Path) -> None:
    html = page.read_text("utf-8")
    outside = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(?!data:)[^"]*"', html)
    assert outside == []
    assert "normalhedge paper --seed 0 --quick" in html
    assert html.count('class="verdict') == 12


def opened(page: Path, folder: Path) -> str:
    """Return what a browser makes of a page; it must not complain."""
    assert CHROMIUM is not None
    shown = subprocess.run(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={folder}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    console = [line for line in shown.stderr.splitlines() if "CONSOLE" in line]
    assert console == []
    return shown.stdout


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_opens_without_errors(page: Path, tmp_path: Path) -> None:
    shown = opened(page, tmp_path)
    assert shown.count("<svg") >= 3
    for figure, panels in (("figure-1", 8), ("figure-2", 8), ("figure-3", 6)):
        part = shown.split(f'id="{figure}"')[1].split("<h2")[0]
        titles = re.findall(r"γ = 0\.\d, (?:f|N) = [\d.]+", part)
        assert len(titles) >= panels
        # Four printed curves in each panel; those of the second set are switched off.
        assert part.count('class="js-line"') >= 4 * panels
    assert shown.count('class="verdict') == 12


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
    write_blend(
        path,
        result.summary(),
        timeline(result),
        review(result),
        title="A hundred thousand rounds",
        notes=result.notes,
        command="normalhedge blend",
        settings={},
    )
    return path


def test_the_page_of_a_blend_stands_alone_and_stays_small(blend_page: Path) -> None:
    html = blend_page.read_text("utf-8")
    assert re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(?!data:)[^"]*"', html) == []
    assert len(html) < 3_000_000  # of which the library that draws is 2
    assert "Mean weights over 4,000 rounds around each time." in html
    assert "It never exceeds" in html
    assert "<b>gam</b></td>" not in html


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_of_a_blend_opens_without_errors(blend_page: Path, tmp_path: Path) -> None:
    shown = opened(blend_page, tmp_path)
    for section in ("behind", "weights", "loss", "awake", "regret"):
        part = shown.split(f'id="{section}"')[1].split("<h2")[0]
        assert "<svg" in part
    assert 'id="components"' not in shown
    assert shown.split('id="weights"')[1].split("<h2")[0].count('class="js-fill"') >= 11


@pytest.fixture(scope="module")
def auto_page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Summary]:
    """Return the page of two series with absurd forecasts, and what is told there."""
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
    write_blend(
        path,
        summary,
        timeline(result),
        review(result),
        title="Two series",
        notes=result.notes,
        command="normalhedge blend",
        settings={},
    )
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


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
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
    write_blend(
        path,
        result.summary(),
        timeline(result),
        review(result),
        title="Nothing yet",
        notes=[],
        command="normalhedge blend",
        settings={},
    )
    assert "No row has an outcome yet." in path.read_text("utf-8")
