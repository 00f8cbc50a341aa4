"""Quantiles of mixtures."""

import numpy as np
import pytest

from normalhedge.latent.tracking._track import quantiles, weighted_quantiles


def test_quantiles_of_mixtures() -> None:
    ends = np.array([0.05, 0.5, 0.95])
    found = quantiles(np.array([1.0]), np.array([2.0]), np.array([1.0]), ends)
    assert found == pytest.approx([1 - 3.289707, 1.0, 1 + 3.289707], abs=1e-5)
    far = quantiles(np.array([0.0, 1e6]), np.array([1e-3, 5.0]), np.array([0.9, 0.1]), ends)
    assert far[:2] == pytest.approx([-1.5932e-3, 1.3971e-4], rel=1e-2)
    assert far[2] == pytest.approx(1e6, abs=1e-2)
    points = weighted_quantiles(np.arange(101.0), np.full(101, 1 / 101), ends)
    assert points == pytest.approx([4.55, 50.0, 95.45])
