import numpy as np
import pytest

from normalhedge.experiments.paper.pulse import move
from normalhedge.latent import HedgedTracker, ParticleFilter


def test_time_passes_without_observations_and_copies_are_counted() -> None:
    rng = np.random.default_rng(0)
    paths = np.column_stack([np.linspace(-2.0, 2.0, 50), np.ones(50)])
    tracker = HedgedTracker(
        paths,
        move,
        lambda p, r: p + r.normal(size=p.shape),
        lambda p, z: -np.tanh(np.abs(z - p[:, 0])),
        rng,
    )
    assert tracker.predict() == pytest.approx([1.0, 1.0])
    assert tracker.observe(None) == pytest.approx([1.0, 1.0])
    for z in range(30):
        tracker.observe(float(z) + rng.normal())
    assert tracker.refilled > 0
    assert tracker.game.weights.sum() == pytest.approx(1.0)
    assert paths[0].tolist() == [-2.0, 1.0]  # the caller's array is left alone


def test_bad_paths_are_a_sentence() -> None:
    rng = np.random.default_rng(0)
    for wrong in (np.zeros(3), np.zeros((0, 2)), np.full((3, 2), np.nan)):
        with pytest.raises(ValueError, match="paths must be finite numbers, N x d"):
            HedgedTracker(wrong, move, lambda p, _: p, lambda p, _: p[:, 0], rng)
        with pytest.raises(ValueError, match="paths must be finite numbers, N x d"):
            ParticleFilter(wrong, move, lambda p, _: p, lambda p, _: p[:, 0], rng)
