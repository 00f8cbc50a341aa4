"""Hidden states in hindsight: agreement with the truth, given the whole series.

Baum-Welch is told the family and the number of states; `look_back` is told the family only. All
rounds are judged, by the share with the true state, names matched one to one.
"""

import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

import numpy as np

from benchmarks.latent import cases
from benchmarks.latent.cases import ROUNDS, Case
from benchmarks.latent.rivals import hmmlearn_fit
from benchmarks.latent.scores import agreement
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import fit
from normalhedge.latent.regimes._regimes import Regimes

NAMES = ("truth", "Baum-Welch", "hmmlearn", "causal", "smoothed", "path")


def true_smoother(case: Case) -> Floats:
    """Return the probabilities of states given all rounds and the true parameters."""
    filtered = np.empty_like(case.logs)
    beliefs = np.eye(case.logs.shape[1])[0]
    for t in range(ROUNDS):
        beliefs = beliefs @ case.moves[t] if t else beliefs
        beliefs = beliefs * np.exp(case.logs[t] - case.logs[t].max())
        filtered[t] = beliefs = beliefs / beliefs.sum()
    smoothed = filtered.copy()
    for t in range(ROUNDS - 2, -1, -1):
        ahead = np.maximum(filtered[t] @ case.moves[t + 1], 1e-300)
        smoothed[t] = filtered[t] * (case.moves[t + 1] @ (smoothed[t + 1] / ahead))
    return smoothed


def judged(case: Case) -> tuple[list[float], int, float]:
    """Return the agreement of each, the number of regimes of ours, and its seconds."""
    seen = case.observations
    fitted = fit(seen, case.states, case.emission, rng=np.random.default_rng(0), starts=10)
    states = [true_smoother(case).argmax(axis=1), fitted.smoothed(seen)[0].argmax(axis=1)]
    if find_spec("hmmlearn") is None:
        states.append(np.zeros(ROUNDS, dtype=np.intp))
    else:
        states.append(hmmlearn_fit(seen, case, None).smoothed(seen)[0].argmax(axis=1))
    regimes = Regimes(case.emission)
    causal = regimes.run(seen)
    begun = time.process_time()
    found = regimes.look_back(causal.probabilities)
    seconds = time.process_time() - begun
    states += [np.maximum(causal.states, 0), found.states, found.path]
    shares = [100.0 * agreement(one, case.truth) for one in states]
    return shares, len(found.parameters), seconds


def lines(seeds: Sequence[int], wanted: Sequence[str]) -> Iterator[str]:
    """Yield a line for each case: agreement in percent, and points beside the better Baum-Welch."""
    yield f"in hindsight, all rounds, seeds {', '.join(map(str, seeds))}"
    yield f"{'':16s}" + "".join(f"{name:>11s}" for name in NAMES) + "   beside   regimes   seconds"
    for group in (cases.STATIONARY, cases.HARDER, cases.EXTREME):
        for draw in group:
            if wanted and draw.__name__ not in wanted:
                continue
            results = [judged(draw(np.random.default_rng([seed, 1]))) for seed in seeds]
            means = np.mean([shares for shares, _, _ in results], axis=0)
            beside = means[4] - max(means[1:3])
            numbers = ",".join(str(number) for _, number, _ in results)
            seconds = np.mean([took for _, _, took in results])
            yield (
                f"{draw.__name__:16s}"
                + "".join(f"{share:11.1f}" for share in means)
                + f"{beside:+9.1f}{numbers:>10s}{seconds:10.2f}"
            )
