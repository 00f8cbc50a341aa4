"""Tables and claims of a page."""

from pathlib import Path

import pytest

from normalhedge.reports import Section, write_page
from normalhedge.reports._page import NUMBER


@pytest.mark.parametrize(
    "cell", ["1,200", "-0.5", "3e-07", "2.9 × 10³¹", "12 %", "0.51 ± 0.02", "0.36 ± 0.01*", "–"]
)
def test_numbers_stand_at_the_right(cell: str) -> None:
    assert NUMBER.fullmatch(cell)


@pytest.mark.parametrize("cell", ["", "*", "N = 10", "2.1 (1 to 3)", "± 3"])
def test_words_do_not(cell: str) -> None:
    assert not NUMBER.fullmatch(cell)


def test_a_claim_shows_what_goes_beyond_it(tmp_path: Path) -> None:
    names = ("claim", "where", "measured", "sample", "rule", "verdict", "kind")
    plain = dict.fromkeys(names, "word") | {"beyond": ""}
    write_page(
        tmp_path / "page.html",
        title="a",
        subtitle="b",
        claims=[plain, plain | {"beyond": "at other <rates>"}],
        sections=[Section("x", "y")],
        command="c",
        settings={},
    )
    html = (tmp_path / "page.html").read_text("utf-8")
    assert html.count("<b>Beyond:</b>") == 1
    assert "<b>Beyond:</b> at other &lt;rates&gt;</small>" in html
