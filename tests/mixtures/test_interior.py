"""The interior-point method on many experts, and on fewer rows than experts."""

import numpy as np
import pytest
from scipy.optimize import nnls

from normalhedge.mixtures.summaries import _interior as interior
from normalhedge.mixtures.summaries._best_convex import best_convex
from tests.mixtures.convex_oracle import (
    KINDS,
    ROUNDING,
    by_scipy,
    check,
    filled,
    loss_for,
    losses,
    panel,
)


@pytest.mark.parametrize("kind", KINDS)
def test_many_experts_that_are_alike(kind: str) -> None:
    """65 x 398: exponentiated gradients ended 1 to 3 % above the least loss of such a panel."""
    data = panel(kind, 398, 65, asleep=0.1)
    found = best_convex(loss_for(kind), *data)
    check(kind, data, found)
    assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING
    said, kept = filled(data[0], data[1])
    if kind == "square":  # a row of large numbers has the weights sum to one
        large = np.full((1, 65), 1e5)
        w, _ = nnls(np.vstack([said[:, 0] - data[1][kept, None], large]), [*np.zeros(398), 1e5])
        best = losses(kind, said @ (w / w.sum()), data[1][kept], data[2][kept]).mean()
    elif kind in {"absolute", "pinball", "mape", "l1"}:
        best = by_scipy(kind, said, data[1][kept], data[2][kept])
    else:  # too large for SLSQP
        return
    assert found.loss == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("kind", ["square", "absolute", "log", "huber", "brier"])
def test_fewer_rows_than_experts(kind: str) -> None:
    """Beyond FEW experts a step solves as many equations as there are rows."""
    data = panel(kind, 30, interior.FEW + 50, asleep=0.2)
    found = best_convex(loss_for(kind), *data)
    check(kind, data, found)
    assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING
