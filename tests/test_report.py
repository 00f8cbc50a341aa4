"""The page, opened in a browser."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.experiments import paper
from normalhedge.mixtures.course import course
from normalhedge.reports import write_blend

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
    settings = paper.Settings(runs=2, rounds=1000, quick=True)
    left_out = {"learning", "frontier", *(f"hidden-{c}" for c in ("among", "without", "mild"))}
    parts = [part for part in paper.PARTS_OF_THE_PAPER if part not in left_out]
    paper.reproduce(out, settings, only=parts)
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
        course(result),
        title="A hundred thousand rounds",
        said=result.said,
        command="normalhedge blend",
        settings={},
    )
    return path


def test_the_page_of_a_blend_stands_alone_and_stays_small(blend_page: Path) -> None:
    html = blend_page.read_text("utf-8")
    assert re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(?!data:)[^"]*"', html) == []
    assert len(html) < 7_000_000  # of which the library that draws is 4.5
    assert "Each point is a mean over 200 rounds." in html
    assert "It never exceeds" in html
    assert "<b>gam</b></td>" not in html


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_of_a_blend_opens_without_errors(blend_page: Path, tmp_path: Path) -> None:
    shown = opened(blend_page, tmp_path)
    for section in ("behind", "weights", "loss", "awake", "regret"):
        part = shown.split(f'id="{section}"')[1].split("<h2")[0]
        assert "<svg" in part
    assert shown.split('id="weights"')[1].split("<h2")[0].count('class="js-fill"') >= 11
