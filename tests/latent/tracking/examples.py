"""Models and series that several tests share."""

from typing import Any

import numpy as np

from normalhedge.latent import HedgedTracker
from normalhedge.research.paper._pulse import move


def jitter(paths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return paths + rng.normal(size=paths.shape) * [0.3, 0.1]


def own(seed: int = 0, **settings: Any) -> HedgedTracker:
    """Paths with a position and a velocity."""
    start = np.random.default_rng(99).normal(size=(200, 2))
    return HedgedTracker(start, move, jitter, rng=seed, **settings)


def walk(seed: int, rounds: int = 80, columns: int = 2) -> np.ndarray:
    """Velocities that wander, noise of 1, and a tenth missing."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(0.1 * rng.normal(size=(rounds, columns)), axis=0)
    seen = np.cumsum(steps, axis=0) + rng.normal(size=(rounds, columns))
    seen[rng.random(rounds) < 0.1] = np.nan
    return seen
