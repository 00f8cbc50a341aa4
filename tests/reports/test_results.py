"""Plots, pages and displays of results, as a notebook asks for them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from normalhedge import Mixture, blend
from normalhedge.latent import Regimes, infer
from tests.reports.browser import from_outside, in_browser, opened

LOSSES = {"square": 3, "absolute": 3, "log": 2, "zero-one": 2, "log-wealth": 2}
"""The number of panels of a blend by its loss: classes and wealth have no curve of outcomes."""


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close the figures of a test: matplotlib warns of twenty."""
    yield
    plt.close("all")


def table(loss: str = "square", rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = np.round(rng.normal(10.0, 2.0, rows), 2)
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=rows), "y": y})
    if loss in {"zero-one", "log"}:
        frame["y"] = rng.integers(0, 2, rows)
    if loss == "log-wealth":
        frame["y"] = 1.0
    for name in ("<b>gam</b>", "ar"):
        if loss == "zero-one":
            frame[name] = rng.integers(0, 2, rows)
        elif loss == "log-wealth":
            frame[name] = rng.uniform(0.9, 1.1, rows)
        else:
            frame[name] = y + rng.normal(size=rows)
    return frame


def long_table(rows: int = 60) -> pd.DataFrame:
    """Return a long table of the probabilities of two classes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"day": np.repeat(np.arange(rows), 2), "model": ["a", "b"] * rows})
    frame["y"] = np.repeat(rng.integers(0, 2, rows), 2)
    frame["no"] = rng.uniform(0.2, 0.8, 2 * rows)
    return frame.assign(yes=1.0 - frame["no"])


def result_of(loss: str) -> Any:
    if loss == "log":
        columns = ["no", "yes"]
        return blend(long_table(), "y", time="day", model="model", classes=columns, loss=loss)
    return blend(table(loss), target="y", time="day", loss=loss)


@pytest.mark.parametrize("library", ["matplotlib", "plotly"])
@pytest.mark.parametrize("loss", LOSSES)
def test_results_are_plotted(loss: str, library: str) -> None:
    figure = result_of(loss).plot(library)
    panels = len(figure.axes) if library == "matplotlib" else len(figure.layout.annotations)
    assert panels == LOSSES[loss]


def test_the_curves_are_the_results() -> None:
    result = blend(table(), target="y", time="day")
    first, losses, weights = result.plot("matplotlib").axes
    line, points = first.lines
    np.testing.assert_array_equal(line.get_ydata(), result.frame["blend"])
    np.testing.assert_array_equal(points.get_ydata(), result.frame["y"])
    assert str(first.get_title("left")) == "y: outcomes and blend, the last 60 rows"
    shares = np.sum([curve.get_ydata() for curve in weights.lines], axis=0)
    np.testing.assert_allclose(shares, 1.0)
    assert len(losses.lines) == 4


def test_quantiles_have_a_band() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=40)
    frame = pd.DataFrame(
        [
            {"day": k, "model": name, "level": level, "value": y[k] + level - 0.5, "y": y[k]}
            for k in range(40)
            for name in ("a", "b")
            for level in (0.1, 0.5, 0.9)
        ]
    )
    result = blend(frame, target="y", time="day", forecast="value")
    first = result.plot("matplotlib").axes[0]
    legend = [text.get_text() for text in first.get_legend().get_texts()]
    assert legend == ["blend, 0.1 to 0.9", "blend", "outcome"]


def test_a_mixture_is_plotted() -> None:
    mixture = Mixture()
    with pytest.raises(ValueError, match="there is nothing to plot yet: predict a first round"):
        mixture.plot()
    prediction = mixture.predict({"a": 1.0, "b": 2.0})
    assert len(mixture.plot("matplotlib").axes) == 1  # no outcome yet
    mixture.update(prediction.ticket, 1.5)
    for _ in range(20):
        prediction = mixture.predict({"a": 1.0, "b": 2.0})
        mixture.update(prediction.ticket, 1.0)
    rounds, bars = mixture.plot("matplotlib").axes
    np.testing.assert_array_equal(rounds.lines[1].get_ydata(), [1.5] + [1.0] * 20)
    widths = [patch.get_width() for patch in bars.patches]
    expected = sorted((row.weight for row in mixture.summary().experts), reverse=True)
    np.testing.assert_allclose(widths, expected)


@pytest.mark.parametrize("library", ["matplotlib", "plotly"])
@pytest.mark.parametrize("kind", ["numbers", "symbols", "columns", "above"])
def test_regimes_are_plotted(kind: str, library: str) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(0.0, np.where(np.arange(200) // 50 % 2, 3.0, 0.5))
    values: Any = {
        "numbers": numbers,
        "above": numbers,
        "symbols": ["<a>" if x > 0.0 else "b" for x in numbers],
        "columns": {"x": numbers, "y": numbers**2},
    }[kind]
    days = [f"2024-{1 + k // 28:02}-{1 + k % 28:02}" for k in range(200)]
    found = infer(
        values, above=0.0 if kind == "above" else None, time=days, budget=4, states=(1, 2)
    )
    figure = found.plot(library)
    panels = len(figure.axes) if library == "matplotlib" else len(figure.layout.annotations)
    assert panels == (3 if kind == "columns" else 2)
    html = found._repr_html_()
    assert "<th>mean duration</th>" in html
    assert f"<td>regime {found.live.regimes.state}</td>" in html


def test_regimes_without_a_fit_say_so() -> None:
    assert "<p>no fit yet</p>" in Regimes()._repr_html_()


@in_browser
@pytest.mark.parametrize("kind", ["blend", "regimes"])
def test_a_page_in_one_call(tmp_path: Path, kind: str) -> None:
    page = tmp_path / "page.html"
    if kind == "blend":
        blend(table(), target="y", time="day").report(page, title="<My> blend")
    else:
        numbers = np.random.default_rng(0).normal(size=120)
        found = infer(numbers, budget=4, states=(1, 2))
        found.report(page, title="<My> blend", ahead=found.forecast(3))
    assert from_outside(page.read_text("utf-8")) == []
    shown = opened(page, tmp_path)
    assert "<h1>&lt;My&gt; blend</h1>" in shown
    assert f".report('{page.name}')" in shown.replace("&#39;", "'")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("page.txt", "path must end in .html, got"),
        ("nowhere/page.html", "path must be in a folder that exists, got"),
    ],
)
def test_a_wrong_path_is_refused(tmp_path: Path, name: str, message: str) -> None:
    result = blend(table(), target="y", time="day")
    with pytest.raises(ValueError, match=re.escape(message)):
        result.report(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_shown_with_its_last_rows() -> None:
    html = blend(table(), target="y", time="day")._repr_html_()
    assert "<p>the last 5 of 60 rows</p>" in html
    assert "<td>2024-02-29</td>" in html
    assert "&lt;b&gt;gam&lt;/b&gt;" in html
    assert "<b>gam</b>" not in html


def test_a_mixture_is_shown_as_its_summary() -> None:
    mixture = Mixture()
    mixture.update(mixture.predict({"<a>": 1.0, "b": 2.0}).ticket, 1.0)
    assert mixture._repr_html_() == mixture.summary()._repr_html_()


@pytest.mark.parametrize(
    ("forecasts", "options", "cells"),
    [
        ({"<a>": 1.0, "b": 1.0}, {}, ["blend", "1", "weight of &lt;a&gt;", "0.500"]),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0]}, {}, ["0", "1", "blend", "2"]),
        ({"a": {"x": 1.0}, "b": {"x": 1.0}}, {}, ["x", "blend", "1"]),
        ({"a": None, "b": None}, {}, ["blend", ""]),
        ({"a": [0.2, 0.8], "b": [0.2, 0.8]}, {"loss": "log"}, ["0.2, 0.8"]),
        ({"a": 1.0}, {"interval": 0.9}, ["90 % interval", "-inf to inf"]),
    ],
)
def test_a_prediction_is_shown(
    forecasts: dict[str, Any], options: dict[str, Any], cells: list[str]
) -> None:
    mixture = Mixture(**options)
    html = mixture.predict(forecasts)._repr_html_()
    for cell in cells:
        assert f">{cell}</t" in html
    many = Mixture().predict({f"m{k}": float(k) for k in range(21)})._repr_html_()
    assert "<p>and 1 more expert</p>" in many
