"""Tracking a pulse in noise: hedged paths beside particle filters.

A pulse of height one and 101 pixels wide moves over a line of 1001 pixels, its velocity a random
walk; every pixel has normal noise of deviation sigma, and some of them, outliers, ten times that.
"""

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import NormalHedge
from normalhedge.latent import HedgedTracker, ParticleFilter
from normalhedge.latent.tracking import Jitter
from normalhedge.reports import Section
from normalhedge.research._cells import Arrays
from normalhedge.research.paper._part import PaperSettings, part_of_one

HALF, EDGE = 50, 500
PIXELS = np.arange(-EDGE, EDGE + 1)
ROUNDS, PATHS = 200, 400
SETTINGS = ((8.0, 0.01), (4.0, 0.01), (8.0, 0.0), (1.0, 0.0))
"""Each setting is sigma and the share of outliers."""

TRACKERS = ("hedged paths", "particles", "particles, clipped")
SEQUENCES, QUICK_SEQUENCES = 20, 3

HEDGER = NormalHedge(alpha=0.2, c=0.3)
NOISE = {"hedged paths": (10.0, 3.0), "particles": (12.0, 1.5), "particles, clipped": (3.0, 1.5)}
"""The noise of place and velocity, of copied paths or of all particles. These numbers, the hedger
and the scale of the gains were chosen at sigma = 8 with outliers, on eight to ten sequences that
the measurement does not use."""


def draw(sigma: float, outliers: float, rng: np.random.Generator) -> tuple[Floats, list[Floats]]:
    """Return the places of the pulse, and the images of it."""
    x = v = 0.0
    places, seen = [], []
    for _ in range(ROUNDS):
        v = float(np.clip(v + rng.normal(), -10, 10))
        x += v
        if abs(x) > EDGE - HALF:
            x, v = float(np.clip(x, HALF - EDGE, EDGE - HALF)), -v
        wild = np.where(rng.random(PIXELS.size) < outliers, 10.0, 1.0)
        places.append(x)
        seen.append((np.abs(PIXELS - x) <= HALF) + sigma * wild * rng.normal(size=PIXELS.size))
    return np.array(places), seen


def in_window(paths: Floats, seen: Floats) -> tuple[Floats, Floats]:
    """Return the sum of the pixels inside the pulse of each path, and their number."""
    sums = np.concatenate([[0.0], np.cumsum(seen)])
    low = np.clip(np.ceil(paths[:, 0] - HALF) + EDGE, 0, PIXELS.size).astype(int)
    high = np.clip(np.floor(paths[:, 0] + HALF) + EDGE + 1, 0, PIXELS.size).astype(int)
    return sums[high] - sums[low], (high - low).astype(float)


def move(paths: Floats) -> Floats:
    """Move every path by its velocity."""
    moved = paths.copy()
    moved[:, 0] += moved[:, 1]
    return moved


def trackers(sigma: float, rng: np.random.Generator) -> list[HedgedTracker | ParticleFilter]:
    """Return the trackers that are compared, from the same start.

    Clipped: no pixel counts more than 2 sigma + 1.
    """
    start = rng.normal(size=(PATHS, 2)) * [20.0, 2.0]
    limit, width = 2.0 * sigma + 1.0, 2 * HALF + 1
    # The gain of a perfect path without noise, and a quarter of the deviation of its noise.
    scale = width + 0.25 * sigma * np.sqrt(width)

    def gains(paths: Floats, image: Floats) -> Floats:
        total, _ = in_window(paths, np.clip(image, -limit, limit))
        return np.asarray(np.clip(total / scale, -1.0, 1.0))

    def normal(paths: Floats, image: Floats) -> Floats:
        total, count = in_window(paths, image)
        return (2.0 * total - count) / (2.0 * sigma**2)

    def noise(name: str) -> Jitter:
        return lambda paths, draws: paths + draws.normal(size=paths.shape) * NOISE[name]

    def clip_and_weigh(paths: Floats, image: Floats) -> Floats:
        return normal(paths, np.clip(image, -limit, limit))

    hedged, plain, careful = TRACKERS
    return [
        HedgedTracker(start, move, noise(hedged), gains, rng, HEDGER),
        ParticleFilter(start, move, noise(plain), normal, rng),
        ParticleFilter(start, move, noise(careful), clip_and_weigh, rng),
    ]


def errors(sigma: float, outliers: float, rng: np.random.Generator) -> list[float]:
    """Return the root mean square error of each tracker on one sequence."""
    places, seen = draw(sigma, outliers, rng)
    values = []
    for tracker in trackers(sigma, rng):
        tracked = np.array([tracker.observe(image)[0] for image in seen])
        values.append(float(np.sqrt(np.square(tracked - places).mean())))
    return values


def measure(settings: PaperSettings) -> Arrays:
    """Return the errors, settings x sequences x trackers."""
    count = QUICK_SEQUENCES if settings.quick else SEQUENCES
    seeds = np.random.SeedSequence([settings.seed, *b"pulse"]).spawn(count)
    rows = [[errors(*s, np.random.default_rng(child)) for child in seeds] for s in SETTINGS]
    return {"errors": np.array(rows)}


def section(arrays: Arrays) -> Section:
    """Return the section with the table of errors."""
    rows = []
    for (sigma, outliers), errs in zip(SETTINGS, arrays["errors"], strict=True):
        low, middle, high = np.quantile(errs, [0.25, 0.5, 0.75], axis=0)
        cells = [f"{m:.1f} ({a:.1f} to {b:.1f})" for a, m, b in zip(low, middle, high, strict=True)]
        rows.append((f"σ = {sigma:g}, {outliers:.0%} outliers", *cells))
    return Section(
        "pulse",
        "A continuous hidden state: tracking a pulse",
        "A pulse of height 1 and 101 pixels wide wanders over 1001 pixels with noise of deviation "
        "σ; outliers have 10 σ. Root mean square error of the place, median over "
        f"{arrays['errors'].shape[1]} sequences (and quartiles): {PATHS} hedged paths with bounded "
        "gains, a bootstrap particle filter with the normal likelihood, and the same on clipped "
        "observations (at most 2σ + 1): what bounding alone does. The settings of all three were "
        "chosen for the first row, on other sequences.",
        head=("noise", *TRACKERS),
        rows=rows,
    )


PART = part_of_one("pulse", __name__, measure, sections=[section], layers=("latent",))
