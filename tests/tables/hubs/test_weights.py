"""A cap on weights: its law, and a slow loop that obeys it."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from normalhedge.tables.hubs import capped
from normalhedge.tables.hubs._weights import combine


def slowly(weights: np.ndarray, awake: np.ndarray, cap: float) -> np.ndarray:
    """Cap the largest, give the excess to the others in proportion, and look again."""
    result = weights.copy()
    limit = max(cap, 1.0 / awake.sum())
    full = np.zeros(len(weights), dtype=bool)
    for _ in range(len(weights) + 1):
        over = awake & (result > limit + 1e-15)
        full |= over
        others = awake & ~full
        left = 1.0 - limit * full.sum()
        result[full] = limit
        if not over.any() or not others.any():
            break
        total = result[others].sum()
        result[others] = left * result[others] / total if total > 0 else left / others.sum()
    return result


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.floats(0.01, 1.0),
)
def test_the_cap_obeys_its_law(raw: list[float], sleeping: list[bool], cap: float) -> None:
    awake = ~np.array(sleeping[: len(raw)])
    awake[0] = True
    weights = np.where(awake, np.array(raw) + 1e-9, 0.0)
    weights /= weights.sum()
    before = weights.copy()
    found = capped(weights, awake, cap)
    limit = max(cap, 1.0 / awake.sum())
    np.testing.assert_array_equal(weights, before)
    assert found.sum() == pytest.approx(1.0)
    assert found.max() <= limit + 1e-12
    assert (found[~awake] == 0.0).all()
    assert (found[awake & (weights < limit)] >= weights[awake & (weights < limit)] - 1e-12).all()
    np.testing.assert_allclose(found, slowly(weights, awake, cap), atol=1e-9)
    free = awake & (found < limit - 1e-9)
    if free.sum() > 1:  # those below the cap keep their proportions
        ratio = found[free] / weights[free]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


def test_the_excess_is_shared_evenly_where_the_others_have_no_weight() -> None:
    found = capped(np.array([1.0, 0.0, 0.0, 0.0]), np.array([True, True, True, False]), 0.4)
    np.testing.assert_allclose(found, [0.4, 0.3, 0.3, 0.0])
    alone = capped(np.array([0.0, 1.0]), np.array([False, True]), 0.3)
    np.testing.assert_allclose(alone, [0.0, 1.0])


def test_forecasts_are_weighted_means_of_those_awake() -> None:
    forecasts = np.array([[[1.0, 3.0, np.nan], [2.0, np.nan, np.nan], [np.nan] * 3]])
    found = combine(forecasts, np.array([[0.25, 0.5, 0.25]]))
    np.testing.assert_allclose(found, [[(0.25 * 1 + 0.5 * 3) / 0.75, 2.0, np.nan]])
    # A model without weight is heard where it is alone.
    alone = combine(np.array([[[np.nan, 5.0]]]), np.array([[1.0, 0.0]]))
    np.testing.assert_allclose(alone, [[5.0]])


def test_an_absurd_forecast_is_moved_nearer() -> None:
    forecasts = np.array([[[10.0, 11.0, 12.0, 1e6]]])
    weights = np.full((1, 4), 0.25)
    assert combine(forecasts, weights)[0, 0] == pytest.approx((10 + 11 + 12 + 21.5) / 4)
    assert combine(forecasts, weights, guard=False)[0, 0] > 1e5
    assert combine(forecasts[:, :, 2:], weights[:, :2])[0, 0] > 1e5  # of two, none is absurd
