"""Who follows hidden states: the true filter, fits by EM, Bayes averages, and ours."""

import logging
import math
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from benchmarks.latent import changepoint
from benchmarks.latent.cases import JUDGED, ROUNDS, Case
from benchmarks.latent.scores import agreement
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import NormalHedge
from normalhedge.latent.models import _starts
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models._fitting import fit
from normalhedge.latent.models.emissions import FullGaussian, Gaussian, Poisson
from normalhedge.latent.regimes._matching import Labels, assignment, likeness
from normalhedge.latent.regimes._regimes import Regimes

EVERY, FIRST, BANK = 250, 500, 60
HAZARD = 0.016
"""Changes a round in most cases: 2 x 0.8 x 0.01."""


class Said(NamedTuple):
    """Which state was inferred in each round (none: -1), and ln p(y_t | y_1..y_{t-1})."""

    states: Labels
    scores: Floats


Rival = Callable[[Case], Said | None]
"""None where it does not apply, or is not installed."""


def true_filter(case: Case) -> Said:
    """Filter with the true parameters, also where they change."""
    beliefs = np.zeros(case.logs.shape[1])
    beliefs[0] = 1.0
    states, scores = np.empty(ROUNDS, dtype=np.intp), np.empty(ROUNDS)
    for t in range(ROUNDS):
        beliefs = beliefs @ case.moves[t] if t else beliefs
        highest = case.logs[t].max()
        joint = beliefs * np.exp(case.logs[t] - highest)
        scores[t] = math.log(joint.sum()) + highest
        beliefs = joint / joint.sum()
        states[t] = beliefs.argmax()
    return Said(states, scores)


def em_500(case: Case) -> Said:
    """EM on the first 500 rounds from ten starts, then a filter."""
    return _refitted(case, [500], _our_fit)


def em_1000(case: Case) -> Said:
    """EM on the first 1,000 rounds from ten starts, then a filter."""
    return _refitted(case, [1000], _our_fit)


def refitted(case: Case) -> Said | None:
    """Let hmmlearn fit all rounds so far, every 250 rounds, from the last fit and three starts."""
    if find_spec("hmmlearn") is None:
        return None
    return _refitted(case, range(EVERY, ROUNDS, EVERY), hmmlearn_fit)


def rolling(case: Case) -> Said | None:
    """Do the same with the last 1,000 rounds only."""
    if find_spec("hmmlearn") is None:
        return None

    def last(seen: Floats, case: Case, before: Fitted | None) -> Fitted:
        return hmmlearn_fit(seen[-1000:], case, before)

    return _refitted(case, range(EVERY, ROUNDS, EVERY), last)


def dynamax(case: Case) -> Said | None:
    """Let dynamax fit the first 1,000 rounds from three starts, then filter."""
    if find_spec("dynamax") is None or case.emission == "poisson":
        return None
    return _refitted(case, [1000], _dynamax_fit)


def markov_regression(case: Case) -> Said | None:
    """Let statsmodels fit all rounds after 500, 1,000 and 2,000, then filter."""
    if find_spec("statsmodels") is None or case.emission != "gaussian":
        return None
    return _refitted(case, [500, 1000, 2000], _statsmodels_fit)


def changepoints(case: Case) -> Said:
    """Detect changes online; there are no states that come back."""
    scores = changepoint.log_scores(case.observations, HAZARD, counts=case.emission == "poisson")
    return Said(np.full(ROUNDS, -1), scores)


def bayes(case: Case) -> Said:
    """Average models fitted to windows of the first 500 rounds by Bayes' rule."""
    return _averaged(case, 1.0)


def forgetting_bayes(case: Case) -> Said:
    """Do the same with a memory of 100 rounds."""
    return _averaged(case, 0.99)


def normal_hedge(case: Case) -> Said:
    """Regimes with NormalHedge over the candidates."""
    return _followed(case, Regimes(case.emission, hedger=NormalHedge(memory=100)))


def ours(case: Case) -> Said:
    """Regimes as it is, told nothing but the family."""
    return _followed(case, Regimes(case.emission))


NAMED: tuple[Rival, ...] = (em_500, em_1000, refitted, forgetting_bayes)
"""Those that the figures are measured by."""

RIVALS: tuple[Rival, ...] = (
    true_filter, *NAMED, rolling, bayes, dynamax, markov_regression, changepoints, normal_hedge,
    ours,
)  # fmt: skip


def _followed(case: Case, regimes: Regimes) -> Said:
    course = regimes.run(case.observations)
    return Said(course.states, course.log_scores)


Fit = Callable[[Floats, Case, Fitted | None], Fitted]


def _refitted(case: Case, times: Any, fitted: Fit) -> Said:
    """Filter with the parameters of the last fit; states keep their names from fit to fit."""
    states, scores = np.zeros(ROUNDS, dtype=np.intp), np.full(ROUNDS, np.nan)
    model: Fitted | None = None
    names: Labels = np.arange(case.states)
    times = list(times)
    for start, stop in zip(times, [*times[1:], ROUNDS], strict=True):
        before = model
        model = fitted(case.observations[:start], case, before)
        if before is not None:
            names = names[assignment(likeness(model.emission, before.emission))]
        said = filtered(model, case.observations[:stop])
        scores[start:stop] = said.scores[start:]
        states[start:stop] = names[said.states[start:]]
    return Said(states, scores)


def filtered(model: Fitted, observations: Floats) -> Said:
    """Filter with given parameters."""
    beliefs, logs = model.filtered(observations)
    joint = np.log(np.maximum(beliefs[:-1], 1e-300)) + model.emission.log_density(observations)
    return Said(joint.argmax(axis=1), logs)


def _our_fit(seen: Floats, case: Case, before: Fitted | None) -> Fitted:
    del before
    return fit(seen, case.states, case.emission, rng=np.random.default_rng(0), starts=10)


def hmmlearn_fit(seen: Floats, case: Case, before: Fitted | None) -> Fitted:
    """Return the likeliest of hmmlearn's fits: from the last one, and from three divisions."""
    table = seen.reshape(len(seen), -1)
    unit = (table - table.mean(axis=0)) / table.std(axis=0)
    k, found = case.states, [] if before is None else [_hmmlearn(table, before)]
    for labels in _starts.divisions(_starts.prepare(unit), k, 3, np.random.default_rng(0)):
        groups = [table[labels == s] if (labels == s).sum() > 5 else table for s in range(k)]
        chain = np.full(k, 1.0 / k), _starts.transition(labels, k)
        found.append(
            _hmmlearn(table, Fitted(*chain, _of_groups(groups, case), 0.0, 0, np.empty(0)))
        )
    return max(found, key=lambda model: model.log_likelihood)


def _of_groups(groups: list[Floats], case: Case) -> Any:
    means = np.array([group.mean(axis=0) for group in groups])
    if case.emission == "poisson":
        return Poisson(np.maximum(means[:, 0], 0.01))
    if case.emission == "full":
        return FullGaussian(means, np.array([np.cov(group.T) for group in groups]))
    return Gaussian(means[:, 0], np.array([group.std() for group in groups]))


def _hmmlearn(table: Floats, start: Fitted) -> Fitted:
    """Run hmmlearn's EM from given parameters."""
    from hmmlearn import hmm  # noqa: PLC0415

    k, settings = start.states, {"n_iter": 50, "tol": 1e-2, "init_params": ""}
    emission: Any = start.emission
    if isinstance(emission, Poisson):
        model = hmm.PoissonHMM(k, **settings)
        model.lambdas_ = emission.rates[:, np.newaxis]
    elif isinstance(emission, FullGaussian):
        model = hmm.GaussianHMM(k, "full", **settings)
        model.means_, model.covars_ = emission.means, emission.covariances
    else:
        model = hmm.GaussianHMM(k, "diag", **settings)
        model.means_ = emission.means[:, np.newaxis]
        model.covars_ = emission.deviations[:, np.newaxis] ** 2
    model.startprob_, model.transmat_ = start.initial, start.transition
    values = table.astype(int) if isinstance(emission, Poisson) else table
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(values)
        total = float(model.score(values))
    if isinstance(emission, Poisson):
        emission = Poisson(np.maximum(model.lambdas_[:, 0], 1e-3))
    elif isinstance(emission, FullGaussian):
        emission = FullGaussian(model.means_, model.covars_)
    else:
        emission = Gaussian(model.means_[:, 0], np.sqrt(model.covars_[:, 0, 0]))
    return Fitted(model.startprob_, model.transmat_, emission, total, 0, np.empty(0))


def _dynamax_fit(seen: Floats, case: Case, before: Fitted | None) -> Fitted:
    jax: Any = import_module("jax")
    models: Any = import_module("dynamax.hidden_markov_model")
    del before
    jax.config.update("jax_enable_x64", val=True)
    table = seen.reshape(len(seen), -1)
    model = models.GaussianHMM(case.states, table.shape[1])
    found = []
    for seed in range(3):
        given, props = model.initialize(jax.random.PRNGKey(seed), method="kmeans", emissions=table)
        given, logs = model.fit_em(given, props, table, num_iters=50, verbose=False)
        found.append((float(logs[-1]), given))
    total, given = max(found, key=lambda one: one[0])
    means, covariances = np.asarray(given.emissions.means), np.asarray(given.emissions.covs)
    emission: Any = (
        FullGaussian(means, covariances)
        if case.emission == "full"
        else Gaussian(means[:, 0], np.sqrt(covariances[:, 0, 0]))
    )
    moves = np.asarray(given.transitions.transition_matrix)
    return Fitted(np.asarray(given.initial.probs), moves, emission, total, 0, np.empty(0))


def _statsmodels_fit(seen: Floats, case: Case, before: Fitted | None) -> Fitted:
    module: Any = import_module("statsmodels.tsa.regime_switching.markov_regression")
    del before
    k = case.states
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.random.seed(0)  # noqa: NPY002 -- its search draws from there
        model = module.MarkovRegression(seen, k, trend="c", switching_variance=True)
        found = model.fit(search_reps=5, disp=False)
    given = dict(zip(model.param_names, found.params, strict=True))
    emission = Gaussian(
        np.array([given[f"const[{s}]"] for s in range(k)]),
        np.sqrt([max(given[f"sigma2[{s}]"], 1e-8) for s in range(k)]),
    )
    moves = np.clip(found.regime_transition[:, :, 0].T, 1e-10, None)
    moves /= moves.sum(axis=1, keepdims=True)
    return Fitted(np.full(k, 1.0 / k), moves, emission, float(found.llf), 0, np.empty(0))


def _bank(case: Case) -> Iterator[Fitted]:
    """Yield models fitted to all of the first 500 rounds and to windows of them."""
    rng = np.random.default_rng(0)
    seen = case.observations[:FIRST]
    yield fit(seen, case.states, case.emission, rng=rng, starts=10)
    for _ in range(BANK - 1):
        length = int(rng.integers(100, FIRST))
        start = int(rng.integers(FIRST - length + 1))
        yield fit(seen[start : start + length], case.states, case.emission, rng=rng, starts=3)


def _averaged(case: Case, forgetting: float) -> Said:
    """Weigh models by w <- w^forgetting p(y); name their states as those of the first."""
    models = list(_bank(case))
    logs, states = np.empty((BANK, ROUNDS)), np.zeros((BANK, ROUNDS, case.states))
    for n, model in enumerate(models):
        beliefs, logs[n] = model.filtered(case.observations)
        joint = np.log(np.maximum(beliefs[:-1], 1e-300))
        joint += model.emission.log_density(case.observations)
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        names = assignment(likeness(model.emission, models[0].emission))
        states[n][:, names] = joint / joint.sum(axis=1, keepdims=True)
    weights, scores = np.zeros(BANK), np.full(ROUNDS, np.nan)
    found = np.zeros(ROUNDS, dtype=np.intp)
    for t in range(FIRST, ROUNDS):
        weights -= np.logaddexp.reduce(weights)
        weights += logs[:, t]
        scores[t] = np.logaddexp.reduce(weights)
        found[t] = (np.exp(weights - scores[t]) @ states[:, t]).argmax()
        weights *= forgetting
    return Said(found, scores)


def judged(said: Said | None, case: Case) -> tuple[float, float]:
    """Return agreement and mean log score after round 1,000; NaN where there is none."""
    if said is None:
        return math.nan, math.nan
    states = said.states[JUDGED:]
    share = math.nan if states.min() < 0 else agreement(states, case.truth[JUDGED:])
    return share, float(np.mean(said.scores[JUDGED:]))
