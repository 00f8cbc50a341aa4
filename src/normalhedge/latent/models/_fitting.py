"""Fitting hidden Markov models to a series by EM from several starts."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import _starts
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models.emissions import (
    ALL,
    FAMILIES,
    Categorical,
    Emission,
    RealEmission,
    Regression,
    check_observations,
    join_given,
    residuals,
)

# the smallest variance in a state, as a share of the variance of all observations; for counts, the
# smallest rate as a share of their mean
FLOOR = 1e-4
PSEUDO_COUNT = 0.1  # a count added to each transition, initial state and symbol
FIRST = 15  # iterations of each start; then only the best two continue
# the largest unit, in deviations of the middle half of the observations: outliers must not set the
# smallest variance of a state
TAILS = 10.0
# the families that are fitted in lanes, in the order of their numbers in the core
LANED = ("gaussian", "student")
SHORT = 512  # series up to this length are fitted together, and longer ones of similar lengths
# a column whose deviation is below this share of its largest value counts as constant
CONSTANT = 1e-12


class _Task(NamedTuple):
    """A series as the core reads it, with its units and settings."""

    family: type[Emission]
    observations: Floats
    centre: Floats
    width: Floats
    guards: Floats
    rows: Floats


class _Model(NamedTuple):
    """A model in standardised units during the fit."""

    initial: Floats
    transition: Floats
    rows: Floats
    log_likelihood: float
    trace: Floats


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


class Job(NamedTuple):
    """A model that is to be fitted to the end of a series."""

    family: str
    states: int
    first: int  # the first round of the series that it is fitted to
    starts: int  # the number of starts from nothing
    iterations: int  # the largest number of iterations of a start
    warm: Fitted | None  # a model to start from as well


@dataclass(frozen=True)
class Fits:
    """Several models that are fitted to one series; nothing in it is ever changed in place.

    All starts of a job have `FIRST` iterations; then the best two go on. Results do not depend on
    how the work is divided into calls of `advance`.
    """

    tasks: tuple[_Task, ...]  # one for each job
    waiting: tuple["_Group", ...]
    results_so_far: tuple[tuple[int, _Model], ...]  # models of jobs, by the place of the job

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
        return [_restore(task, models[place]) for place, task in enumerate(self.tasks)]


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
    tasks: list[_Task] = []
    together: dict[tuple[int, int], list[_Start]] = {}
    alone: list[_Group] = []
    for place, job in enumerate(jobs):
        part, family = seen[job.first :], ALL[job.family]
        if family.scaled and job.first not in scales:
            scales[job.first] = scale(part[~np.isnan(part[:, 0])])
        task = make_task(family, part, guards.copy(), symbols, scales.get(job.first))
        tasks.append(task)
        starts: list[_Start] = []
        if job.warm is not None:
            starts.append(_Start(place, job, task, standardise(task, job.warm, job.states), None))
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
            model = _Model(even, moves, shape, -math.inf, np.empty(0))
            starts.append(_Start(place, job, task, model, division))
        if job.family in LANED and seen.shape[1] == 1:
            length = (len(seen) - job.first) // SHORT
            together.setdefault((job.states, length.bit_length()), []).extend(starts)
        else:
            alone.append(_Alone(tuple(starts), (), tolerance, first=True))
    lanes = [_begin_lanes(seen, starts, guards, tolerance) for starts in together.values()]
    return Fits(tuple(tasks), (*lanes, *alone), ())


class _Start(NamedTuple):
    """A start of a job: a model, and the division of the observations that it begins with."""

    place: int
    job: Job
    task: _Task
    model: _Model
    labels: _starts.Labels | None


class _Group(ABC):
    """Starts that are fitted together, of which nothing is ever changed in place."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether all starts have ended."""

    @property
    @abstractmethod
    def work(self) -> float:
        """The largest amount of work that is left."""

    @abstractmethod
    def advance(self, work: float) -> Self:
        """Return the group after about this much work."""

    @abstractmethod
    def results(self) -> list[tuple[int, _Model]]:
        """Return the best model of each job."""


def _best(models: Iterable[tuple[int, _Model]], count: int) -> list[int]:
    """Return the places of the best models of each job, in their order."""
    ranked: dict[int, list[int]] = {}
    likelihoods = []
    for place, (job, model) in enumerate(models):
        ranked.setdefault(job, []).append(place)
        likelihoods.append(model.log_likelihood)
    chosen = [
        sorted(places, key=lambda place: -likelihoods[place])[:count] for places in ranked.values()
    ]
    return [place for places in chosen for place in places]


@dataclass(frozen=True)
class _Alone(_Group):
    """The starts of one job, fitted one after the other."""

    waiting: tuple[_Start, ...]
    ended: tuple[tuple[int, _Model], ...]
    tolerance: float
    first: bool  # whether the starts have their first iterations

    @property
    def done(self) -> bool:
        return not self.waiting

    @property
    def work(self) -> float:
        total = 0.0
        for start in self.waiting:
            more = start.job.iterations - max(len(start.model.trace) - 1, 0)
            more = min(FIRST, more) if self.first else more
            total += more * len(start.task.observations) * (2 + start.job.states) ** 2
        return total

    def advance(self, work: float) -> Self:
        del work  # a start is the smallest part
        start, *waiting = self.waiting
        most = start.job.iterations
        model = _run(start, FIRST if self.first else most, most, self.tolerance)
        ended = (*self.ended, (start.place, model))
        if waiting or not self.first:
            return replace(self, waiting=tuple(waiting), ended=ended)
        again = tuple(
            start._replace(model=ended[place][1], labels=None) for place in _best(ended, 2)
        )
        return replace(self, waiting=again, ended=(), first=False)

    def results(self) -> list[tuple[int, _Model]]:
        return [self.ended[place] for place in _best(self.ended, 1)]


@dataclass(frozen=True)
class _Lanes(_Group):
    """Normal models and Student's, of as many states, side by side in the core."""

    series: Floats
    places: npt.NDArray[np.int64]  # the job of each model
    most: npt.NDArray[np.int64]  # the largest number of iterations of each model
    # shapes, units, divisions, ...: see `_core.em_fit_lanes`; the first axis has the models
    shapes: npt.NDArray[np.int64]
    units: Floats
    initial: Floats
    transition: Floats
    parameters: Floats
    divisions: npt.NDArray[np.int64]
    traces: Floats
    totals: Floats
    guards: Floats
    tolerance: float
    first: bool  # whether the models have their first iterations

    @property
    def done(self) -> bool:
        return not self.first and bool(self.shapes[:, 5].all())

    @property
    def _price(self) -> float:
        return float(
            (len(self.series) - self.shapes[:, 1].min()) * (2 + self.initial.shape[1]) ** 2
        )

    @property
    def _calls(self) -> int:
        """The largest number of iterations, of up to eight models each, that are left."""
        left = np.where(self.shapes[:, 5] == 0, self.shapes[:, 3] - self.shapes[:, 2] + 1, 0)
        return int(left.sum() // 8 + left.max())

    @property
    def work(self) -> float:
        more = int((self.most - FIRST).max(initial=0)) if self.first else 0
        return (self._calls + max(more, 0)) * 4.0 * self._price

    def advance(self, work: float) -> Self:
        calls = int(min(max(work / (4.0 * self._price), 1.0), 1e9))
        shapes, initial, transition = (
            self.shapes.copy(),
            self.initial.copy(),
            self.transition.copy(),
        )
        parameters, traces, totals = self.parameters.copy(), self.traces.copy(), self.totals.copy()
        _core.em_fit_lanes(
            self.series,
            shapes,
            self.units,
            initial,
            transition,
            parameters,
            self.divisions,
            self.guards,
            self.tolerance,
            calls,
            traces,
            totals,
        )
        after = replace(
            self,
            shapes=shapes,
            initial=initial,
            transition=transition,
            parameters=parameters,
            divisions=self.divisions[:, :0],
            traces=traces,
            totals=totals,
        )
        return after._go_on() if self.first and shapes[:, 5].all() else after

    def _go_on(self) -> Self:
        """Return the best two models of each job, for their further iterations."""
        kept = np.array(_best(self._models(), 2))
        shapes, traces, most = self.shapes[kept], self.traces[kept], self.most[kept]
        rows, done = np.arange(len(kept)), shapes[:, 2]
        gained = traces[rows, done] - traces[rows, np.maximum(done - 1, 0)]
        settled = (done > 0) & (gained < self.tolerance)
        shapes[:, 3] = most
        shapes[:, 5] = settled | (done >= most)
        return replace(
            self,
            places=self.places[kept],
            most=most,
            shapes=shapes,
            units=self.units[kept],
            initial=self.initial[kept],
            transition=self.transition[kept],
            parameters=self.parameters[kept],
            divisions=self.divisions[kept],
            traces=traces,
            totals=self.totals[kept],
            first=False,
        )

    def _models(self) -> list[tuple[int, _Model]]:
        rows = np.where(self.shapes[:, 0] == 0, 2, 3).tolist()
        return [
            (
                int(place),
                _Model(
                    self.initial[m],
                    self.transition[m],
                    self.parameters[m, : rows[m]],
                    float(self.totals[m]),
                    self.traces[m, : self.shapes[m, 2] + 1],
                ),
            )
            for m, place in enumerate(self.places)
        ]

    def results(self) -> list[tuple[int, _Model]]:
        models = self._models()
        return [models[place] for place in _best(models, 1)]


def _begin_lanes(
    seen: Floats, starts: Sequence[_Start], guards: Floats, tolerance: float
) -> _Lanes:
    count, k = len(starts), starts[0].job.states
    first = min(start.job.first for start in starts)
    series = np.ascontiguousarray(seen[first:, 0])
    shapes = np.zeros((count, 6), dtype=np.int64)
    divisions = np.full((count, len(series)), -1, dtype=np.int64)
    parameters = np.ones((count, 3, k))
    for m, start in enumerate(starts):
        family, begin = LANED.index(start.job.family), start.job.first - first
        shapes[m] = family, begin, 0, min(FIRST, start.job.iterations), 1, 0
        parameters[m, : len(start.model.rows)] = start.model.rows
        if start.labels is not None:
            divisions[m, : len(start.labels)] = start.labels
    most = np.array([start.job.iterations for start in starts])
    return _Lanes(
        series,
        np.array([start.place for start in starts]),
        most,
        shapes,
        np.array([[start.task.centre[0], start.task.width[0]] for start in starts]),
        np.array([start.model.initial for start in starts]),
        np.array([start.model.transition for start in starts]),
        parameters,
        divisions,
        np.full((count, int(most.max()) + 1), np.nan),
        np.zeros(count),
        guards,
        tolerance,
        first=True,
    )


def make_task(
    family: type[Emission],
    seen: Floats,
    guards: Floats,
    symbols: int | None,
    units: tuple[Floats, Floats] | None = None,
) -> _Task:
    """Return the series standardised, where it has a scale; the scale may be known already."""
    centre, width = np.zeros(seen.shape[1]), np.ones(seen.shape[1])
    if family.scaled:
        centre, width = units or scale(seen[~np.isnan(seen[:, 0])])
        seen = (seen - centre) / width
    else:
        known = seen[~np.isnan(seen[:, 0])]
        guards[0] = max(guards[0] * known.mean(), 1e-6)
    rows = _rows(seen, symbols) if family is Categorical else family.starting_parameters(seen)
    if guards[2]:
        rows[2] = guards[2]
    return _Task(family, seen, centre, width, guards, rows)


def _rows(seen: Floats, symbols: int | None) -> Floats:
    """Return the starting parameters of one state that emits symbols."""
    most = int(np.nanmax(seen)) + 1
    m = most if symbols is None else symbols
    if most > m:
        raise ValueError(f"observations must be symbols below {m}, got {most - 1}")
    if m > 10**6:
        raise ValueError(f"there may be at most 1,000,000 symbols, got {m:,}")
    return np.full((m, 1), 1.0 / m)


def scale(known: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the deviation of each column; the deviation of a constant c is 1e-3 c.

    If a few outliers dominate the deviation, it is `TAILS` times the deviation of the middle half.
    """
    largest = np.abs(known).max(axis=0)
    width = known.std(axis=0)
    low, high = np.quantile(known, [0.25, 0.75], axis=0)
    middle = (high - low) / 1.349
    width = np.where(middle > CONSTANT * largest, np.minimum(width, TAILS * middle), width)
    flat = width <= CONSTANT * largest
    return known.mean(axis=0), np.where(flat, 1e-3 * np.where(largest > 1e-90, largest, 1.0), width)


def standardise(task: _Task, warm: Fitted, k: int) -> _Model:
    """Return a model of the series in the units of the task."""
    emission = warm.emission
    if type(emission) is not task.family or warm.states != k:
        raise ValueError(
            f"warm must be a {task.family.__name__} model with {k} states, "
            f"got a {type(emission).__name__} model with {warm.states}"
        )
    if isinstance(emission, RealEmission) and emission.columns == len(task.centre):
        emission = emission._rescaled(-task.centre / task.width, 1.0 / task.width)
    rows = emission.parameters()
    if len(rows) != len(task.rows):
        raise ValueError("warm must be a model with as many columns or symbols as the observations")
    if task.guards[2] > 0.0:
        rows[2] = task.guards[2]
    return _Model(warm.initial.copy(), warm.transition.copy(), rows, -math.inf, np.empty(0))


def _run(start: _Start, more: int, most: int, tolerance: float) -> _Model:
    """Return the model of a start after some more iterations, of at most `most` in all."""
    task, model = start.task, start.model
    done = max(len(model.trace) - 1, 0)
    more = min(more, most - done)
    if done and (more <= 0 or model.trace[-1] - model.trace[-2] < tolerance):
        return model
    shares = None if start.labels is None else _starts.shares(start.labels, start.job.states)
    initial, moves, rows = model.initial.copy(), model.transition.copy(), model.rows.copy()
    trace = np.empty(more + 1)
    total, used = _core.em_fit(
        task.family.family,
        task.observations,
        initial,
        moves,
        rows,
        shares,
        task.guards,
        tolerance,
        trace,
    )
    trace = np.concatenate([model.trace[:-1], trace[: used + 1]])
    return _Model(initial, moves, rows, total, trace)


def log_units(task: _Task) -> float:
    """Return how much larger log densities are in the units of the task."""
    known = ~np.isnan(task.observations[:, 0])
    if task.family.family == "autoregressive":
        known = known[1:] & known[:-1]
    width = task.width[:1] if task.family is Regression else task.width
    return float(known.sum() * np.log(width).sum())


def _restore(task: _Task, model: _Model) -> Fitted:
    """Return the model in the units of the observations."""
    emission = task.family.from_core(model.rows)
    order, total = emission.order(), model.log_likelihood
    if isinstance(emission, RealEmission):
        emission = emission._rescaled(task.centre, task.width)
        total -= log_units(task)
    fitted = Fitted(
        model.initial, model.transition, emission, total, len(model.trace) - 1, model.trace
    )
    return fitted.permuted(order)
