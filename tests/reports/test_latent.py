"""The page about the regimes of a series."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge.latent import infer, resume
from normalhedge.latent.regimes._baselines import baselines
from normalhedge.reports import write_inferred
from tests.latent.regimes.examples import switching, weather
from tests.reports.browser import in_browser, opened


@in_browser
@pytest.mark.parametrize("kind", ["two", "many", "numbers", "columns", "counts"])
def test_the_page_in_a_browser(tmp_path: Path, kind: str) -> None:
    values: Any = weather()
    state, rng = switching(300)
    if kind == "many":
        values = [f"{word} {k % 3}" for k, word in enumerate(values)]
    elif kind == "numbers":
        values = rng.normal(2.0 * state, 1.0)
    elif kind == "columns":
        values = {"<b>": rng.normal(2.0 * state, 1.0), "b": rng.normal(size=300)}
    elif kind == "counts":
        values = rng.poisson(2 + 4 * state).tolist()
    found = infer(values, states=(1, 2))
    page = tmp_path / "page.html"
    write_inferred(
        page, found, baselines(found.sequence), title="t", subtitle="s", command="c", settings={},
        ahead=found.forecast(2),
    )  # fmt: skip
    shown = opened(page, tmp_path / "profile")
    assert shown.count("main-svg") >= 5
    assert "<td>nan" not in shown


@pytest.mark.parametrize("rounds", [1, 7, 80])
def test_the_page_of_what_came_since(tmp_path: Path, rounds: int) -> None:
    noise = np.random.default_rng(1).normal(size=(230, 2))
    for values in (weather(230), noise[:, 0].tolist(), noise):
        first = infer(values[:150], states=(1, 2))
        found = resume(first.live, values[150 : 150 + rounds])
        page = tmp_path / "page.html"
        write_inferred(
            page, found, baselines(found.sequence), title="t", subtitle="s", command="c",
            settings={}, ahead=found.forecast(1), level=0.5,
        )  # fmt: skip
        text = page.read_text()
        assert "<td>nan" not in text
        assert "p(wet)" in text or "50% interval" in text
        assert len(found.symbol_history) <= 4


@pytest.mark.parametrize(
    ("when", "word"),
    [
        ([None, *range(299)], "Some times are missing"),
        ([0, *range(299)], "do not increase"),
        (["a", *range(299)], "of several kinds"),
    ],
)
def test_odd_times_are_not_drawn(tmp_path: Path, when: list[Any], word: str) -> None:
    page = tmp_path / "page.html"
    found = infer(weather(), states=1, time=when)
    write_inferred(page, found, {}, title="t", subtitle="s", command="c", settings={})
    assert word in page.read_text()
