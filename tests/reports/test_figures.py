"""Figures of pages."""

import re

import numpy as np

from normalhedge.reports import curves_plot, loss_plot, places_plot
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
