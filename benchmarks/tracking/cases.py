"""Tracks: simulated ones whose position is known, and real ones out of wheels."""

import gzip
import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats

ROUNDS, WARM = 500, 150
"""Rounds of a simulated track; the first are what rivals are fitted to, and are not judged."""

DEVELOP_SEEDS, JUDGE_SEEDS = range(5), range(100, 110)
DEVELOP_FLIGHTS = ("ajaccio", "toulouse")
JUDGE_FLIGHTS = ("lisbon", "munich", "nice", "vienna")


class Case(NamedTuple):
    """A track.

    Attributes
    ----------
    truth, seen
        Positions and observations, T x k; NaN where nothing was observed. In real series without
        a known position the truth is the observation itself.
    model
        What the Kalman filter with the true parameters is told: order (1: level, 2: velocity),
        the deviation of the level's or the velocity's steps, and that of the noise. None: there
        are no true parameters.
    known
        Whether the truth is the position, and not only the observation.
    clean
        Where there is clutter: what is seen without it, for a rival who is told.
    """

    truth: Floats
    seen: Floats
    model: tuple[int, float, float] | None = None
    known: bool = True
    clean: Floats | None = None


def level(rng: np.random.Generator) -> Case:
    """Return a random walk with steps of 0.3 in noise of 1: well specified."""
    truth = np.cumsum(0.3 * rng.normal(size=(ROUNDS, 1)), axis=0)
    return Case(truth, truth + rng.normal(size=truth.shape), (1, 0.3, 1.0))


def velocity(rng: np.random.Generator) -> Case:
    """Return a velocity that is a random walk, in two columns: well specified."""
    steps = np.cumsum(0.05 * rng.normal(size=(ROUNDS, 2)), axis=0)
    truth = np.cumsum(steps, axis=0)
    return Case(truth, truth + rng.normal(size=truth.shape), (2, 0.05, 1.0))


def aircraft(rng: np.random.Generator) -> Case:
    """Return legs and turns at 200 m/s, seen every 2 s with noise of 80 m."""
    truth = _flown(rng)
    return Case(truth, truth + 80.0 * rng.normal(size=truth.shape))


def aircraft_in_clutter(rng: np.random.Generator) -> Case:
    """Return the same, 10 % of the observations anywhere, 5 % missing, and gaps of 10 rounds."""
    truth = _flown(rng)
    return clutter(truth, 80.0, rng)


def pedestrian(rng: np.random.Generator) -> Case:
    """Return one who walks and stops, seen every second with Student noise (3 degrees), 3 m."""
    truth = np.zeros((ROUNDS, 2))
    heading, speed = rng.uniform(0.0, 2.0 * np.pi), 1.4
    for t in range(1, ROUNDS):
        if rng.random() < 0.03:
            speed = 0.0 if speed and rng.random() < 0.5 else rng.uniform(0.8, 1.8)
            heading += rng.normal()
        heading += 0.05 * rng.normal()
        truth[t] = truth[t - 1] + speed * np.array([np.cos(heading), np.sin(heading)])
    seen = truth + 3.0 * rng.standard_t(3.0, size=truth.shape)
    seen[rng.random(ROUNDS) < 0.1] = np.nan
    return Case(truth, seen)


def jumps(rng: np.random.Generator) -> Case:
    """Return a slow level that jumps every 80 rounds or so, 3 % of the observations at ±10^6."""
    steps = 0.1 * rng.normal(size=ROUNDS)
    steps += np.where(rng.random(ROUNDS) < 1.0 / 80.0, 20.0 * rng.normal(size=ROUNDS), 0.0)
    truth = np.cumsum(steps)[:, np.newaxis]
    seen = truth + rng.normal(size=truth.shape)
    wild = rng.random(ROUNDS) < 0.03
    seen[wild] = 1e6 * rng.choice([-1.0, 1.0], size=(int(wild.sum()), 1))
    return Case(truth, seen)


def noise_that_changes(rng: np.random.Generator) -> Case:
    """Return a velocity that is a random walk, whose noise is five times as large in the middle."""
    truth = np.cumsum(np.cumsum(0.05 * rng.normal(size=(ROUNDS, 1)), axis=0), axis=0)
    size = np.where((np.arange(ROUNDS) > 200) & (np.arange(ROUNDS) < 350), 5.0, 1.0)
    return Case(truth, truth + size[:, np.newaxis] * rng.normal(size=truth.shape))


SIMULATED: dict[str, Callable[[np.random.Generator], Case]] = {
    "level": level,
    "velocity": velocity,
    "aircraft": aircraft,
    "aircraft in clutter": aircraft_in_clutter,
    "pedestrian": pedestrian,
    "jumps": jumps,
    "noise that changes": noise_that_changes,
}


def real(flights: tuple[str, ...]) -> Iterator[tuple[str, Case]]:
    """Yield the real tracks whose wheels are installed, or a word about those that are not."""
    if find_spec("traffic") is None:
        print("traffic is not installed: no real flights (pip install --no-deps traffic)")
    else:
        for n, name in enumerate(flights):
            truth = flight(name)
            yield f"flight {name}", clutter(truth, 100.0, np.random.default_rng(n))
    if find_spec("statsmodels") is None:
        print("statsmodels is not installed: no Nile and no carbon dioxide")
        return
    from statsmodels.datasets import co2, nile  # noqa: PLC0415

    for label, table in (
        ("Nile", nile.load_pandas().data["volume"]),
        ("CO2", co2.load().data["co2"]),
    ):
        column = np.asarray(table, dtype=np.float64)[:, np.newaxis]
        yield label, Case(column, column, known=False)


def flight(name: str) -> Floats:
    """Return a flight that calibrates radio beacons, in metres, every 5 or 10 s, 800 rounds."""
    spec = find_spec("traffic")
    assert spec is not None
    assert spec.submodule_search_locations
    root = Path(spec.submodule_search_locations[0]) / "data" / "samples" / "calibration"
    with gzip.open(root / f"{name}.json.gz") as file:
        rows = json.load(file)
    if isinstance(rows, dict):  # by columns
        degrees = np.array([list(rows[name].values()) for name in ("longitude", "latitude")])
    else:
        degrees = np.array([[row["longitude"], row["latitude"]] for row in rows]).T
    east, north = 111_320.0 * degrees[:, 300:1100]
    east = east * np.cos(north[0] / 6_378_137.0)
    return np.column_stack([east - east[0], north - north[0]])


def clutter(truth: Floats, size: float, rng: np.random.Generator) -> Case:
    """Return a track with noise, 10 % anywhere in the region, 5 % missing, gaps of 10 rounds."""
    rounds = len(truth)
    seen = truth + size * rng.normal(size=truth.shape)
    clean = seen.copy()
    low, high = truth.min(axis=0), truth.max(axis=0)
    wild = rng.random(rounds) < 0.1
    seen[wild] = rng.uniform(low, high, size=(int(wild.sum()), truth.shape[1]))
    seen[rng.random(rounds) < 0.05] = np.nan
    for start in rng.integers(WARM, rounds - 20, size=4):
        seen[start : start + 10] = np.nan
    return Case(truth, seen, clean=clean)


def _flown(rng: np.random.Generator) -> Floats:
    truth = np.zeros((ROUNDS, 2))
    heading, turn = rng.uniform(0.0, 2.0 * np.pi), 0.0
    for t in range(1, ROUNDS):
        if rng.random() < 0.04:
            turn = 0.0 if turn else rng.choice([-1.0, 1.0]) * np.deg2rad(rng.uniform(1.0, 5.0))
        heading += 2.0 * turn
        truth[t] = truth[t - 1] + 400.0 * np.array([np.cos(heading), np.sin(heading)])
    return truth
