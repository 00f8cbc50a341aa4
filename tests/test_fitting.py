import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from normalhedge import _core
from normalhedge.latent.models.emissions import (
    FAMILIES,
    Autoregressive,
    Categorical,
    DiagonalGaussian,
    Emission,
    FullGaussian,
    Gaussian,
    NegativeBinomial,
    Poisson,
    StudentT,
)
from normalhedge.latent.models.fitted import Fitted
from normalhedge.latent.models.fitting import fit
from normalhedge.latent.models.online_em import OnlineEM

STICKY = np.array([[0.95, 0.05], [0.1, 0.9]])
EXAMPLES: dict[str, Emission] = {
    "gaussian": Gaussian(np.array([-1.0, 2.0]), np.array([1.0, 0.5])),
    "student": StudentT(np.array([-1.0, 3.0]), np.array([1.0, 0.5]), np.array([4.0, 9.0])),
    "autoregressive": Autoregressive(
        np.array([0.0, 1.0]), np.array([0.8, -0.3]), np.array([0.5, 1.0])
    ),
    "poisson": Poisson(np.array([2.0, 9.0])),
    "negative_binomial": NegativeBinomial(np.array([2.0, 12.0]), np.array([3.0, 6.0])),
    "categorical": Categorical(np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])),
    "diagonal": DiagonalGaussian(
        np.array([[-1.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 0.5], [0.5, 2.0]])
    ),
    "full": FullGaussian(
        np.array([[-1.0, 0.0], [1.0, 2.0]]),
        np.array([[[1.0, 0.5], [0.5, 2.0]], [[0.5, -0.3], [-0.3, 1.0]]]),
    ),
}


def model(emission: Emission, transition: np.ndarray = STICKY) -> Fitted:
    k = emission.states
    return Fitted(np.full(k, 1.0 / k), transition, emission, math.nan, 0, np.empty(0))


def series(name: str, rounds: int = 400, seed: int = 0) -> np.ndarray:
    return model(EXAMPLES[name]).sample(rounds, np.random.default_rng(seed))[1]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_there_is_an_example_of_each_family() -> None:
    assert list(EXAMPLES) == list(FAMILIES)
    assert all(type(EXAMPLES[name]) is family for name, family in FAMILIES.items())


# The expectation step


def enumerated(
    logs: np.ndarray, initial: np.ndarray, transition: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return smoothed states, expected transitions and ln P(y), by adding up all paths."""
    rounds, k = logs.shape
    smoothed, moves, total = np.zeros((rounds, k)), np.zeros((k, k)), 0.0
    for path in itertools.product(range(k), repeat=rounds):
        p = initial[path[0]] * math.exp(sum(logs[t, s] for t, s in enumerate(path)))
        for r, s in itertools.pairwise(path):
            p *= transition[r, s]
        total += p
        for t, s in enumerate(path):
            smoothed[t, s] += p
        for r, s in itertools.pairwise(path):
            moves[r, s] += p
    return smoothed / total, moves / total, math.log(total)


@pytest.mark.parametrize(("rounds", "k"), [(1, 1), (1, 3), (5, 1), (6, 2), (5, 3), (4, 4), (3, 6)])
def test_expectation_is_adding_up_paths(rounds: int, k: int) -> None:
    draw = rng(rounds * k)
    logs = draw.normal(0.0, 3.0, size=(rounds, k))
    initial, transition = draw.dirichlet(np.ones(k)), draw.dirichlet(np.ones(k), size=k)
    smoothed, moves = np.empty((rounds, k)), np.empty((k, k))
    total = _core.em_expect(logs, initial, transition, smoothed, moves)
    wanted = enumerated(logs, initial, transition)
    np.testing.assert_allclose(smoothed, wanted[0], rtol=1e-11)
    np.testing.assert_allclose(moves, wanted[1], rtol=1e-11)
    assert total == pytest.approx(wanted[2], abs=1e-11)


def test_expectation_survives_what_is_impossible_and_far_away() -> None:
    transition = np.array([[1.0, 0.0], [0.0, 1.0]])
    logs = np.array([[0.0, -1e5], [-1e5, 0.0], [-np.inf, -np.inf], [-1e300, 3e4]])
    smoothed, moves = np.empty((4, 2)), np.empty((2, 2))
    total = _core.em_expect(logs, np.array([0.5, 0.5]), transition, smoothed, moves)
    assert math.isfinite(total)
    np.testing.assert_allclose(smoothed.sum(axis=1), 1.0)
    assert moves.sum() == pytest.approx(3.0)


def test_filtering_multiplies_to_the_likelihood() -> None:
    seen = series("gaussian", 50)
    seen[[3, 4, 20]] = np.nan
    truth = model(EXAMPLES["gaussian"])
    beliefs, logs = truth.filtered(seen)
    states, _, total = truth.smoothed(seen)
    assert logs.sum() == pytest.approx(total, abs=1e-10)
    np.testing.assert_array_equal(logs[[3, 4, 20]].round(12), 0.0)
    np.testing.assert_allclose(beliefs[-1], states[-1] @ STICKY, rtol=1e-10)


# Emissions


def scipy_logs(name: str, emission: Any, y: np.ndarray) -> np.ndarray:
    stats = pytest.importorskip("scipy.stats")
    y = y[:, np.newaxis]
    found: dict[str, Callable[[Any], Any]] = {
        "gaussian": lambda e: stats.norm.logpdf(y, e.means, e.deviations),
        "student": lambda e: stats.t.logpdf(y, e.degrees, e.locations, e.scales),
        "poisson": lambda e: stats.poisson.logpmf(y, e.rates),
        "negative_binomial": lambda e: stats.nbinom.logpmf(
            y, e.sizes, e.sizes / (e.sizes + e.means)
        ),
        "categorical": lambda e: np.log(e.probabilities.T[y[:, 0].astype(int)]),
        "diagonal": lambda e: stats.norm.logpdf(y, e.means, e.deviations).sum(axis=2),
        "full": lambda e: np.column_stack(
            [
                stats.multivariate_normal.logpdf(y[:, 0], *both)
                for both in zip(e.means, e.covariances, strict=True)
            ]
        ),
    }
    return np.asarray(found[name](emission))


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "autoregressive"])
def test_densities_are_those_of_scipy(name: str) -> None:
    seen, emission = series(name, 60), EXAMPLES[name]
    wanted = scipy_logs(name, emission, seen)
    np.testing.assert_allclose(emission.log_density(seen), wanted, rtol=1e-11, atol=1e-12)
    seen[5] = np.nan
    np.testing.assert_array_equal(emission.log_density(seen)[5], 0.0)


def test_large_counts_have_densities() -> None:
    seen = np.array([0.0, 511.0, 512.0, 1e6])
    for name, emission in (
        ("poisson", Poisson(np.array([0.3, 500.0]))),
        ("negative_binomial", NegativeBinomial(np.array([0.3, 500.0]), np.array([0.01, 300.0]))),
    ):
        wanted = scipy_logs(name, emission, seen)
        np.testing.assert_allclose(emission.log_density(seen), wanted, rtol=1e-9)


def test_an_autoregression_is_normal_around_the_last() -> None:
    emission = EXAMPLES["autoregressive"]
    assert isinstance(emission, Autoregressive)
    seen = np.array([1.0, 2.0, np.nan, 0.5, -1.0])
    logs = emission.log_density(seen)
    np.testing.assert_array_equal(logs[[0, 2, 3]], 0.0)  # nothing is known before them
    for t in (1, 4):
        around = Gaussian(emission.means_after(seen[t - 1]), emission.deviations)
        np.testing.assert_allclose(logs[t], around.log_density(seen[t : t + 1])[0], rtol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_moments_are_those_of_samples(name: str) -> None:
    emission = EXAMPLES[name]
    for s, (mean, variance) in enumerate(zip(*emission.moments(), strict=True)):
        drawn = emission.sample(np.full(20_000, s), rng(s))
        np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.15)
        np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.15)


@pytest.mark.parametrize("name", FAMILIES)
def test_states_can_be_put_in_order(name: str) -> None:
    emission, seen = EXAMPLES[name], series(name, 30)
    turned = emission.permuted([1, 0])
    np.testing.assert_allclose(
        turned.log_density(seen), emission.log_density(seen)[:, ::-1], rtol=1e-13
    )
    np.testing.assert_array_equal(turned.order(), emission.order()[::-1])
    again = type(emission).from_parameters(emission.parameters())
    np.testing.assert_allclose(again.log_density(seen), emission.log_density(seen), rtol=1e-12)


def test_equal_means_are_ordered_by_deviation() -> None:
    emission = Gaussian(np.array([1.0, 1.0, 0.0]), np.array([2.0, 1.0, 5.0]))
    assert emission.order().tolist() == [2, 1, 0]


def test_distribution_functions_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    x = np.concatenate([np.linspace(-9.0, 9.0, 41), [-1e3, 1e3, -1e-9, 40.0]])
    column = x[:, np.newaxis]
    normal: Any = EXAMPLES["gaussian"]
    wanted = stats.norm.cdf(column, normal.means, normal.deviations)
    np.testing.assert_allclose(normal.cdf(x), wanted, rtol=1e-12)
    degrees = np.array([2.05, 3.0, 8.0, 30.0, 200.0])
    student = StudentT(np.linspace(-1.0, 1.0, 5), np.linspace(0.1, 2.0, 5), degrees)
    wanted = stats.t.cdf(column, degrees, student.locations, student.scales)
    np.testing.assert_allclose(student.cdf(x), wanted, rtol=1e-9, atol=1e-300)
    counts: Any = EXAMPLES["poisson"]
    np.testing.assert_allclose(counts.cdf(x), stats.poisson.cdf(column, counts.rates), atol=1e-13)
    more: Any = EXAMPLES["negative_binomial"]
    wanted = stats.nbinom.cdf(column, more.sizes, more.sizes / (more.sizes + more.means))
    np.testing.assert_allclose(more.cdf(x), wanted, atol=1e-12)
    symbols: Any = EXAMPLES["categorical"]
    np.testing.assert_allclose(symbols.cdf([-1, 0, 1.5, 7]).T[0], [0.0, 0.7, 0.9, 1.0])
    follower: Any = EXAMPLES["autoregressive"]
    around = Gaussian(follower.means_after(0.7), follower.deviations)
    np.testing.assert_allclose(follower.cdf(x, 0.7), around.cdf(x), rtol=1e-12)


# Fits


@pytest.mark.parametrize("pseudo_count", [0.0, 0.1])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_maximised_never_decreases(
    name: str, k: int, gaps: bool, pseudo_count: float
) -> None:
    seen = series(name, 150, seed=k)
    if gaps:
        seen[rng(1).random(len(seen)) < 0.2] = np.nan
    for seed in range(3):
        settings: dict[str, Any] = {"iterations": 40, "tolerance": 0.0, "starts": seed + 1}
        found = fit(seen, k, name, rng=rng(seed), pseudo_count=pseudo_count, **settings)
        assert np.diff(found.trace).min(initial=0.0) > -1e-7
        assert found.log_likelihood == pytest.approx(found.smoothed(seen)[2], abs=1e-6)
        assert len(found.trace) == found.iterations + 1
        assert found.emission.order().tolist() == list(range(k))


@pytest.mark.parametrize("name", FAMILIES)
def test_parameters_are_found(name: str) -> None:
    truth = EXAMPLES[name].permuted(EXAMPLES[name].order())
    seen = series(name, 6_000, seed=3)
    found = fit(seen, 2, name, rng=rng(), iterations=200)
    assert found.log_likelihood > model(EXAMPLES[name]).smoothed(seen)[2]
    for mine, other in zip(found.emission.moments(), truth.moments(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=0.25, atol=0.1)
    stays = np.sort(np.diagonal(found.transition))
    np.testing.assert_allclose(stays, [0.9, 0.95], atol=0.02)


def test_degrees_of_freedom_are_found() -> None:
    seen = series("student", 8_000, seed=5)
    found = fit(seen, 2, "student", rng=rng(), iterations=300).emission
    assert isinstance(found, StudentT)
    assert 3.0 < found.degrees[0] < 5.0
    assert 6.0 < found.degrees[1] < 14.0
    fixed = fit(seen, 2, "student", rng=rng(), degrees=4.0).emission
    assert isinstance(fixed, StudentT)
    np.testing.assert_array_equal(fixed.degrees, 4.0)


def test_normal_numbers_have_many_degrees_of_freedom() -> None:
    found = fit(rng().normal(size=2_000), 1, "student", rng=rng(), iterations=300).emission
    assert isinstance(found, StudentT)
    assert found.degrees[0] > 25.0


def hmmlearn_fit(name: str, start: Fitted, seen: np.ndarray, iterations: int) -> float:
    """Return the log likelihood that hmmlearn arrives at from the same start."""
    hmm = pytest.importorskip("hmmlearn.hmm")
    common: dict[str, Any] = {
        "n_components": start.states,
        "init_params": "",
        "n_iter": iterations,
        "tol": -math.inf,
    }
    emission: Any = start.emission
    if name in {"gaussian", "diagonal", "full"}:
        kind = "full" if name == "full" else "diag"
        theirs = hmm.GaussianHMM(covariance_type=kind, covars_prior=0.0, **common)
        theirs.means_ = emission.means.reshape(start.states, -1)
        theirs.covars_ = (
            emission.covariances
            if name == "full"
            else emission.deviations.reshape(start.states, -1) ** 2
        )
    elif name == "poisson":
        theirs = hmm.PoissonHMM(**common)
        theirs.lambdas_ = emission.rates[:, np.newaxis]
    else:
        theirs = hmm.CategoricalHMM(n_features=emission.symbols, **common)
        theirs.emissionprob_ = emission.probabilities
    theirs.startprob_, theirs.transmat_ = start.initial, start.transition
    table = seen.reshape(len(seen), -1)
    table = table if name in {"gaussian", "diagonal", "full"} else table.astype(int)
    theirs.fit(table)
    return float(theirs.score(table))


@pytest.mark.parametrize("iterations", [1, 400])
@pytest.mark.parametrize("name", ["gaussian", "diagonal", "full", "poisson", "categorical"])
def test_the_optimum_is_that_of_hmmlearn(name: str, iterations: int) -> None:
    seen = series(name, 500, seed=7)
    start = model(EXAMPLES[name], np.array([[0.6, 0.4], [0.4, 0.6]]))
    ours = fit(
        seen,
        2,
        name,
        rng=rng(),
        starts=0,
        warm=start,
        iterations=iterations,
        tolerance=0.0 if iterations == 1 else 1e-12,
        pseudo_count=0.0,
        floor=1e-12,
    )
    theirs = hmmlearn_fit(name, start, seen, iterations)
    assert ours.log_likelihood == pytest.approx(theirs, abs=1e-6)


def test_an_autoregression_is_that_of_statsmodels() -> None:
    switching = pytest.importorskip("statsmodels.tsa.regime_switching.markov_regression")
    seen = series("autoregressive", 600, seed=2)
    found = fit(
        seen, 2, "autoregressive", rng=rng(), pseudo_count=0.0, iterations=2_000, tolerance=1e-10
    )
    emission: Any = found.emission
    theirs = switching.MarkovRegression(
        seen[1:], 2, exog=seen[:-1], switching_variance=True, switching_exog=True
    )
    # They let time pass twice before their first observation, which is our second.
    known = np.array([0.3, 0.7])
    theirs.initialize_known(known)
    ours = replace(found, initial=known @ found.transition)
    rows = [emission.intercepts, emission.slopes, emission.deviations**2]
    given = np.concatenate([found.transition[:, 0], *rows])
    assert theirs.loglike(given) == pytest.approx(ours.smoothed(seen)[2], abs=1e-8)


@pytest.mark.parametrize("name", ["gaussian", "student", "autoregressive", "diagonal", "full"])
def test_units_do_not_matter(name: str) -> None:
    seen = series(name, 300)
    plain = fit(seen, 2, name, rng=rng())
    for centre, width in ((1e6, 1.0), (0.0, 1e-60), (-3e90, 1e85)):
        there = fit(centre + width * seen, 2, name, rng=rng())
        means, variances = plain.emission.moments()
        np.testing.assert_allclose(there.emission.moments()[0], centre + width * means, rtol=1e-4)
        np.testing.assert_allclose(there.emission.moments()[1], width**2 * variances, rtol=1e-3)


def test_a_warm_start_is_taken() -> None:
    seen = series("gaussian", 500)
    found = fit(seen, 2, rng=rng(), tolerance=1e-8, iterations=500)
    again = fit(seen, 2, rng=rng(), starts=0, warm=found)
    assert again.iterations <= 2
    assert again.log_likelihood == pytest.approx(found.log_likelihood, abs=1e-4)


def test_missing_values_teach_nothing() -> None:
    seen = series("gaussian", 300)
    gapped = np.insert(seen, [50, 50, 200], np.nan)
    around = np.concatenate([[np.nan] * 3, seen, [np.nan] * 5])
    plain = fit(seen, 1, rng=rng())
    for other in (gapped, around):
        found = fit(other, 1, rng=rng())
        assert found.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-9)
    table = series("full", 100)
    table[3, 0] = np.nan
    assert (EXAMPLES["full"].log_density(table)[3] == 0.0).all()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize(
    "seen",
    [[1.0], [0.0], [3.0] * 50, [0.0] * 40, [1.0, 2.0], [0.0, 1.0] * 20, [np.nan, 1.0, np.nan]],
    ids=str,
)
def test_small_and_dull_series_give_a_model(name: str, k: int, seen: list[float]) -> None:
    values = np.array(seen)
    if name in {"diagonal", "full"}:
        values = np.column_stack([values, values])
    found = fit(values, k, name, rng=rng(), starts=6, iterations=20)
    for part in (found.initial, found.transition, *found.emission.moments()):
        assert np.isfinite(part).all()
    assert np.isfinite(found.log_likelihood)
    np.testing.assert_allclose(found.transition.sum(axis=1), 1.0)


def test_no_state_collapses_on_one_observation() -> None:
    seen = np.append(rng().normal(size=100), 50.0)
    found = fit(seen, 3, rng=rng(), starts=10).emission
    assert isinstance(found, Gaussian)
    assert found.deviations.min() >= 0.999e-2 * seen.std()


@pytest.mark.parametrize(
    ("values", "settings", "words"),
    [
        ([1.0, np.inf], {}, "finite numbers"),
        ([1e200], {}, "within"),
        ([np.nan, np.nan], {}, "not missing"),
        ([], {}, "not missing"),
        ([[1.0, 2.0]], {}, "shape T"),
        (["a"], {}, "real numbers"),
        ([1.0], {"states": 0}, "states must be at least 1"),
        ([1.0], {"starts": 0}, "starts must be at least 1"),
        ([1.0], {"iterations": 0}, "iterations must be at least 1"),
        ([1.0], {"tolerance": -1.0}, "tolerance must be"),
        ([1.0], {"emission": "cauchy"}, "emission must be one of"),
        ([1.0], {"degrees": 3.0}, "degrees are for"),
        ([1.0], {"emission": "student", "degrees": 2.0}, "degrees must be"),
        ([1.0], {"pseudo_count": -1.0}, "pseudo_count must be"),
        ([1.0], {"floor": 0.0}, "floor must be"),
        ([1.0], {"symbols": 3}, "symbols are for"),
        ([-1.0], {"emission": "poisson"}, "counts"),
        ([0.5], {"emission": "negative_binomial"}, "counts"),
        ([0.5], {"emission": "categorical"}, "symbols"),
        ([3.0], {"emission": "categorical", "symbols": 3}, "symbols below 3"),
        ([1.0], {"warm": model(EXAMPLES["poisson"])}, "warm must be a Gaussian model"),
    ],
)
def test_bad_input_gets_a_sentence(values: Any, settings: dict[str, Any], words: str) -> None:
    given = {"states": 2, **settings}
    with pytest.raises((ValueError, TypeError), match=words):
        fit(values, rng=rng(), **given)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gaussian(np.zeros(2), np.zeros(2)), "deviations must be larger"),
        (lambda: Gaussian(np.zeros(2), np.ones(3)), "as many states"),
        (lambda: Gaussian(np.array([np.nan]), np.ones(1)), "finite"),
        (lambda: StudentT(np.zeros(1), np.ones(1), np.ones(1)), "degrees must be larger than 2"),
        (lambda: Autoregressive(np.zeros(1), np.ones(1), np.ones(1)), "slopes"),
        (lambda: Categorical(np.array([[0.5, 0.6]])), "summing to one"),
        (lambda: FullGaussian(np.zeros((1, 2)), np.ones((1, 2, 2)) * 2.0 - 3.0), "eigenvalues"),
        (lambda: FullGaussian(np.zeros((1, 2)), np.array([[[1, 0], [0.5, 1]]])), "symmetric"),
        (lambda: EXAMPLES["gaussian"].permuted([0, 0]), "each of the 2 states"),
        (lambda: EXAMPLES["categorical"].log_density([3.0]), "below 3"),
        (lambda: EXAMPLES["gaussian"].sample([2], rng()), "below 2"),
        (lambda: OnlineEM(model(EXAMPLES["gaussian"]), 1.0), "forgetting"),
        (lambda: OnlineEM(model(EXAMPLES["gaussian"]), 0.9, beliefs=[1.0]), "beliefs"),
        (lambda: OnlineEM(model(EXAMPLES["poisson"]), 0.9).observe(-1.0), "counts"),
        (lambda: OnlineEM(model(EXAMPLES["gaussian"]), 0.9).observe(np.inf), "finite"),
    ],
)
def test_bad_emissions_get_a_sentence(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


# Online


@pytest.mark.parametrize("name", FAMILIES)
def test_online_is_the_same_at_once_and_one_by_one(name: str) -> None:
    seen = series(name, 60)
    seen[[7, 8]] = np.nan
    start = model(EXAMPLES[name])
    at_once, one_by_one = OnlineEM(start, 0.95), OnlineEM(start, 0.95)
    went = at_once.run(seen)
    for t, y in enumerate(seen):
        np.testing.assert_allclose(one_by_one.beliefs, went.beliefs[t], rtol=1e-12)
        means = went.emissions.moments()[0].reshape(len(seen), 2, -1)[t]
        np.testing.assert_allclose(
            one_by_one.emission.moments()[0].reshape(2, -1), means, rtol=1e-9
        )
        given = y if y.ndim else float(y)
        assert one_by_one.observe(given) == pytest.approx(went.log_densities[t], abs=1e-9)
    assert went.log_densities[7] == 0.0


@pytest.mark.parametrize("name", FAMILIES)
def test_online_stays_where_the_truth_is(name: str) -> None:
    online = OnlineEM(model(EXAMPLES[name]), 0.999)
    seen = series(name, 8_000, seed=4)
    went = online.run(seen)
    truth = EXAMPLES[name].moments()
    for mine, other in zip(online.emission.moments(), truth, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0.4, atol=0.25)
    best = model(EXAMPLES[name]).filtered(seen)[1].mean()
    assert went.log_densities.mean() > best - 0.02


def test_the_first_step_online_is_the_expectation_step() -> None:
    """With statistics of no weight before, S is what forward and backward over T rounds say."""
    truth = model(EXAMPLES["gaussian"])
    seen, rate = series("gaussian", 8), 1e-7
    online = OnlineEM(truth, 1.0 - rate, pseudo_count=0.0, beliefs=[0.5, 0.5])
    before = online.transition
    online.run(seen)
    change = (online.transition - before) / rate  # of A = S_ij / S_i, to first order in the rate
    logs = np.vstack([np.zeros(2), truth.emission.log_density(seen)])
    smoothed, moves = np.empty((9, 2)), np.empty((2, 2))
    _core.em_expect(logs, np.array([0.5, 0.5]), STICKY.copy(), smoothed, moves)
    shares = truth.stationary()
    wanted = (moves - moves.sum(axis=1, keepdims=True) * STICKY) / shares[:, np.newaxis]
    np.testing.assert_allclose(change, wanted, rtol=1e-4, atol=1e-4)


def test_online_follows_a_mean_that_drifts() -> None:
    draw = rng(8)
    path, _ = model(EXAMPLES["gaussian"]).sample(6_000, draw)
    drift = np.linspace(0.0, 12.0, len(path))
    seen = EXAMPLES["gaussian"].sample(path, draw) + drift
    start = fit(seen[:300], 2, rng=rng())
    online = OnlineEM(start, 0.99)
    went = online.run(seen[300:])
    means = online.emission.moments()[0]
    np.testing.assert_allclose(means, [11.0, 14.0], atol=0.6)
    fixed = start.filtered(seen[300:])[1]
    assert went.log_densities.mean() > fixed.mean() + 1.0


def test_online_survives_a_jump_a_gap_and_a_constant() -> None:
    online = OnlineEM(model(EXAMPLES["gaussian"]), 0.9)
    seen = np.concatenate([np.full(50, np.nan), np.full(300, 1e9), np.full(50, -5.0)])
    went = online.run(seen)
    assert np.isfinite(went.log_densities).all()
    assert np.isfinite(online.emission.moments()).all()
    np.testing.assert_allclose(online.transition.sum(axis=1), 1.0)
