"""The page, opened in a browser."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from normalhedge.experiments import paper

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
    paper.reproduce(out, paper.Settings(runs=2, rounds=1000, quick=True))
    return out / "report.html"


def test_the_page_stands_alone(page: Path) -> None:
    html = page.read_text("utf-8")
    outside = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(?!data:)[^"]*"', html)
    assert outside == []
    assert "normalhedge paper --seed 0 --quick" in html
    assert html.count('class="verdict') == 10


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_opens_without_errors(page: Path, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    shown = subprocess.run(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={tmp_path}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    console = [line for line in shown.stderr.splitlines() if "CONSOLE" in line]
    assert console == []
    assert shown.stdout.count("<svg") >= 3
    for figure, panels in (("figure-1", 8), ("figure-2", 8), ("figure-3", 6)):
        part = shown.stdout.split(f'id="{figure}"')[1].split("<h2")[0]
        titles = re.findall(r"γ = 0\.\d, (?:f|N) = [\d.]+", part)
        assert len(titles) >= panels
        # Four printed curves in each panel; those of the second set are switched off.
        assert part.count('class="js-line"') >= 4 * panels
    assert shown.stdout.count('class="verdict') == 10
