"""Weighted means, medians and votes."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from normalhedge.mixtures.state._combining import combine


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0, 1)), min_size=1, max_size=80))
def test_the_weighted_median(pairs: list[tuple[float, float]]) -> None:
    values, weights = (np.array(part) for part in zip(*pairs, strict=True))
    if weights.sum() < 1e-3:
        weights = np.ones_like(weights)
    found = combine(values, weights, "median")
    below, above = weights[values < found].sum(), weights[values > found].sum()
    half = weights.sum() / 2 * (1 + 1e-9)
    assert below <= half
    assert above <= half
    alike = np.ones_like(weights)
    assert combine(values, alike, "median") == pytest.approx(np.median(values))


def test_means_and_votes_by_hand() -> None:
    x, q = np.array([5.0, 5.0, 1e300]), np.array([0.5, 0.5, 0.0])
    assert combine(x, q) == 5.0
    assert combine([2.0, 1.0, 2.0], [0.3, 0.4, 0.3], "vote") == 2.0
