"""Breaks and wandering levels, beside sums over all partitions and exact filters."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate, stats

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import FAMILIES
from normalhedge.latent.regimes._series_models import (
    GROWTHS,
    MEMORY,
    MODELS,
    RARE,
    RATIOS,
    RUNS,
    Conjugate,
)

SHAPE = 1.1  # of the prior of a precision
SYMBOLS = 3


def series(family: str, rounds: int, seed: int = 1) -> Floats:
    rng = np.random.default_rng(seed)
    level = np.where(np.arange(rounds) < rounds // 2, 0.0, 4.0)
    if family == "negative_binomial":
        return rng.poisson(2.0 + level).astype(float)[:, np.newaxis]
    if family == "categorical":
        shares = np.where(level[:, np.newaxis] > 0.0, [0.1, 0.1, 0.8], [0.6, 0.3, 0.1])
        return np.array([[rng.choice(SYMBOLS, p=p)] for p in shares], dtype=float)
    columns = 2 if family == "diagonal" else 1
    return level[:, np.newaxis] + rng.normal(size=(rounds, columns))


def symbols_of(family: str) -> int | None:
    return SYMBOLS if family == "categorical" else None


def prior(family: str, before: Floats) -> tuple[Floats, ...]:
    """The prior of a run, from all observations before it."""
    if family == "negative_binomial":
        return np.maximum(before.mean(axis=0), 0.1), np.ones(1)
    if family == "categorical":
        counts = np.bincount(before[:, 0].astype(int), minlength=SYMBOLS) + 1.0
        return (2.0 * counts / counts.sum(),)
    ones = np.ones(before.shape[1])
    return before.mean(axis=0), ones, SHAPE * ones, SHAPE * before.var(axis=0)


def log_predictive(family: str, known: tuple[Floats, ...], run: Floats, y: Floats) -> float:
    """ln p(y | run), from sums over the run."""
    n = len(run)
    if family == "negative_binomial":
        a, b = known[0] + run.sum(axis=0), known[1] + n
        return float(stats.nbinom.logpmf(y, a, b / (b + 1.0))[0])
    if family == "categorical":
        counts = np.bincount(run[:, 0].astype(int), minlength=SYMBOLS) + known[0]
        return float(np.log(counts[int(y[0])] / counts.sum()))
    m, k, a, b = known
    centre = (k * m + run.sum(axis=0)) / (k + n)
    spread = n * run.var(axis=0) + k * n / (k + n) * (run.mean(axis=0) - m) ** 2 if n else 0.0
    shape, rate = a + 0.5 * n, b + 0.5 * spread
    scale = np.sqrt(rate * (k + n + 1.0) / (shape * (k + n)))
    if family == "student":
        return float(stats.t.logpdf(y, 2.0 * shape, centre, scale)[0])
    return float(stats.norm.logpdf(y, centre, scale * np.sqrt(shape / (shape - 1.0))).sum())


def sum_over_partitions(
    family: str, seen: Floats, learned: int, hazards: Floats, shares: Floats
) -> Floats:
    """ln p(y_1..y_t) for each t, by all ways to cut the series."""
    result = []
    for rounds in range(1, len(seen) + 1):
        logs = []
        for changes in product([0, 1], repeat=rounds - 1):
            ends = [0, *(np.flatnonzero(changes) + 1).tolist(), rounds]
            log = 0.0
            for begin, end in pairwise(ends):
                known = prior(family, seen[: max(begin, learned)])
                log += sum(
                    log_predictive(family, known, seen[begin:t], seen[t]) for t in range(begin, end)
                )
            number = sum(changes)
            chance = shares @ (hazards**number * (1.0 - hazards) ** (rounds - 1 - number))
            logs.append(log + math.log(chance))
        result.append(np.logaddexp.reduce(logs))
    return np.array(result)


@pytest.mark.parametrize("family", ["student", "diagonal", "negative_binomial", "categorical"])
def test_breaks_are_the_sum_over_all_partitions(family: str) -> None:
    seen, learned = series(family, 9), 4
    grid = np.array([0.05, 0.3]), np.array([0.7, 0.3])
    model = Conjugate("breaks", family, (tuple(grid[0]), tuple(grid[1])))
    numbers = model.learn(seen[:learned], symbols_of(family))
    _, rounds = model.run(numbers, seen[learned:])
    totals = sum_over_partitions(family, seen, learned, *grid)
    np.testing.assert_allclose(rounds.logs, np.diff(totals)[learned - 1 :], rtol=1e-10)


def test_probabilities_of_runs_are_sums_over_partitions() -> None:
    seen, learned = series("student", 9), 4
    model = Conjugate("breaks", "student", ((0.1,), (1.0,)))
    numbers, _ = model.run(model.learn(seen[:learned], None), seen[learned:])
    runs = model.runs(numbers)
    logs: dict[int, list[float]] = {}
    for changes in product([0, 1], repeat=len(seen) - 1):
        ends = [0, *(np.flatnonzero(changes) + 1).tolist(), len(seen)]
        log = sum(math.log(0.1 if change else 0.9) for change in changes)
        for begin, end in pairwise(ends):
            known = prior("student", seen[: max(begin, learned)])
            log += sum(
                log_predictive("student", known, seen[begin:t], seen[t]) for t in range(begin, end)
            )
        logs.setdefault(len(seen) - ends[-2], []).append(log)
    totals = {ago: np.logaddexp.reduce(part) for ago, part in logs.items()}
    everything = np.logaddexp.reduce(list(totals.values()))
    found = dict(zip(runs[:, 0].astype(int).tolist(), runs[:, 1].tolist(), strict=True))
    assert found == pytest.approx({ago: math.exp(t - everything) for ago, t in totals.items()})


@pytest.mark.parametrize("name", MODELS)
def test_rounds_one_by_one_are_the_same_to_the_bit(name: str) -> None:
    model = MODELS[name]
    seen = series(model.family, 120)
    seen[30:33] = seen[70] = np.nan
    numbers = model.learn(seen[:20], symbols_of(model.family))
    before = numbers.copy()
    together, rounds = model.run(numbers, seen[20:])
    np.testing.assert_array_equal(numbers, before)
    assert (rounds.logs[np.isnan(seen[20:, 0])] == 0.0).all()
    for t, row in enumerate(seen[20:]):
        numbers, one = model.run(numbers, row[np.newaxis])
        for part, whole in zip(one, rounds, strict=True):
            np.testing.assert_array_equal(part[0], whole[t])
    np.testing.assert_array_equal(numbers, together)


@pytest.mark.parametrize("name", MODELS)
def test_components_are_the_prediction(name: str) -> None:
    model = MODELS[name]
    seen = series(model.family, 60)
    numbers = model.learn(seen[:40], symbols_of(model.family))
    for row in seen[40:]:
        shares, rows = model.components(numbers)
        emission = FAMILIES[model.family].from_core(rows)
        assert shares.sum() == pytest.approx(1.0, rel=1e-12)
        log = np.log(shares @ np.exp(emission.log_density(row[np.newaxis])[0]))
        numbers, rounds = model.run(numbers, row[np.newaxis])
        assert rounds.logs[0] == pytest.approx(log, rel=1e-9)
        if model.family != "categorical":
            means, variances = (part.reshape(len(shares), -1) for part in emission.moments())
            mean = shares @ means
            np.testing.assert_allclose(rounds.means[0], mean, rtol=1e-9)
            variance = shares @ (variances + np.square(means - mean))
            np.testing.assert_allclose(rounds.variances[0], variance, rtol=1e-9)


def test_a_break_may_come_in_each_of_the_next_rounds() -> None:
    model = Conjugate("breaks", "student", ((0.1,), (1.0,)))
    numbers = model.learn(series("student", 30), None)
    now, later = (model.components(numbers, rounds) for rounds in (1, 5))
    assert now[0][0] == pytest.approx(0.1)
    assert later[0][0] == pytest.approx(1.0 - 0.9**5)
    np.testing.assert_allclose(later[0][1:] / later[0][1:].sum(), now[0][1:] / 0.9, rtol=1e-12)
    np.testing.assert_array_equal(later[1], now[1])


def kalman(seen: Floats, ratio: float, variance: float, centre: float) -> float:
    """ln p of a local level with known variances; the level starts at N(centre, variance)."""
    level, spread, total = centre, variance, 0.0
    for y in seen:
        ahead = spread + variance
        total += float(stats.norm.logpdf(y, level, math.sqrt(ahead)))
        gain = spread / ahead
        level, spread = level + gain * (y - level), (1.0 - gain) * spread + ratio * variance
    return total


def test_a_level_that_wanders_is_the_kalman_filter_integrated_over_the_variance() -> None:
    seen, learned = series("student", 12)[:, 0], 4
    centre, spread = seen[:learned].mean(), seen[:learned].var()
    ratios, shares = (0.1, 1.0), (0.25, 0.75)
    model = Conjugate("wandering", "student", (ratios, shares))
    numbers = model.learn(seen[:learned, np.newaxis], None)
    logs = np.cumsum(model.run(numbers, seen[learned:, np.newaxis])[1].logs)

    def density(rounds: int) -> float:
        def weighted(log_variance: float) -> float:
            variance = math.exp(log_variance)
            prior = stats.invgamma.pdf(variance, SHAPE, scale=SHAPE * spread) * variance
            parts = [kalman(seen[:rounds], ratio, variance, centre) for ratio in ratios]
            return float(prior * np.dot(shares, np.exp(parts)))

        return float(integrate.quad(weighted, -12.0, 12.0, limit=400, epsabs=1e-300)[0])

    for rounds in (5, 8, 12):
        exact = math.log(density(rounds) / density(learned))
        assert logs[rounds - learned - 1] == pytest.approx(exact, rel=1e-6)


def test_the_noise_of_a_level_that_wanders_is_forgotten() -> None:
    rng = np.random.default_rng(2)
    seen = np.concatenate([rng.normal(size=2000), 4.0 * rng.normal(size=2000)])[:, np.newaxis]
    logs = []
    for memory in (MEMORY, 1.0):
        model = Conjugate("wandering", "student", RATIOS, memory)
        logs.append(model.run(model.learn(seen[:4], None), seen[4:])[1].logs[2300:].mean())
    truth = -0.5 * math.log(2.0 * math.pi * math.e * 16.0)
    assert logs[0] == pytest.approx(truth, abs=0.08)
    assert logs[0] > logs[1] + 0.02


@pytest.mark.parametrize("family", ["negative_binomial", "categorical"])
def test_rates_and_symbols_that_wander_forget(family: str) -> None:
    seen, learned = series(family, 40), 4
    growth = 0.1
    model = Conjugate("wandering", family, ((growth,), (1.0,)))
    logs = model.run(model.learn(seen[:learned], symbols_of(family)), seen[learned:])[1].logs
    known = [np.array(part, dtype=float) for part in prior(family, seen[:learned])]
    for t, y in enumerate(seen):
        log = log_predictive(family, tuple(known), seen[:0], y)
        if t >= learned:
            assert logs[t - learned] == pytest.approx(log, rel=1e-10)
        if family == "categorical":
            known[0][int(y[0])] += 1.0
        else:
            known[0] += y
            known[1] += 1.0
        known = [part / (1.0 + growth) for part in known]


def test_the_variance_of_a_forecast_grows_with_the_level() -> None:
    model = Conjugate("wandering", "student", ((0.5,), (1.0,)), MEMORY)
    numbers = model.learn(series("student", 200), None)
    widths = [model.components(numbers, rounds)[1][1, 0] for rounds in (1, 2, 11)]
    known = numbers[2:6]  # mean, count, shape, rate
    step = 0.5 * known[3] / known[2]
    assert widths[1] - widths[0] == pytest.approx(step, rel=1e-9)
    assert widths[2] - widths[0] == pytest.approx(10 * step, rel=1e-9)


def test_pruned_runs_predict_as_all_runs_do() -> None:
    rng = np.random.default_rng(5)
    levels = np.repeat([0.0, 4.0, -1.0, 3.0, 7.0] * 2, 60)
    seen = levels + rng.normal(size=600)
    grid = np.array([0.01, 0.05]), np.array([0.5, 0.5])
    model = Conjugate("breaks", "student", (tuple(grid[0]), tuple(grid[1])))
    numbers, rounds = model.run(model.learn(seen[:4, np.newaxis], None), seen[4:, np.newaxis])
    everything = _all_runs(seen, 4, *grid)
    assert rounds.logs.mean() == pytest.approx(everything[4:].mean(), abs=1e-3)
    runs = model.runs(numbers)
    assert len(runs) == RUNS
    best = runs[runs[:, 1].argmax()]
    np.testing.assert_allclose(best[[0, 2, 3, 4, 5]], [60, 60, 120, 180, 240], atol=4)


def _all_runs(seen: Floats, learned: int, hazards: Floats, shares: Floats) -> Floats:
    """ln p(y_t | y_1..y_{t-1}) with every run kept, by sums over each."""
    joint = shares[:, np.newaxis] * np.ones((1, 1))
    sums, squares, priors = np.zeros(1), np.zeros(1), [prior("student", seen[:learned, None])]
    counts, result = np.zeros(1), []
    for t, y in enumerate(seen):
        if t:
            priors.append(prior("student", seen[: max(t, learned), None]))
            joint = np.column_stack(
                [(1.0 - hazards)[:, np.newaxis] * joint, hazards * joint.sum(axis=1)]
            )
            sums, squares, counts = (np.append(part, 0.0) for part in (sums, squares, counts))
        m, k, a, b = (np.array([float(p[i][0]) for p in priors]) for i in range(4))
        means = sums / np.maximum(counts, 1.0)
        spread = squares - counts * means**2 + k * counts / (k + counts) * (means - m) ** 2
        shape, rate, total = a + 0.5 * counts, b + 0.5 * spread, k + counts
        scale = np.sqrt(rate * (total + 1.0) / (shape * total))
        densities = stats.t.pdf(y, 2.0 * shape, (k * m + sums) / total, scale)
        joint = joint * densities
        result.append(math.log(joint.sum()))
        joint = joint / joint.sum()
        sums, squares, counts = sums + y, squares + y * y, counts + 1.0
    return np.array(result)


def test_constant_and_enormous_numbers_are_finite() -> None:
    for name in ("breaks", "frequent_breaks", "wandering_level"):
        for scale in (0.0, 1e-80, 1e80):
            seen = scale * np.ones((300, 1))
            seen[200:] *= -3.0
            model = MODELS[name]
            numbers, rounds = model.run(model.learn(seen[:4], None), seen[4:])
            assert np.isfinite(numbers[1 : 1 + 2]).all()
            assert np.isfinite(rounds.logs).all()
            assert np.isfinite(rounds.means).all()
            assert (rounds.variances > 0.0).all()
            shares, rows = model.components(numbers, 7)
            assert shares.sum() == pytest.approx(1.0)
            assert np.isfinite(rows).all()


def test_the_core_refuses_arrays_that_do_not_fit() -> None:
    grid, one = np.array(RARE), np.zeros((1, 1))
    with pytest.raises(ValueError, match="of one size"):
        _core.series_learn("breaks", "student", 1, grid, 1.0, one, np.zeros(7))
    with pytest.raises(ValueError, match="does not know this kind"):
        _core.series_size("jumps", "student", 1, 2)
    with pytest.raises(ValueError, match="does not know this family"):
        _core.series_size("breaks", "cauchy", 1, 2)
    numbers = np.zeros(_core.series_size("breaks", "categorical", 3, 2))
    with pytest.raises(ValueError, match="one of the symbols"):
        _core.series_learn("breaks", "categorical", 3, grid, 1.0, 3.0 + one, numbers)
    numbers = np.zeros(_core.series_size("wandering", "negative_binomial", 1, 5))
    with pytest.raises(ValueError, match="must not be negative"):
        _core.series_learn(
            "wandering", "negative_binomial", 1, np.array(GROWTHS), 1.0, one - 1.0, numbers
        )
