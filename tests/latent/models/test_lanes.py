"""Models that are fitted side by side, beside each alone."""

import numpy as np
import pytest

from normalhedge import _core
from normalhedge.latent.models import Job, _starts as starts, begin_fits, fit_series

GUARDS = np.array([1e-4, 0.1, 0.0])
ITERATIONS = 25


def switching(rounds: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    wild = (np.arange(rounds) // 50) % 2
    seen = rng.normal(np.where(wild, 2.0, 0.0), np.where(wild, 2.0, 0.5))
    seen[rng.random(rounds) < 0.03] = np.nan
    return seen


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 7])
def test_models_side_by_side_are_the_models_alone(k: int) -> None:
    rounds = 260
    y = switching(rounds)
    families = [0, 1, 0, 1, 1, 0, 0, 1, 1]
    begins = [0, 0, 0, 130, 60, 130, 0, 0, 1]
    count = len(families)
    shapes, units = np.zeros((count, 6), dtype=np.int64), np.zeros((count, 2))
    initial, moves = np.full((count, k), 1.0 / k), np.zeros((count, k, k))
    rows = np.tile(np.array([[0.0], [1.0], [8.0]]), (count, 1, k))
    divisions = np.full((count, rounds), -1, dtype=np.int64)
    for m, (family, begin) in enumerate(zip(families, begins, strict=True)):
        part = y[begin:]
        units[m] = np.nanmean(part), np.nanstd(part)
        scaled = ((part - units[m, 0]) / units[m, 1])[:, np.newaxis]
        rng = np.random.default_rng(m)
        labels = list(starts.divisions(starts.prepare(scaled), k, 3, rng))
        division = labels[m % len(labels)]
        divisions[m, : len(division)] = division
        moves[m] = starts.transition(division, k)
        shapes[m] = family, begin, 0, ITERATIONS, 2, 0  # it has not started
    alone = [
        (initial[m].copy(), moves[m].copy(), rows[m, : 2 + family].copy())
        for m, family in enumerate(families)
    ]
    traces, totals = np.full((count, ITERATIONS + 1), np.nan), np.zeros(count)
    _core.em_fit_lanes(
        y, shapes, units, initial, moves, rows, divisions, GUARDS, 0.01, 10**6, traces, totals
    )
    assert shapes[:, 5].all()
    for m, (first, steps, parameters) in enumerate(alone):
        seen = ((y[begins[m] :] - units[m, 0]) / units[m, 1])[:, np.newaxis]
        name = ("gaussian", "student")[families[m]]
        shares = starts.shares(divisions[m, : len(seen)], k)
        trace = np.empty(ITERATIONS + 1)
        total, used = _core.em_fit(
            name, seen, first, steps, parameters, shares, GUARDS, 0.01, trace
        )
        assert used == shapes[m, 2]
        assert totals[m] == pytest.approx(total, abs=1e-5)
        np.testing.assert_allclose(traces[m, : used + 1], trace[: used + 1], atol=1e-5)
        np.testing.assert_allclose(initial[m], first, atol=1e-4)
        np.testing.assert_allclose(moves[m], steps, atol=1e-4)
        np.testing.assert_allclose(rows[m, : len(parameters)], parameters, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_fits_do_not_depend_on_how_the_work_is_divided(family: str) -> None:
    seen = switching(700)[:, np.newaxis]
    families = ("gaussian", "student")
    if family == "poisson":
        seen, families = np.floor(np.abs(3.0 * seen)), ("poisson", "negative_binomial")
    rng = np.random.default_rng(0)
    warm = fit_series(
        seen, 2, families[0], rng=rng, starts=1, iterations=4, tolerance=0.01, warm=None,
        symbols=None,
    )  # fmt: skip
    jobs = [Job(name, k, first, 3, 60, None) for name in families for k in (1, 2, 3)
            for first in (0, 450)]  # fmt: skip
    jobs.append(Job(families[0], 2, 200, 0, 25, warm))
    whole = begin_fits(seen, jobs, rng, 0.01).advance()
    assert whole.done
    parts, calls = begin_fits(seen, jobs, rng, 0.01), 0
    while not parts.done:
        work = parts.work
        parts = parts.advance(work / 20.0)
        assert parts.work < work
        calls += 1
    assert calls > 10
    for one, other in zip(whole.results(), parts.results(), strict=True):
        assert one.log_likelihood == other.log_likelihood
        assert one.transition.tobytes() == other.transition.tobytes()
        assert one.emission.parameters().tobytes() == other.emission.parameters().tobytes()


def test_jobs_are_fitted_as_they_are_alone() -> None:
    seen = switching(600)[:, np.newaxis]
    rng = np.random.default_rng(0)
    jobs = [Job(name, k, first, 3, 60, None) for name in ("gaussian", "student") for k in (1, 2, 4)
            for first in (0, 350)]  # fmt: skip
    together = begin_fits(seen, jobs, rng, 0.01).advance().results()
    for job, fitted in zip(jobs, together, strict=True):
        alone = fit_series(
            seen[job.first :], job.states, job.family, rng=rng, starts=3, iterations=60,
            tolerance=0.01, warm=None, symbols=None,
        )  # fmt: skip
        assert fitted.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-4)
