"""Fitting hidden Markov models to a series by EM from several starts."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import _starts
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models.emissions import (
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
    shares: Floats | None
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
    family = Regression if emission == Regression.family else FAMILIES[emission]
    task = make_task(family, seen, guards, symbols)
    begun = _models(task, states, starts, warm, rng)
    models = [_run(task, model, FIRST, iterations, tolerance) for model in begun]
    models.sort(key=lambda model: -model.log_likelihood)
    best = max(
        (_run(task, model, iterations, iterations, tolerance) for model in models[:2]),
        key=lambda model: model.log_likelihood,
    )
    return _restore(task, best)


def make_task(family: type[Emission], seen: Floats, guards: Floats, symbols: int | None) -> _Task:
    """Return the series standardised, where it has a scale."""
    known = seen[~np.isnan(seen[:, 0])]
    centre, width = np.zeros(seen.shape[1]), np.ones(seen.shape[1])
    if family.scaled:
        centre, width = scale(known)
        seen = (seen - centre) / width
    else:
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


def _models(
    task: _Task, k: int, starts: int, warm: Fitted | None, rng: np.random.Generator
) -> Iterator[_Model]:
    """Yield the starting points."""
    if warm is not None:
        yield standardise(task, warm, k)
    points = residuals(task.observations) if task.family is Regression else task.observations
    for labels in _starts.divisions(points, k, starts, rng):
        moves = _starts.transition(labels, k)
        shares = _starts.shares(labels, k)
        rows = np.repeat(task.rows, k, axis=1)
        yield _Model(np.full(k, 1.0 / k), moves, rows, shares, -math.inf, np.empty(0))


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
    return _Model(warm.initial.copy(), warm.transition.copy(), rows, None, -math.inf, np.empty(0))


def _run(task: _Task, model: _Model, more: int, most: int, tolerance: float) -> _Model:
    """Return the model after some more iterations, of at most `most` in all."""
    done = max(len(model.trace) - 1, 0)
    more = min(more, most - done)
    if done and (more <= 0 or model.trace[-1] - model.trace[-2] < tolerance):
        return model
    initial, moves, rows = model.initial.copy(), model.transition.copy(), model.rows.copy()
    trace = np.empty(more + 1)
    total, used = _core.em_fit(
        task.family.family,
        task.observations,
        initial,
        moves,
        rows,
        model.shares,
        task.guards,
        tolerance,
        trace,
    )
    trace = np.concatenate([model.trace[:-1], trace[: used + 1]])
    return _Model(initial, moves, rows, None, total, trace)


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
