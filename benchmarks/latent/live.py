"""How long `Regimes` takes: 10,000 rounds at once, and one round live."""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.latent import cases
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.regimes._regimes import Regimes

ROUNDS, WARM, LIVE = 10_000, 2_000, 1_000


def lines() -> Iterator[str]:
    """Yield a line for each kind of observations, in seconds of one core."""
    yield (
        f"{'':16s}{'10,000 rounds':>15s}{'observe, median':>17s}{'mean':>9s}{'worst':>10s}"
        f"{'with interval':>15s}"
    )
    for case in (cases.volatility, cases.counts, cases.two_columns):
        parts = [case(np.random.default_rng([seed, 1])) for seed in range(3)]
        seen = np.concatenate([part.observations for part in parts])[:ROUNDS]
        begun = time.process_time()
        Regimes(parts[0].emission).run(seen)
        whole = time.process_time() - begun
        plain, both = observed(seen, parts[0].emission)
        yield (
            f"{case.__name__:16s}{whole:13.1f} s{np.median(plain):14.0f} us{plain.mean():6.0f} us"
            f"{plain.max():7.0f} us{np.median(both):12.0f} us"
        )


def observed(seen: Floats, emission: str) -> tuple[Floats, Floats]:
    """Return the times of `observe` in microseconds, and with an interval before it."""
    regimes = Regimes(emission)
    regimes.run(seen[:WARM])
    times = np.empty((2, LIVE))
    for t, y in enumerate(seen[WARM : WARM + 2 * LIVE]):
        begun = time.process_time()
        if t >= LIVE:
            regimes.predict().interval(0.9)
        regimes.observe(y)
        times[t // LIVE, t % LIVE] = 1e6 * (time.process_time() - begun)
    return times[0], times[1]
