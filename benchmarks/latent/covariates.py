"""``python -m benchmarks.latent.covariates``: regressions within the states, beside statsmodels.

The growth of consumption in the United States, given the growth of income, and given the growth of
income and of consumption one quarter before, quarter by quarter; two regimes. Both are given the
same rounds. `MarkovRegression` starts from its own point and from 20 random ones, or fewer
where its search fails.

Then predictions: the mean log score of each quarter given those before, by `infer`, which is told
nothing, by one regression, and by `MarkovRegression`, both fitted again every 20 quarters. The same
for a simulated series whose slope switches, beside the truth.
"""

import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.latent.real import searched
from normalhedge.boundary.inputs import Floats
from normalhedge.latent import infer
from normalhedge.latent.models import fit

STATES, STARTS = 2, 10
FIRST, EVERY = 60, 20  # the first round that is judged, and the rounds between fits of the others


def _series() -> Iterator[tuple[str, Floats, Floats]]:
    """Yield names, observations and covariates."""
    datasets: Any = import_module("statsmodels.datasets")
    macro = datasets.macrodata.load_pandas().data
    spent, earned = (100.0 * np.diff(np.log(macro[name].to_numpy()))
                     for name in ("realcons", "realdpi"))  # fmt: skip
    yield "consumption given income", spent, earned[:, np.newaxis]
    yield "and given itself before", spent[1:], np.column_stack([earned[1:], spent[:-1]])


def _simulated() -> tuple[Floats, Floats]:
    """Return a series whose slope is 2 or -1, and its covariate."""
    rng = np.random.default_rng(100)
    state = np.cumsum(rng.random(500) < 0.02) % 2
    x = rng.normal(size=500)
    return np.where(state, 2.0, -1.0) * x + rng.normal(size=500), x[:, np.newaxis]


def _model(y: Floats, x: Floats) -> Any:
    place = "statsmodels.tsa.regime_switching.markov_regression"
    return import_module(place).MarkovRegression(y, STATES, exog=x, switching_variance=True)


def _theirs(y: Floats, x: Floats) -> tuple[float, Floats]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _model(y, x).smooth(searched(_model(y, x), None))
    return float(found.llf), np.asarray(found.smoothed_marginal_probabilities)


def _ours(y: Floats, x: Floats) -> tuple[float, Floats]:
    rng = np.random.default_rng(0)
    found = fit(y, STATES, rng=rng, given=x, starts=STARTS, iterations=500, tolerance=1e-6,
                pseudo_count=0.0)  # fmt: skip
    return found.log_likelihood, found.smoothed(y, given=x)[0]


def _predicted(y: Floats, x: Floats) -> dict[str, float]:
    """Return the mean log score of each, given the rounds before."""
    scores = {name: np.full(len(y), np.nan) for name in ("statsmodels", "one regression")}
    params = None
    for start in range(FIRST, len(y), EVERY):
        stop = min(start + EVERY, len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            params = searched(_model(y[:start], x[:start]), params)
            if params is not None:
                logs = _model(y[:stop], x[:stop]).filter(params).llf_obs
                scores["statsmodels"][start:stop] = logs[start:]
        one = fit(y[:start], 1, rng=np.random.default_rng(0), given=x[:start])
        logs = one.filtered(y[:stop], given=x[:stop])[1]
        scores["one regression"][start:stop] = logs[start:]
    scores["infer"] = infer(y, given=x).path.log_scores
    scores["without x"] = infer(y).path.log_scores
    return {name: float(np.nanmean(logs[FIRST:])) for name, logs in scores.items()}


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
    yield "\nmean log score of predictions"
    for name, y, x in (*_series(), ("a slope that switches", *_simulated())):
        cells = _predicted(y, x).items()
        yield f"{name:26s}" + "".join(f"  {who} {score:.4f}" for who, score in cells)


if __name__ == "__main__":
    for line in lines():
        print(line)
