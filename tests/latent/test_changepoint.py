"""The change-point model of the benchmarks."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from benchmarks.latent import changepoint


def marginal(run: np.ndarray, first: np.ndarray, *, counts: bool) -> float:
    """ln P(run) of one model without changes, by the chain rule from sums: slow and plain."""
    total = 0.0
    for n in range(len(run)):
        past, y = run[:n], run[n]
        if counts:
            shape, rate = max(first.mean(), 0.1) + past.sum(), 1.0 + n
            total += stats.nbinom.logpmf(y, shape, rate / (rate + 1.0))
            continue
        mean = (first.mean() + past.sum()) / (1.0 + n)
        spread = n * past.var() + n / (n + 1.0) * (past.mean() - first.mean()) ** 2 if n else 0.0
        shape, rate = 1.0 + n / 2.0, first.var() + 0.5 * spread
        width = np.sqrt(rate * (n + 2.0) / (shape * (n + 1.0)))
        total += stats.t.logpdf(y, 2.0 * shape, mean, width)
    return float(total)


@pytest.mark.parametrize("counts", [False, True])
def test_changepoints_are_the_sum_over_all_partitions(counts: bool) -> None:
    rng, hazard, rounds = np.random.default_rng(1), 0.2, 7
    seen = rng.poisson(3.0, rounds).astype(float) if counts else rng.normal(size=rounds)
    logs = []
    for changes in product([0, 1], repeat=rounds - 1):
        ends = [0, *(np.flatnonzero(changes) + 1).tolist(), rounds]
        log = sum(np.log(hazard if change else 1.0 - hazard) for change in changes)
        runs = [seen[a:b] for a, b in pairwise(ends)]
        logs.append(log + sum(marginal(run, seen, counts=counts) for run in runs))
    found = changepoint.log_scores(seen, hazard, counts=counts)
    assert found.sum() == pytest.approx(np.logaddexp.reduce(logs))
