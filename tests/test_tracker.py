import numpy as np
import pytest

from normalhedge.experiments.pulse import TRACKERS, draw, errors, in_window, move
from normalhedge.latent import HedgedTracker, ParticleFilter


def medians(sigma: float, outliers: float, runs: int) -> dict[str, float]:
    found = [errors(sigma, outliers, np.random.default_rng(seed)) for seed in range(runs)]
    return dict(zip(TRACKERS, np.median(found, axis=0).tolist(), strict=True))


def test_outliers_mislead_the_particles_and_not_the_hedger() -> None:
    found = medians(8.0, 0.01, 6)
    assert found["hedged paths"] < 40.0
    assert found["hedged paths"] < found["particles"] / 1.3


def test_with_good_noise_both_are_good() -> None:
    found = medians(1.0, 0.0, 4)
    assert max(found.values()) < 10.0


def test_pulses_stay_on_the_line_and_windows_count_pixels() -> None:
    places, seen = draw(0.001, 0.0, np.random.default_rng(1))
    assert np.abs(places).max() <= 450
    paths = np.column_stack([places[:3], np.zeros(3)])
    total, count = in_window(paths, seen[0])
    assert count.tolist() == [101.0 if x == int(x) else count[k] for k, x in enumerate(places[:3])]
    assert total[0] == pytest.approx(seen[0].sum(), abs=0.2)
    outside = np.array([[2000.0, 0.0]])
    assert in_window(outside, seen[0])[1].tolist() == [0.0]


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
