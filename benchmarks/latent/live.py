"""How long `Regimes` takes: 10,000 rounds at once, and one round live."""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.latent import cases
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.regimes._regimes import Regimes
from normalhedge.latent.regimes._rule import REVIEW

ROUNDS, WARM, LIVE = 10_000, 2_000, 1_000


def lines() -> Iterator[str]:
    """Yield a line for each kind of observations, in seconds of one core."""
    yield f"{'':16s}{'10,000 rounds':>15s}{'observe':>10s}{'with its reviews':>18s}"
    for case in (cases.volatility, cases.counts, cases.two_columns):
        parts = [case(np.random.default_rng([seed, 1])) for seed in range(3)]
        seen = np.concatenate([part.observations for part in parts])[:ROUNDS]
        begun = time.process_time()
        Regimes(parts[0].emission).run(seen)
        whole = time.process_time() - begun
        plain, every = observed(seen, parts[0].emission)
        yield f"{case.__name__:16s}{whole:13.1f} s{plain:7.0f} us{every:15.0f} us"


def observed(seen: Floats, emission: str) -> tuple[float, float]:
    """Return the mean time of `observe` in microseconds: between reviews, and of all rounds."""
    regimes = Regimes(emission)
    regimes.run(seen[:WARM])
    times = []
    for y in seen[WARM : WARM + LIVE]:
        begun = time.process_time()
        regimes.observe(y)
        times.append(time.process_time() - begun)
    took = 1e6 * np.array(times)
    return float(np.delete(took, np.s_[REVIEW - 1 :: REVIEW]).mean()), float(took.mean())
