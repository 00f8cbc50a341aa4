import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge._inputs import Floats
from normalhedge.latent import HedgedTracker, ParticleFilter

HALF, EDGE = 50, 500
PIXELS = np.arange(-EDGE, EDGE + 1)


def pulse(rounds: int, sigma: float, outliers: float, seed: int) -> tuple[Floats, list[Floats]]:
    """Return where a pulse of height one goes, and what is seen of it: noise with outliers."""
    rng = np.random.default_rng(seed)
    x = v = 0.0
    places, seen = [], []
    for _ in range(rounds):
        v = float(np.clip(v + rng.normal(), -10, 10))
        x += v
        if abs(x) > EDGE - HALF:
            x, v = float(np.clip(x, HALF - EDGE, EDGE - HALF)), -v
        wild = np.where(rng.random(PIXELS.size) < outliers, 10.0, 1.0)
        noise = sigma * wild * rng.normal(size=PIXELS.size)
        places.append(x)
        seen.append((np.abs(PIXELS - x) <= HALF) + noise)
    return np.array(places), seen


def in_window(paths: Floats, seen: Floats) -> tuple[Floats, Floats]:
    """Return the sum of what is seen inside of the pulse of each path, and over how many pixels."""
    sums = np.concatenate([[0.0], np.cumsum(seen)])
    low = np.clip(np.ceil(paths[:, 0] - HALF) + EDGE, 0, PIXELS.size).astype(int)
    high = np.clip(np.floor(paths[:, 0] + HALF) + EDGE + 1, 0, PIXELS.size).astype(int)
    return sums[high] - sums[low], (high - low).astype(float)


def move(paths: Floats) -> Floats:
    moved = paths.copy()
    moved[:, 0] += moved[:, 1]
    return moved


def errors(sigma: float, outliers: float, seed: int) -> dict[str, float]:
    places, seen = pulse(200, sigma, outliers, seed)
    rng = np.random.default_rng(seed + 100)
    start = rng.normal(size=(400, 2)) * [20.0, 2.0]
    limit = 2.0 * sigma + 1.0

    def gains(paths: Floats, image: Floats) -> Floats:
        total, _ = in_window(paths, np.clip(image, -limit, limit))
        return np.clip(4.0 * total / ((2 * HALF + 1) * limit), -1.0, 1.0)

    def normal(paths: Floats, image: Floats) -> Floats:
        total, count = in_window(paths, image)
        return (2.0 * total - count) / (2.0 * sigma**2)

    hedger = NormalHedge(alpha=0.4, c=0.1)
    followers: dict[str, HedgedTracker | ParticleFilter] = {
        "hedged": HedgedTracker(
            start, move, lambda p, r: p + r.normal(size=p.shape) * [10.0, 3.0], gains, rng, hedger
        ),
        "particles": ParticleFilter(
            start, move, lambda p, r: p + r.normal(size=p.shape) * [1.0, 1.5], normal, rng
        ),
    }
    return {
        name: float(np.sqrt(np.mean((np.array([f.observe(z)[0] for z in seen]) - places) ** 2)))
        for name, f in followers.items()
    }


def test_outliers_mislead_the_particles_and_not_the_hedger() -> None:
    runs = [errors(8.0, 0.01, seed) for seed in range(6)]
    hedged, particles = (np.median([run[name] for run in runs]) for name in ("hedged", "particles"))
    assert hedged < 50.0
    assert hedged < particles / 2.0


def test_with_good_noise_the_particles_are_as_good() -> None:
    runs = [errors(1.0, 0.0, seed) for seed in range(4)]
    hedged, particles = (np.median([run[name] for run in runs]) for name in ("hedged", "particles"))
    assert particles <= hedged < 12.0


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
