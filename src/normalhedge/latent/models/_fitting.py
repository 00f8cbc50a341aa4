"""Fitting hidden Markov models to a series by EM from several starts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import _starts
from normalhedge.latent.models._fit_groups import LANED, Alone, Group, Job, Start, begin_lanes
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models._tasks import (
    FLOOR,
    PSEUDO_COUNT,
    FitTask,
    Model,
    make_task,
    restore,
    scale,
    standardise,
)
from normalhedge.latent.models.emissions import (
    ALL,
    FAMILIES,
    Emission,
    Regression,
    check_observations,
    join_given,
    residuals,
)

SHORT = 512  # series up to this length are fitted together, and longer ones of similar lengths


def fit(
    observations: npt.ArrayLike,
    states: int,
    emission: str = "gaussian",
    *,
    rng: np.random.Generator,
    starts: int = 5,
    iterations: int = 100,
    tolerance: float = 1e-4,
    warm: Fitted | None = None,
    degrees: float | None = None,
    symbols: int | None = None,
    pseudo_count: float = PSEUDO_COUNT,
    floor: float = FLOOR,
    given: npt.ArrayLike | None = None,
) -> Fitted:
    """Fit a hidden Markov model by expectation and maximisation.

    Let g be the probabilities of states given the whole series and the current parameters. The next
    parameters maximise

        sum_t sum_s g_t(s) ln b_s(y_t) + sum_rs (n_rs + c) ln A_rs + sum_s (g_1(s) + c) ln initial_s

    where n_rs are the expected transitions and c is the pseudo count.

    Notes
    -----
    An iteration costs O(T k^2). The states of a constant series all have a deviation of 1e-5 of its
    size. With fewer distinct values than states, some states are equal. A state without
    observations keeps its parameters.

    With ``given``, covariates of each observation, T or T x p, there is a regression within each
    state (`Regression`): y = intercept_s + slopes_s x + deviation_s e. A covariate that does not
    vary within a state has the slope 0 there. A round in which something is missing teaches
    nothing of the state.

    References
    ----------
    Baum, Petrie, Soules and Weiss (1970); for Student's t, Peel and McLachlan (2000).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> low, high = rng.normal(0.0, 1.0, 200), rng.normal(5.0, 2.0, 200)
    >>> fitted = fit(np.concatenate([low, high]), 2, rng=rng)
    >>> fitted.emission.means.round(1), fitted.emission.deviations.round(1)
    (array([0. , 4.8]), array([1. , 2.1]))

    A slope that changes its sign:

    >>> x = rng.normal(size=400)
    >>> y = np.where(np.arange(400) < 200, 2.0, -1.0) * x + 0.5 * rng.normal(size=400)
    >>> fitted = fit(y, 2, rng=rng, given=x)
    >>> sorted(fitted.emission.slopes[:, 0].round(1).tolist())
    [-1.0, 2.0]
    >>> fitted.smoothed(y, given=x)[0].argmax(axis=1)[[100, 300]].tolist() in ([0, 1], [1, 0])
    True
    """
    if emission not in FAMILIES:
        raise ValueError(f"emission must be one of {', '.join(FAMILIES)}, got {emission!r}")
    family: type[Emission] = FAMILIES[emission]
    columns = None if emission in {"diagonal", "full"} else 1
    if given is not None:
        if emission != "gaussian":
            raise ValueError(f"given is for emission='gaussian', got emission={emission!r}")
        family, columns, observations = Regression, None, join_given(observations, given)
    seen = check_observations(family, observations, columns)
    if np.isnan(seen[:, 0]).all():
        raise ValueError(
            "observations must hold at least one value that is not missing"
            + ("" if given is None else ", with all its covariates")
        )
    if degrees is not None and emission != "student":
        raise ValueError(f"degrees are for emission='student', got emission={emission!r}")
    if symbols is not None and emission != "categorical":
        raise ValueError("symbols are for emission='categorical'")
    return fit_series(
        seen,
        inputs.count("states", states),
        emission if given is None else Regression.family,
        rng=rng,
        starts=0 if warm is not None and starts == 0 else inputs.count("starts", starts),
        iterations=inputs.count("iterations", iterations),
        tolerance=inputs.number("tolerance", tolerance, 0.0, closed=True),
        warm=warm,
        degrees=0.0 if degrees is None else inputs.number("degrees", degrees, 2.0),
        symbols=None if symbols is None else inputs.count("symbols", symbols),
        pseudo_count=inputs.number("pseudo_count", pseudo_count, 0.0, closed=True),
        floor=inputs.number("floor", floor, 0.0),
    )


def fit_series(
    seen: Floats,
    states: int,
    emission: str,
    *,
    rng: np.random.Generator,
    starts: int,
    iterations: int,
    tolerance: float,
    warm: Fitted | None,
    symbols: int | None,
    degrees: float = 0.0,
    pseudo_count: float = PSEUDO_COUNT,
    floor: float = FLOOR,
) -> Fitted:
    """Fit a model as `fit` does, to observations and with settings that are already checked."""
    guards = np.array([floor, pseudo_count, degrees])
    job = Job(emission, states, 0, starts, iterations, warm)
    fits = begin_fits(seen, [job], rng, tolerance, guards=guards, symbols=symbols)
    while not fits.done:
        fits = fits.advance()
    return fits.results()[0]


@dataclass(frozen=True)
class Fits:
    """Several models that are fitted to one series; nothing in it is ever changed in place.

    All starts of a job have `FIRST` iterations; then the best two go on. Results do not depend on
    how the work is divided into calls of `advance`.
    """

    tasks: tuple[FitTask, ...]  # one for each job
    waiting: tuple["Group", ...]
    results_so_far: tuple[tuple[int, Model], ...]  # models of jobs, by the place of the job

    @property
    def done(self) -> bool:
        """Whether all models are fitted."""
        return not self.waiting

    @property
    def work(self) -> float:
        """The largest amount of work that is left."""
        return sum(group.work for group in self.waiting)

    def advance(self, work: float = math.inf) -> Self:
        """Return the fits after about this much work, in rounds times states squared times models.

        At least the smallest possible part is done.
        """
        waiting, results = list(self.waiting), list(self.results_so_far)
        while waiting and work > 0.0:
            before = waiting[0].work
            waiting[0] = waiting[0].advance(work)
            if waiting[0].done:
                results += waiting[0].results()
                del waiting[0]
                work -= before
            else:
                work -= before - waiting[0].work
        return replace(self, waiting=tuple(waiting), results_so_far=tuple(results))

    def results(self) -> list[Fitted]:
        """Return the models of the jobs, in their order."""
        models = dict(self.results_so_far)
        return [restore(task, models[place]) for place, task in enumerate(self.tasks)]


def begin_fits(
    seen: Floats,
    jobs: Sequence[Job],
    rng: np.random.Generator,
    tolerance: float,
    *,
    guards: Floats | None = None,
    symbols: int | None = None,
) -> Fits:
    """Return the fits of several models before their first iteration."""
    guards = np.array([FLOOR, PSEUDO_COUNT, 0.0]) if guards is None else guards
    scales: dict[int, tuple[Floats, Floats]] = {}
    divided: dict[tuple[int, int, int], list[_starts.Labels]] = {}
    prepared: dict[int, _starts.Divided] = {}
    tasks: list[FitTask] = []
    together: dict[tuple[int, int], list[Start]] = {}
    alone: list[Group] = []
    for place, job in enumerate(jobs):
        part, family = seen[job.first :], ALL[job.family]
        if family.scaled and job.first not in scales:
            scales[job.first] = scale(part[~np.isnan(part[:, 0])])
        task = make_task(family, part, guards.copy(), symbols, scales.get(job.first))
        tasks.append(task)
        starts: list[Start] = []
        if job.warm is not None:
            starts.append(Start(place, job, task, standardise(task, job.warm, job.states), None))
        key = job.first, job.states, job.starts
        # Starts that are not drawn are the same in all families of real numbers without covariates.
        alike = family.scaled and family is not Regression
        labels = divided.get(key) if alike else None
        if labels is None:
            labels = []
            if job.starts:
                if job.first not in prepared or not alike:
                    points = task.observations
                    points = residuals(points) if family is Regression else points
                    prepared[job.first] = _starts.prepare(points)
                series = prepared[job.first]
                labels = list(_starts.divisions(series, job.states, job.starts, rng))
            if job.starts <= _starts.DRAWN and alike:
                divided[key] = labels
        for division in labels:
            moves = _starts.transition(division, job.states)
            even, shape = np.full(job.states, 1.0 / job.states), np.repeat(task.rows, job.states, 1)
            model = Model(even, moves, shape, -math.inf, np.empty(0))
            starts.append(Start(place, job, task, model, division))
        if job.family in LANED and seen.shape[1] == 1:
            length = (len(seen) - job.first) // SHORT
            together.setdefault((job.states, length.bit_length()), []).extend(starts)
        else:
            alone.append(Alone(tuple(starts), (), tolerance, first=True))
    lanes = [begin_lanes(seen, starts, guards, tolerance) for starts in together.values()]
    return Fits(tuple(tasks), (*lanes, *alone), ())
