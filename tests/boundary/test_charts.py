"""Plots by whichever library is installed, with names that are only names."""

import importlib.util
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt

from normalhedge.boundary import charts
from normalhedge.boundary.charts import Curve, PlotPanel

PANELS = [
    PlotPanel(
        "<b>$x$</b>",
        np.arange(4),
        [
            Curve("_a$b$", np.array([1.0, np.nan, 3.0, 2.0])),
            Curve("band", np.zeros(4), "band", upper=np.ones(4)),
            Curve("<i>p</i>", np.arange(4.0), "points"),
        ],
        top=5.0,
    ),
    PlotPanel("bars", ["_one$", "<two>"], [Curve("", np.array([0.3, 0.7]), "bars")]),
]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close the figures of a test: matplotlib warns of twenty."""
    yield
    plt.close("all")


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let libraries seem not to be installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, package=None: None if name in names else find(name, package),
    )


def test_matplotlib_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert charts.find_library() == "matplotlib"
    without(monkeypatch, "matplotlib")
    assert charts.find_library() == "plotly"
    without(monkeypatch, "matplotlib", "plotly")
    with pytest.raises(ImportError, match=r"^plots need matplotlib or plotly: pip install"):
        charts.find_library()


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(ValueError, match="library must be matplotlib or plotly, got 'bokeh'"):
        charts.find_library("bokeh")


def test_matplotlib_draws_all_curves_with_their_names(tmp_path: Any) -> None:
    figure = charts.draw("$title$", PANELS, "matplotlib")
    figure.savefig(tmp_path / "figure.png")
    first, second = figure.axes
    legend = [text.get_text() for text in first.get_legend().get_texts()]
    assert legend == ["\u200b_a\\$b\\$", "band", "<i>p</i>"]
    assert first.get_ylim() == (0.0, 5.0)
    assert [patch.get_width() for patch in second.patches] == [0.3, 0.7]
    assert [text.get_text() for text in second.get_yticklabels()] == ["_one\\$", "<two>"]
    assert second.get_legend() is None


def test_plotly_draws_the_same(tmp_path: Any) -> None:
    figure = charts.draw("<title>", PANELS, "plotly")
    figure.write_html(tmp_path / "figure.html")
    assert figure.layout.title.text == "&lt;title&gt;"
    names = [trace.name for trace in figure.data if trace.showlegend]
    assert names == ["_a$b$", "band", "&lt;i&gt;p&lt;/i&gt;"]
    np.testing.assert_array_equal(figure.data[0].y, [1.0, np.nan, 3.0, 2.0])
    assert list(figure.data[-1].y) == ["_one$", "&lt;two&gt;"]
    assert tuple(figure.layout.yaxis.range) == (0.0, 5.0)


@pytest.mark.parametrize("kernel", [True, False])
def test_a_notebook_shows_a_figure_once(monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    shell = type("Shell", (), {"kernel": object() if kernel else None})()
    monkeypatch.setitem(sys.modules, "IPython", _module(lambda: shell))
    charts.draw("title", PANELS, "matplotlib")
    assert len(plt.get_fignums()) == (0 if kernel else 1)


def _module(get: Any) -> Any:
    return type("Module", (), {"get_ipython": staticmethod(get)})
