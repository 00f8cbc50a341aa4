"""The page of the paper, opened in a browser."""

import re
from pathlib import Path

import pytest

from normalhedge.experiments.paper.part import PaperSettings
from normalhedge.experiments.paper.parts import CHOICES
from normalhedge.experiments.paper.reproduce import reproduce
from tests.reports.browser import from_outside, in_browser, opened


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
    assert from_outside(html) == []
    assert "normalhedge paper --seed 0 --quick" in html
    assert html.count('class="verdict') == 12


@in_browser
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
