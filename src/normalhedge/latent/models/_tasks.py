"""A series as the core reads it, and a model in standardised units."""

import math
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models.emissions import (
    Categorical,
    Emission,
    RealEmission,
    Regression,
)

# the smallest variance in a state, as a share of the variance of all observations; for counts, the
# smallest rate as a share of their mean
FLOOR = 1e-4
PSEUDO_COUNT = 0.1  # a count added to each transition, initial state and symbol
# the largest unit, in deviations of the middle half of the observations: outliers must not set the
# smallest variance of a state
TAILS = 10.0
# a column whose deviation is below this share of its largest value counts as constant
CONSTANT = 1e-12


class FitTask(NamedTuple):
    """A series as the core reads it, with its units and settings."""

    family: type[Emission]
    observations: Floats
    centre: Floats
    width: Floats
    guards: Floats
    rows: Floats


class Model(NamedTuple):
    """A model in standardised units during the fit."""

    initial: Floats
    transition: Floats
    rows: Floats
    log_likelihood: float
    trace: Floats


def make_task(
    family: type[Emission],
    seen: Floats,
    guards: Floats,
    symbols: int | None,
    units: tuple[Floats, Floats] | None = None,
) -> FitTask:
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
    return FitTask(family, seen, centre, width, guards, rows)


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
    low, high = _quartiles(known)
    middle = (high - low) / 1.349
    width = np.where(middle > CONSTANT * largest, np.minimum(width, TAILS * middle), width)
    flat = width <= CONSTANT * largest
    return known.mean(axis=0), np.where(flat, 1e-3 * np.where(largest > 1e-90, largest, 1.0), width)


def _quartiles(known: Floats) -> tuple[Floats, Floats]:
    """Return the first and the third quartile of each column, as `numpy.quantile` computes them."""
    places = np.array([0.25, 0.75]) * (len(known) - 1)
    below = places.astype(np.intp)
    above = np.minimum(below + 1, len(known) - 1)
    parted = np.partition(known, np.concatenate([below, above]), axis=0)
    share, low, high = (places - below)[:, np.newaxis], parted[below], parted[above]
    step = high - low
    first, third = np.where(share < 0.5, low + step * share, high - step * (1.0 - share))
    return first, third


def standardise(task: FitTask, warm: Fitted, k: int) -> Model:
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
    return Model(warm.initial.copy(), warm.transition.copy(), rows, -math.inf, np.empty(0))


def log_units(task: FitTask) -> float:
    """Return how much larger log densities are in the units of the task."""
    known = ~np.isnan(task.observations[:, 0])
    if task.family.family == "autoregressive":
        known = known[1:] & known[:-1]
    width = task.width[:1] if task.family is Regression else task.width
    return float(known.sum() * np.log(width).sum())


def restore(task: FitTask, model: Model) -> Fitted:
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
