"""Experts and mixtures for tests."""

import math

import numpy as np

from normalhedge import Mixture

NAMES = ["gam", "ar", "naive", "wild"]


def experts(
    rounds: int, rng: np.random.Generator, rows: int = 1, *, asleep: float = 0.2
) -> tuple[np.ndarray, np.ndarray]:
    """Return forecasts, rounds x rows x 4, of which some are NaN, and outcomes."""
    y = rng.normal(size=(rounds, rows)).cumsum(axis=0)
    noise = rng.normal(size=(rounds, rows, 4)) * np.array([0.3, 0.6, 1.0, 3.0])
    forecasts = y[..., np.newaxis] + noise + np.array([0.1, -0.3, 0.0, 1.0])
    forecasts[rng.random(forecasts.shape) < asleep] = np.nan
    return forecasts, y


def none(row: np.ndarray) -> list[float | None]:
    return [None if math.isnan(x) else float(x) for x in row]


def busy_mixture() -> Mixture:
    """Return a mixture with a bit of everything in it."""
    mixture = Mixture(
        "normal-hedge:alpha=0.1,c=2", "pinball:level=0.3", include="median", max_age=99
    )
    rng = np.random.default_rng(11)
    for k in range(40):
        said = {name: rng.normal() if rng.random() < 0.8 else None for name in NAMES}
        made = mixture.predict(said, confidence={"gam": 0.5} if k % 7 == 0 and k else None)
        if k % 5:
            mixture.update(made.ticket, rng.normal())
    return mixture


def fed(mixture: Mixture, names: str, rounds: int, seed: int = 0) -> Mixture:
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        said = {name: float(rng.normal() * (1 + k)) for k, name in enumerate(names)}
        mixture.update(mixture.predict(said).ticket, 0.0)
    return mixture
