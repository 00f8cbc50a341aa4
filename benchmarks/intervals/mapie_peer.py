"""MAPIE's adaptive conformal inference beside ours: ``python -m benchmarks.intervals.mapie_peer``.

``nox -s peers`` installs it. MAPIE has no delays, and a round takes milliseconds: so there are
2000 rounds of one seed, of which the first 500 fit it, and a few of its rates.
"""

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.intervals.rivals import ALPHA, Ours
from benchmarks.intervals.series import KINDS, SEASON
from normalhedge.boundary.inputs import Floats

FIT, UNTIL = 500, 2000
RATES = (0.005, 0.02, 0.05)


def mapie_bounds(y: Floats, rate: float) -> tuple[Floats, Floats]:
    """Return the bounds of MAPIE after the rounds that fit it.

    Parameters
    ----------
    y
        The residuals.
    rate
        The rate of ACI.
    """
    from mapie.regression import TimeSeriesRegressor  # noqa: PLC0415
    from sklearn.dummy import DummyRegressor  # noqa: PLC0415

    zeros = np.zeros((UNTIL, 1))
    model: Any = DummyRegressor(strategy="constant", constant=0.0).fit(zeros[:FIT], y[:FIT])
    peer = TimeSeriesRegressor(model, method="aci", cv="prefit")
    peer.fit(zeros[:FIT], y[:FIT])
    bounds = np.empty((UNTIL - FIT, 2))
    for t in range(FIT, UNTIL):
        now, outcome = zeros[t : t + 1], y[t : t + 1]
        _, told = peer.predict(now, confidence_level=1.0 - ALPHA, allow_infinite_bounds=True)
        bounds[t - FIT] = told[0, :, 0]
        peer.adapt_conformal_inference(now, outcome, gamma=rate)
        peer.update(now, outcome)
    return bounds[:, 0], bounds[:, 1]


def our_bounds(y: Floats) -> tuple[Floats, Floats]:
    """Return our bounds of the same rounds."""
    ours = Ours(SEASON)
    bounds = np.empty((UNTIL, 2))
    for t in range(UNTIL):
        bounds[t, 0], bounds[t, 1], token = ours.tell()
        ours.learn(token, float(y[t]), 0)
    return bounds[FIT:, 0], bounds[FIT:, 1]


def main() -> None:
    """Print coverage, mean width and the time of a round."""
    warnings.simplefilter("ignore")
    print(f"{'series':<12} {'method':<12} {'coverage':>8} {'width':>7} {'us a round':>11}")
    for kind, draw in KINDS.items():
        if draw is None:
            continue
        y = draw(1000).y[:UNTIL]
        for rate in (None, *RATES):
            start = time.perf_counter()
            low, high = our_bounds(y) if rate is None else mapie_bounds(y, rate)
            seconds = (time.perf_counter() - start) / (UNTIL - FIT * (rate is not None))
            largest = np.abs(y).max()
            low, high = np.clip(low, -largest, largest), np.clip(high, -largest, largest)
            covered = 100.0 * np.mean((low <= y[FIT:]) & (y[FIT:] <= high))
            name = "ours" if rate is None else f"MAPIE {rate}"
            width = np.mean(high - low)
            print(f"{kind:<12} {name:<12} {covered:>8.2f} {width:>7.3f} {1e6 * seconds:>11.1f}")


if __name__ == "__main__":
    main()
