"""Arrays with more or fewer experts."""

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.hedgers import HEDGERS
from tests.mixtures.examples import fed

NAMES = [name for name in HEDGERS if name not in {"hedge-fixed"}]


def made(hedger: str) -> Mixture:
    tuned = hedger in {"hedge", "hedge-derived", "hedge-simulated", "optimistic-hedge"}
    tuned = tuned or hedger.endswith("share")
    return Mixture(f"{hedger}:n_experts=4" if tuned else hedger)


@pytest.mark.parametrize("hedger", NAMES)
def test_leaving_is_what_the_hedger_says_it_is(hedger: str) -> None:
    mixture = fed(made(hedger), "abcd", 30)
    before = mixture.state()
    mixture.leave("b")
    assert mixture.names == ["a", "c", "d"]
    expected = mixture.settings.hedger.leave(before, [1])  # type: ignore[union-attr]
    np.testing.assert_allclose(mixture.weights[0], expected.weights, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(mixture.live.ledgers[0], expected.ledger)
    fed(mixture, "acd", 5)
    fed(mixture, "acdb", 5)
    assert mixture.names == ["a", "c", "d", "b"]


@pytest.mark.parametrize("hedger", ["auto", *NAMES])
def test_joining_one_by_one_is_joining_at_once(hedger: str) -> None:
    """In columns that are free, and in arrays that had to be moved."""
    more = [f"n{k}" for k in range(40)]
    one, two = fed(made(hedger), "abcd", 20), fed(made(hedger), "abcd", 20)
    for name in more:
        one.join([name])
    two.join(more)
    assert one.names == two.names
    if hedger != "ml-prod":  # whose newcomers begin with a share of those that are there
        np.testing.assert_allclose(one.weights, two.weights, rtol=1e-12, atol=1e-15)
    for name in ARRAYS:
        assert getattr(one.live, name).shape == getattr(two.live, name).shape
    fed(one, "abcd", 3)
    assert one.weights.sum() == pytest.approx(1.0)
