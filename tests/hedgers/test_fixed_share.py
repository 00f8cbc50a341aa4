"""Fixed Share beside Bayes, its bound and river."""

import itertools
import math

import numpy as np
import pytest

from normalhedge import hedgers
from tests.peers import River


def test_fixed_share_is_bayes_over_all_sequences() -> None:
    n, rounds, eta, share = 3, 6, 0.7, 0.25
    gains = np.random.default_rng(3).uniform(-1, 1, (rounds, n))
    run = hedgers.FixedShare(eta, share).run(gains, keep_weights=True)
    assert run.weights is not None
    for t in range(rounds):
        masses = np.zeros(n)
        for sequence in itertools.product(range(n), repeat=t + 1):
            mass = 1 / n
            for a, b in itertools.pairwise(sequence):
                mass *= (1 - share) * (a == b) + share / n
            mass *= math.exp(eta * sum(gains[s, e] for s, e in enumerate(sequence[:-1])))
            masses[sequence[-1]] += mass
        np.testing.assert_allclose(run.weights[t], masses / masses.sum(), atol=1e-12)


def test_fixed_share_against_the_best_sequence() -> None:
    n, rounds, switches = 4, 400, 3
    rng = np.random.default_rng(4)
    best = np.repeat(rng.permutation(n), rounds // n)
    gains = rng.choice([-1.0, 1.0], (rounds, n))
    gains[np.arange(rounds), best] = np.where(rng.random(rounds) < 0.9, 1.0, -1.0)
    for hedger in (hedgers.FixedShare(0.5, 0.01), hedgers.FixedShare(0.1, 0.3)):
        run = hedger.run(gains)
        regret = gains[np.arange(rounds), best].sum() - run.gains.sum()
        assert regret <= hedger.bound(n, rounds, switches=switches).regret
    tuned = hedgers.FixedShare.tuned(0.01, n)
    assert tuned.share == tuned.alpha == 0.01
    s = 0.1
    least = hedgers.FixedShare.tuned(0.0, n, share=s)
    nats = s * math.log(n / s) - (1 - s) * math.log(1 - s)
    assert least.eta == pytest.approx(math.sqrt(2 * nats))
    assert hedgers.VariableShare.tuned(0.0, n, share=s).eta == least.eta
    with pytest.raises(ValueError, match="fewer than rounds"):
        tuned.bound(n, 10, switches=10)
    assert least.bound(n, 100, switches=3).regret < math.inf
    discounted = hedgers.FixedShare(0.1, 0.05, alpha=0.1)
    assert discounted.bound(n, 100, switches=3) == discounted.bound(n, 100)
    assert discounted.bound(n, 100).regret == math.inf


def test_river_ewa() -> None:
    """Hedge at a fixed rate, which Fixed Share is when it shares nothing to speak of."""
    rng = np.random.default_rng(6)
    losses = np.abs(rng.random((50, 4)) - rng.random((50, 1)))
    theirs, hedger = River(4, rate=0.3), hedgers.FixedShare(eta=0.15, share=1e-300)
    state = hedger.init(4)
    for row in losses:
        theirs.learn(row)
        state = hedger.step(state, 1 - 2 * row)
        np.testing.assert_allclose(state.weights, theirs.weights, rtol=1e-12)
