"""The page of the leaderboard."""

import re

import numpy as np

from normalhedge.reports.figures import curves_plot


def test_curves_can_be_told_apart() -> None:
    names = [str(k) for k in range(40)]
    page = curves_plot("x", np.arange(2), {name: np.zeros(2) for name in names}, names)
    styles = re.findall(r'"line":({"color":[^}]*"dash"[^}]*})', page)
    assert len(styles) == 40
    assert len(set(styles)) == 40
