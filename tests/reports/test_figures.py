"""Figures of pages, and the ranges of their axes."""

import re

import numpy as np
import pytest

from normalhedge.reports import curves_plot, loss_plot, places_plot
from normalhedge.reports._figures import cut_off, positions, robust_range
from tests.hostile import HOSTILE


def test_labels_are_text() -> None:
    panels = [(HOSTILE, [HOSTILE], np.zeros((1, 3)), 3)]
    page = loss_plot("x", panels) + places_plot(
        "y", [HOSTILE], [HOSTILE], np.ones((1, 1)), [["<b>"]]
    )
    page += curves_plot("z", np.arange(3), {HOSTILE: np.zeros(3)}, [HOSTILE])
    for tag in ("a href", "b>"):
        assert f"<{tag}" not in page
        assert f"\\u003c{tag}" not in page


def test_curves_can_be_told_apart() -> None:
    names = [str(k) for k in range(40)]
    page = curves_plot("x", np.arange(2), {name: np.zeros(2) for name in names}, names)
    styles = re.findall(r'"line":({"color":[^}]*"dash"[^}]*})', page)
    assert len(styles) == 40
    assert len(set(styles)) == 40


def test_ordinary_curves_are_shown_whole() -> None:
    curve = np.random.default_rng(0).normal(size=1000)
    found = robust_range(curve, np.array([np.nan, np.inf]))
    assert found.low < curve.min() < curve.max() < found.high
    assert found.cut == 0


@pytest.mark.parametrize("absurd", [1e9, -1e9])
def test_absurd_points_are_cut(absurd: float) -> None:
    curve = np.random.default_rng(0).normal(size=1000)
    curve[[5, 500]] = absurd
    found = robust_range(curve)
    assert -15.0 < found.low < -2.0
    assert 2.0 < found.high < 15.0
    assert found.cut == 2
    assert cut_off(found.cut) == " 2 points far away are cut off."


def test_errors_begin_at_zero() -> None:
    errors = np.append(np.linspace(1.0, 2.0, 20), [1e6, 1e6])
    found = robust_range(errors, zero=True)
    assert found.low == 0.0
    assert 2.0 < found.high < 15.0
    assert found.cut == 2
    assert robust_range(np.append(np.zeros(9), 5.0), zero=True).high >= 5.0  # mostly no error


def test_odd_curves_have_a_range() -> None:
    assert robust_range(np.full(3, np.nan)) == (0.0, 1.0, 0)
    for constant in (0.0, 7.0, -1e300):
        found = robust_range(np.full(3, constant))
        assert found.low < constant < found.high
    assert cut_off(0) == ""


def test_dates_are_milliseconds() -> None:
    x, axis = positions(np.array(["1970-01-02"], dtype="datetime64[us]"))
    assert x.tolist() == [86_400_000.0]
    assert axis["type"] == "date"
    x, axis = positions(np.array(["<b>"], dtype=object))
    assert (x, axis["type"]) == (["&lt;b&gt;"], "category")
