"""Errata of the paper that need a computation of their own."""

import math
from pathlib import Path

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.guarantees import PAPER_POTENTIAL
from normalhedge.research.games import BreakAway

PAGE = (Path(__file__).parents[1] / "docs" / "theory" / "errata.md").read_text("utf-8")


def test_step_b_holds_on_the_average_and_not_for_one_expert() -> None:
    n = 1000
    alpha = 0.99 / (800 * math.log(PAPER_POTENTIAL * n))
    hedger, nature = NormalHedge.paper(alpha), BreakAway(n, alpha)
    state = hedger.init(n)
    for block in nature.gains(nature.rounds // 2 + 209, np.random.default_rng(0)):
        state = hedger.run(block, state=state).state
    gains = np.where(np.arange(n) == 0, 1.0, -1.0)
    x, y = (math.sqrt(alpha) * s.regrets for s in (state, hedger.step(state, gains)))
    assert (x > 0).all()  # all experts are in the group I_2
    assert np.exp(x**2 / 8).mean() < PAPER_POTENTIAL
    rise = np.exp(np.maximum(y, 0.0) ** 2 / 8) - np.exp(x**2 / 8)
    assert rise.max() == pytest.approx(0.99, abs=0.005)
    assert f"{2 / 3 * alpha:.1e}" == "1.1e-04"
    assert "rises by 0.99 in one round" in PAGE
    # Only the sum over the experts loses its linear term.
    linear = (y - (1 - alpha) * x) * x / 4 * np.exp(x**2 / 8)
    assert linear.max() == pytest.approx(rise.max(), rel=0.06)
    assert linear.sum() == pytest.approx(0.0, abs=1e-9)
    printed = alpha * (2 / 3 - x**2 / 10) * np.exp(x**2 / 8)
    assert printed[0] < 0.0 < 9000 * (2 / 3 * alpha) < rise[0]
    assert rise.mean() < printed.mean() < 2 / 3 * alpha


def test_the_last_line_of_step_b() -> None:
    """The printed constant is too large at R = 0; the slack of earlier lines repairs it."""
    assert 9 / 4 * 9 / 32 * math.exp(1 / 16) == pytest.approx(0.6736, abs=5e-5)
    alpha = 1 / (800 * math.log(2 * PAPER_POTENTIAL))
    more = 0.4 + 4 * alpha  # in the place of 1/2, where 2.1 squared is in the place of 9/2
    factor = 2.1**2 / 2 * math.exp(more / 8)
    assert factor * (1 / 4 + more / 16) < 0.639 < 2 / 3
    assert 1 / 4 - factor / 16 > 0.105 > 1 / 10
