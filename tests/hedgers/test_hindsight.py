import itertools

import numpy as np
import pytest

from normalhedge.hedgers import FixedShare
from normalhedge.hedgers.hindsight import total
from normalhedge.research.games import best_expert, best_quantile, best_sequence, leads


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("switches", [0, 1, 2, 4, 9])
def test_best_sequence_is_the_best_of_all(switches: int, alpha: float) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        gains = rng.integers(-2, 3, (6, 3)) / 2 if seed % 2 else rng.uniform(-1, 1, (6, 3))
        late = (1 - alpha) ** np.arange(5, -1, -1)
        best = max(
            late @ gains[np.arange(6), list(sequence)]
            for sequence in itertools.product(range(3), repeat=6)
            if sum(a != b for a, b in itertools.pairwise(sequence)) <= switches
        )
        found = best_sequence(gains, switches, alpha)
        assert found.gain == pytest.approx(best)
        assert late @ gains[np.arange(6), found.experts] == pytest.approx(best)
        assert np.count_nonzero(np.diff(found.experts)) <= switches


def test_without_switches_it_is_the_best_expert() -> None:
    gains = np.random.default_rng(0).uniform(-1, 1, (200, 7))
    one, other = best_expert(gains, 0.01), best_sequence(gains, 0, 0.01)
    assert one.gain == pytest.approx(other.gain)
    np.testing.assert_array_equal(one.experts, other.experts)
    assert best_quantile(gains, 1 / 7, 0.01) == pytest.approx(one.gain)
    assert best_quantile(gains, 1.0) == pytest.approx(gains.sum(axis=0).min())
    assert best_sequence(gains, 500).gain == pytest.approx(gains.max(axis=1).sum())


def test_regret_is_what_the_best_earned_beyond_the_hedger() -> None:
    gains = np.random.default_rng(1).uniform(-1, 1, (300, 5))
    hedger = FixedShare(0.3, 0.05, alpha=0.02)
    run = hedger.run(gains)
    own = float(total(run.gains, 0.02))
    assert best_expert(gains, 0.02).gain - own == pytest.approx(run.state.best_regret)
    quantile = best_quantile(gains, 0.4, 0.02) - own
    assert quantile == pytest.approx(run.state.quantile_regret(0.4))
    plain = FixedShare(0.3, 0.05)
    for switches in (1, 5, 40):
        regret = best_sequence(gains, switches).gain - run.gains.sum()
        assert regret <= plain.bound(5, 300, switches=switches).regret


def test_leads_are_regrets_and_what_was_earned() -> None:
    gains = np.random.default_rng(1).uniform(-1, 1, (300, 5))
    run = FixedShare(0.3, 0.05, alpha=0.02).run(gains)
    regret = leads(gains, 0.02) - leads(run.gains[:, None], 0.02)
    np.testing.assert_allclose(regret, run.best_regret, atol=1e-12)
    np.testing.assert_allclose(leads(gains), np.cumsum(gains, axis=0).max(axis=1))


def test_bad_input_is_refused() -> None:
    for gains in ([], [1.0], [[np.nan]]):
        with pytest.raises(ValueError, match="gains must"):
            best_sequence(gains, 1)
    with pytest.raises(ValueError, match="switches"):
        best_sequence([[1.0]], -1)
    with pytest.raises(ValueError, match="alpha"):
        best_expert([[1.0]], 1.0)
