"""Trackers with dynamics of your own."""

import numpy as np
import pytest

from normalhedge.latent import HedgedTracker, ParticleFilter
from normalhedge.research.paper._pulse import move
from tests.latent.tracking.examples import own


def test_paths_track_with_their_own_scale_of_noise() -> None:
    truth = np.cumsum(np.full(150, 0.5))
    seen = truth + 0.5 * np.random.default_rng(13).normal(size=150)
    seen[100] = 1e6
    went = own().run(seen)
    assert np.sqrt(np.square(went.positions[50:, 0] - truth[50:]).mean()) < 1.5


def test_what_is_seen_may_be_a_function_of_the_paths() -> None:
    angle = np.cumsum(np.full(150, 0.1))
    seen = np.column_stack([np.cos(angle), np.sin(angle)])
    start = np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 0.2]
    tracker = HedgedTracker(
        start,
        move,
        lambda p, r: p + r.normal(size=p.shape) * [0.05, 0.01],
        rng=3,
        seen=lambda p: np.column_stack([np.cos(p[:, 0]), np.sin(p[:, 0])]),
    )
    tracker.run(seen + 0.1 * np.random.default_rng(1).normal(size=seen.shape))
    assert np.cos(tracker.predict(0).position[0] - angle[-1]) > 0.9


def test_bad_paths_are_a_sentence() -> None:
    rng = np.random.default_rng(0)
    for wrong in (np.zeros(3), np.zeros((0, 2)), np.full((3, 2), np.nan)):
        with pytest.raises(ValueError, match="paths must be finite numbers, N x d"):
            HedgedTracker(wrong, move, lambda p, _: p, lambda p, _: p[:, 0], rng)
        with pytest.raises(ValueError, match="paths must be finite numbers, N x d"):
            ParticleFilter(wrong, move, lambda p, _: p, lambda p, _: p[:, 0], rng)
    with pytest.raises(ValueError, match="need paths, move and jitter"):
        HedgedTracker(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="need paths, move and jitter"):
        HedgedTracker(seen=move)
