"""The page of the paper, opened in a browser."""

import re
from pathlib import Path

import pytest

from normalhedge.research.paper._claim import Outcome
from normalhedge.research.paper._part import PaperSettings
from normalhedge.research.paper._parts import CHOICES
from normalhedge.research.paper._reproduce import PaperResult, reproduce
from tests.reports.browser import from_outside, in_browser, opened
from tests.research.paper.documented import documented

LEFT_OUT = 4
"""The claims of the parts that the page of this test does not have: two of them are ours."""


NUMBERS = {4: "four", 9: "nine", 17: "seventeen"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> PaperResult:
    out = tmp_path_factory.mktemp("paper")
    settings = PaperSettings(runs=2, rounds=1000, quick=True)
    left_out = {"learning", "frontier", *(f"hidden-{c}" for c in ("among", "without", "mild"))}
    parts = [part for part in CHOICES if part not in left_out]
    return reproduce(out, settings, only=parts)


@pytest.fixture(scope="module")
def page(made: PaperResult) -> Path:
    return made.files[-1]


def test_the_documents_have_a_row_for_each_claim(made: PaperResult) -> None:
    rows = documented()
    assert len(rows) == len(made.claims) + LEFT_OUT
    places = iter(row.where for row in rows)
    for claim in made.claims:  # in this order
        assert claim.where in places, claim.claim


def test_the_documents_say_how_many_claims_hold() -> None:
    printed = [row.verdict.outcome for row in documented() if not row.ours]
    total, holding, partly, failing = (
        NUMBERS[count] for count in (len(printed), *(printed.count(outcome) for outcome in Outcome))
    )
    counts = f"{holding} hold as printed, {partly} in part, {failing} do not"
    root = Path(__file__).parents[3]
    assert f"Of {total} claims {counts}" in (root / "README.md").read_text("utf-8")
    limits = (root / "docs" / "limits.md").read_text("utf-8")
    assert f"Of {total} claims of the paper {counts} (" in limits


def test_the_page_stands_alone(page: Path) -> None:
    html = page.read_text("utf-8")
    assert from_outside(html) == []
    assert "normalhedge paper --seed 0 --quick" in html
    assert html.count('class="verdict') == 16
    assert html.count("<b>Beyond:</b>") >= 8


@in_browser
def test_the_page_opens_without_errors(page: Path, tmp_path: Path) -> None:
    shown = opened(page, tmp_path)
    assert shown.count("<svg") >= 3
    for figure, panels in (("figure-1", 8), ("figure-2", 8), ("figure-3", 6)):
        part = shown.split(f'id="{figure}"')[1].split("<h2")[0]
        titles = re.findall(r"γ = 0\.\d, (?:f|N) = [\d.]+", part)
        assert len(titles) >= panels
        # Four printed curves in each panel; the curves of the second set are switched off.
        assert part.count('class="js-line"') >= 4 * panels
    assert shown.count('class="verdict') == 16
