"""What the dashboard computes in the browser, beside obvious oracles."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.service.chromium import Browser, browsing, in_browser
from tests.service.running import served

pytestmark = in_browser


class Module:
    """The functions of a module of the page."""

    def __init__(self, browser: Browser, name: str) -> None:
        self.browser = browser
        self.name = name

    def call(self, function: str, *given: Any) -> Any:
        """Return what a function returns."""
        said = ", ".join(json.dumps(one) for one in given)
        return self.browser.value(
            f"import('/dashboard/{self.name}').then(m => m.{function}({said}))"
        )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder: Path = tmp_path_factory.mktemp("dashboard")
    with served(folder / "a.db") as url, browsing() as browser:
        browser.open(url)
        browser.until("document.querySelector('.welcome')")
        yield browser
        browser.open("about:blank")


@pytest.mark.parametrize("window", [1, 3, 20, 5000])
def test_rolling_means_are_means_of_the_known_values(page: Browser, window: int) -> None:
    rng = np.random.default_rng(5)
    values = [None if rng.random() < 0.3 else float(rng.normal()) for _ in range(2100)]
    values[50] = 1e20  # nothing of it is left after the window
    found = Module(page, "rounds.js").call("rolling", values, window)
    for k, mean in enumerate(found):
        known = [one for one in values[max(0, k - window + 1) : k + 1] if one is not None]
        if known:
            assert mean == pytest.approx(sum(known) / len(known), rel=1e-12, abs=1e-12)
        else:
            assert mean is None


def test_stacked_shares_lie_on_each_other(page: Browser) -> None:
    rows = [[0.25, 0.5], [None, 0.25], [0.75, 0.25]]
    edges = Module(page, "rounds.js").call("stacked", rows)
    assert [one["low"] for one in edges] == [[0, 0], [0.25, 0.5], [0.25, 0.75]]
    assert [one["high"] for one in edges] == [[0.25, 0.5], [0.25, 0.75], [1, 1]]


@pytest.mark.parametrize(
    ("outcome", "place", "loss", "expected"),
    [
        (3.5, [], "square", 3.5),
        (None, [], "square", None),
        ({"oslo": 1, "rome": 2}, ["rome"], "square", 2),
        ({"oslo": 1}, ["rome"], "square", None),
        ([1, 2], ["1"], "absolute", 2),
        (1, ["1"], "log", 1),
        (1, ["0"], "log", 0),
        ({"oslo": 1}, ["oslo", "0"], "l1", 0),
        (7.5, ["2"], "crps:levels=0.1/0.5/0.9", 7.5),
        ({"a": 1}, ["constructor"], "square", None),
    ],
)
def test_an_outcome_belongs_to_a_place(
    page: Browser, outcome: Any, place: list[str], loss: str, expected: float | None
) -> None:
    assert Module(page, "rounds.js").call("outcomeAt", outcome, place, loss) == expected


def test_places_are_named(page: Browser) -> None:
    module = Module(page, "rounds.js")
    assert module.call("places", 3.0) == [[]]
    assert module.call("places", {"oslo": [1, 2], "rome": 3}) == [
        ["oslo", "0"],
        ["oslo", "1"],
        ["rome"],
    ]
    assert module.call("placeName", ["oslo", "1"], "log") == "oslo / class 1"
    assert module.call("placeName", ["1"], "crps:levels=0.1/0.5/0.9") == "level 0.5"


def test_an_interval_covers_its_edges(page: Browser) -> None:
    module = Module(page, "rounds.js")
    given = [(1, 2, 1), (1, 2, 2), (1, 2, 2.1), (1, 2, None), (None, 2, 1)]
    assert [module.call("covers", *one) for one in given] == [1, 1, 0, None, None]


def test_the_table_of_experts_compares_over_the_same_rounds(page: Browser) -> None:
    def made(ticket: int, b: float | None, loss: float | None) -> dict[str, Any]:
        return {
            "ticket": ticket,
            "forecasts": {"a": 1.0, "b": b},
            "prediction": 1.0,
            "weights": {"a": 0.75, "b": 0.25},
            "loss": 1.0 + ticket,
            "losses": {"a": 2.0, "b": loss},
        }

    rounds = [made(0, 1.0, 4.0), made(1, None, None), made(2, 3.0, 6.0), made(3, None, None)]
    a, b = Module(page, "rounds.js").call("table", rounds, ["a", "b"], [], ["a"])
    assert (a["loss"], a["blend"], a["awake"], a["asleep"], a["retired"]) == (
        2,
        2.5,
        1,
        False,
        True,
    )
    assert (b["loss"], b["blend"], b["awake"], b["asleep"]) == (5, 2, 0.5, True)
    assert b["seen"]["ticket"] == 2
    assert (a["weight"], b["weight"]) == (0.75, 0.25)


def bulk(values: list[float]) -> list[float]:
    """Return the values within twice the middle four fifths of the middle four fifths."""
    known = sorted(values)
    low, high = (known[int(np.floor(q * (len(known) - 1) + 0.5))] for q in (0.1, 0.9))
    room = 2 * (high - low)
    return [one for one in known if low - room <= one <= high + room] if room > 0 else known


@pytest.mark.parametrize("wild", [[], [90.0], [1e9], [-1e300, 1e12, 400.0], [1e9] * 30])
def test_a_wild_value_does_not_flatten_the_others(page: Browser, wild: list[float]) -> None:
    values = [*np.random.default_rng(1).normal(50.0, 5.0, 300).tolist(), *wild]
    found = Module(page, "rounds.js").call("limits", [values[::2], [*values[1::2], None]])
    expected = bulk(values)
    assert found["whole"] == [min(values), max(values)]
    assert found["bulk"] == [expected[0], expected[-1]]
    assert found["outside"] == len(values) - len(expected) == len(wild)


def test_ranges_of_few_and_of_equal_values(page: Browser) -> None:
    module = Module(page, "rounds.js")
    for values, whole in (([], [0, 1]), ([None], [0, 1]), ([3], [3, 3]), ([0] * 99 + [1], [0, 1])):
        found = module.call("limits", [values])
        assert (found["whole"], found["bulk"], found["outside"]) == (whole, whole, 0)


def test_the_core_is_seen_well_beside_hopeless_lines(page: Browser) -> None:
    core, hopeless = [[1.0, 2.0, 1.5, 1.2]], [[90.0, 95.0, 100.0, 99.0]]
    found = Module(page, "rounds.js").call("limits", core + hopeless, core)
    assert found["bulk"][0] <= 1.0
    assert 2.0 <= found["bulk"][1] < 5.0
    assert found["outside"] == 4
    near = Module(page, "rounds.js").call("limits", [*core, [2.5, 2.6]], core)
    assert near["bulk"][1] == 2.6


def test_the_axis_is_time_where_rounds_are_spread_over_it(page: Browser) -> None:
    module = Module(page, "rounds.js")
    live = [3600.0 * k for k in range(50)]
    assert module.call("spread", live)
    assert module.call("spread", [*live, *(3600.0 * 50 + 0.001 * k for k in range(10))])
    assert not module.call("spread", [0.001 * k for k in range(500)] + [86_400.0])
    for few in ([], [1.0], [1.0, None, 3.0], [5.0] * 9):
        assert not module.call("spread", few)
    assert module.call("rising", [1, 3, 2, 4]) == [1, 3, 3, 4]


def test_times_on_the_axis_say_their_day(page: Browser) -> None:
    at = "Math.floor(new Date(2026, 10, 19, 22, 0).getTime() / 1000)"
    script = "import('/dashboard/format.js').then(m => m.timeTicks({0}.map(k => {1} + k), {2}))"
    hours = page.value(script.format("[0, 3600, 7200, 10800]", at, 3600))
    now = page.value("new Date().getFullYear()")
    year = "" if now == 2026 else "\n2026"
    assert hours[0] == ("22:00\n19 Nov" if now == 2026 else "22:00\n2026")
    assert hours[1:] == ["23:00", "00:00\n20 Nov", "01:00"]
    assert page.value(script.format("[0, 86400]", at, 86400)) == [f"19 Nov{year}", "20 Nov"]
    assert page.value(script.format("[0, 1]", at, 1))[1] == "22:00:01"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gam", "gam"),
        ("evil\u202egnp.exe", "evil⟨U+202E⟩gnp.exe"),
        ("a\u200bb\u2066c\ufeff", "a⟨U+200B⟩b⟨U+2066⟩c⟨U+FEFF⟩"),
        ("tag \U000e0041", "tag ⟨U+E0041⟩"),
        ("\x00\x07", "⟨U+0000⟩⟨U+0007⟩"),
        ("שלום, naïve 模型 🙂", "שלום, naïve 模型 🙂"),
        ("two\nlines\tof text", "two\nlines\tof text"),
    ],
)
def test_marks_that_nobody_sees_are_written_out(page: Browser, text: str, shown: str) -> None:
    assert Module(page, "dom.js").call("plain", text) == shown


def test_events_are_read_across_lines(page: Browser) -> None:
    text = 'event: health\nid: 3\ndata: {"a":\ndata: 1}'
    assert Module(page, "api.js").call("parsed", text) == {"kind": "health", "data": {"a": 1}}
    assert Module(page, "api.js").call("parsed", ": still here") is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0, "0"),
        (12345.6, "12,346"),
        (0.12345, "0.1235"),
        (1e-7, "1.00e-7"),
        (None, "–"),
        (-2, "-2"),
    ],
)
def test_numbers_are_short(page: Browser, given: float | None, expected: str) -> None:
    assert Module(page, "format.js").call("number", given) == expected
