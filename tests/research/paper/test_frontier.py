"""The frontier: attacks stay below certified bounds."""

import math
import re
from pathlib import Path

import pytest

from normalhedge.guarantees import best_known
from normalhedge.guarantees._bounds import at_most
from normalhedge.reports import Section
from normalhedge.research.paper import frontier


def test_attacks_stay_below_what_is_certified() -> None:
    for c in (0.7, 1.0, 2.0):
        found = frontier.point(0.05, 20, c, tolerance=2e-3)
        assert 1.0 < found.attack_potential <= found.led + found.error
        assert (found.led < found.potential) == (c < 1.0)
        assert found.attack_regret <= found.led_bound <= found.bound
        assert found.between == f"between {found.attack_potential:.5g} and {at_most(found.led, 5)}"
    assert frontier.point(0.05, 20, 1.0).proved < 5.0
    assert math.isinf(frontier.point(0.05, 20, 3.3).proved)


def test_where_there_is_no_certificate_the_attack_alone_is_shown() -> None:
    found = frontier.point(0.01, 10, 0.4, led=False)
    assert math.isinf(found.potential)
    assert found.between.startswith("at least")
    assert frontier.bound_text(found.bound) == "none"


def test_one_expert_has_nothing_to_be_attacked() -> None:
    found = frontier.point(0.1, 1, 1.0)
    assert found.attack_regret == 0.0
    assert frontier.hedges_bound(0.1, 1) == 0.0


def test_other_bounds() -> None:
    assert frontier.paper_bound(1000) == pytest.approx(7.874, abs=1e-3)
    assert frontier.hedges_bound(0.001, 1000) == pytest.approx(3.719, abs=1e-3)


def test_a_section_shows_every_point() -> None:
    points = frontier.frontier(0.1, 5, (0.4, 2.0), led=False)
    section = frontier.section(points)
    assert isinstance(section, Section)
    assert [row[0] for row in section.rows] == ["0.4", "2"]
    assert "Theorem 1" in section.plot


def test_bounds_are_rounded_up() -> None:
    one = frontier.FrontierPoint(0.1, 10, 1.0, *[1.0000401] * 8)
    section = frontier.section([one])
    row = dict(zip(section.head, section.rows[0], strict=True))
    bounds = [row[name] for name in section.head if name.startswith(("C, ", "regret, bound"))]
    bounds.remove(row["C, attack (observed)"])
    assert bounds == ["1.0001", "1.0001", "1.00005", "1.0001"]
    assert one.between == "between 1 and 1.0001"


def test_the_documents_say_what_is_proved() -> None:
    text = (Path(__file__).parents[3] / "docs" / "certificates.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if "; R√α: " in line]
    assert len(rows) == len(frontier.TABLE_CS)
    for line, c in zip(rows, frontier.TABLE_CS, strict=True):
        assert line.startswith(f"| {c:g} |")
        for cell, n in zip(line.split("|")[2:5], frontier.TABLE_EXPERTS, strict=True):
            pattern = r"\*\*(.*?)\*\*,(?: leader known (.*?),)? proved (.*?), attack (.*?);"
            numbers = re.search(pattern, cell)
            assert numbers is not None
            one_round, led, proved, attacked = numbers.groups()
            assert (led is not None) == (c < frontier.LED_BELOW)
            assert float(attacked) <= float(led or one_round) <= float(proved)
            bound = best_known(1e-3, n, c)
            assert float(proved) == float(at_most(bound.potential))  # rounded up
