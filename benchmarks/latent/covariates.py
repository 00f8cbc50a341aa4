"""``python -m benchmarks.latent.covariates``: regressions within the states, beside statsmodels.

The growth of consumption in the United States, given the growth of income, and given the growth of
income and of consumption one quarter before, quarter by quarter; two regimes. Both are given the
same rounds. `MarkovRegression` starts from its own point and from 20 random ones.
"""

import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import fit

STATES, STARTS, SEARCHES = 2, 10, 20


def _series() -> Iterator[tuple[str, Floats, Floats]]:
    """Yield names, observations and covariates."""
    datasets: Any = import_module("statsmodels.datasets")
    macro = datasets.macrodata.load_pandas().data
    spent, earned = (100.0 * np.diff(np.log(macro[name].to_numpy()))
                     for name in ("realcons", "realdpi"))  # fmt: skip
    yield "consumption given income", spent, earned[:, np.newaxis]
    yield "and given itself before", spent[1:], np.column_stack([earned[1:], spent[:-1]])


def _theirs(y: Floats, x: Floats) -> tuple[float, Floats]:
    place = "statsmodels.tsa.regime_switching.markov_regression"
    model = import_module(place).MarkovRegression(y, STATES, exog=x, switching_variance=True)
    np.random.seed(0)  # noqa: NPY002 -- its search draws from there
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit(search_reps=SEARCHES, disp=False)
    return float(found.llf), np.asarray(found.smoothed_marginal_probabilities)


def _ours(y: Floats, x: Floats) -> tuple[float, Floats]:
    rng = np.random.default_rng(0)
    found = fit(y, STATES, rng=rng, given=x, starts=STARTS, iterations=500, tolerance=1e-6,
                pseudo_count=0.0)  # fmt: skip
    return found.log_likelihood, found.smoothed(y, given=x)[0]


def lines() -> Iterator[str]:
    """Yield a line for each series: log likelihoods, agreement, and the ratio of times."""
    if find_spec("statsmodels") is None:
        yield "left out, not installed: statsmodels"
        return
    yield f"{'':26s}{'statsmodels':>13s}{'ours':>10s}{'agree':>8s}{'times as fast':>15s}"
    for name, y, x in _series():
        results, seconds = [], []
        for method in (_theirs, _ours):
            begun = time.process_time()
            results.append(method(y, x))
            seconds.append(time.process_time() - begun)
        (their_log, theirs), (our_log, ours) = results
        same = (theirs.argmax(axis=1) == ours.argmax(axis=1)).mean()
        yield (
            f"{name:26s}{their_log:13.3f}{our_log:10.3f}{max(same, 1.0 - same):8.1%}"
            f"{seconds[0] / seconds[1]:15.0f}"
        )


if __name__ == "__main__":
    for line in lines():
        print(line)
