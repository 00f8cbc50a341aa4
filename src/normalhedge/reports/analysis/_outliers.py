"""The rows that decide on a comparison: absurd forecasts of models, and the rows of large losses.

In a row let l_k be the loss of model k, m the lower median of the losses of the models awake, and
M the mean of m over all rows. The forecast of k is absurd where

    l_k > F max(m, M),    F = 10, or 100 for squares,

and a model is named if such rows make up at least half of its losses.
"""

from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.reports.analysis._errors import CHUNK, Scores

FACTOR = 10.0
"""An absurd forecast is so many times as far off as the forecast of the median model."""

HALF = 0.5
"""Absurd forecasts matter if they make up this share of the losses of a model."""

PART, MOST = 0.01, 0.05
"""The share of rows with the largest losses; with the rows of absurd forecasts, at most MOST."""

SHARES, CLOSE = (1.0, 0.9, 0.8, 0.7, 0.6), 0.1
"""Rows lie close together if the first possible of these shares of them spans less than a tenth of
the whole time."""


class Absurd(NamedTuple):
    """A model with absurd forecasts."""

    name: str
    rows: np.ndarray  # the places of these forecasts among the rows with an outcome
    made: int  # the number of its forecasts
    # error, median: its error in these rows, and the error of the median model there
    error: float
    median: float
    stretch: tuple[Any, Any] | None  # the first and the last time of most of the rows, if close


def absurd_models(scores: Scores) -> list[Absurd]:
    """Return the models with absurd forecasts, the largest losses first."""
    if not scores.numbers or scores.loss.of_wealth or len(scores.rows.models) < 2:
        return []
    measure, known = scores.measures[0], scores.known
    limit = FACTOR**2 if measure.kind == "square" else FACTOR
    medians = _medians(scores)
    floor = float(np.nanmean(medians)) if len(medians) else 0.0
    models = []
    for k, name in enumerate(scores.rows.models):
        losses = scores.losses_of(np.s_[k : k + 1], known)[:, 0]
        there = ~np.isnan(losses)
        far = np.flatnonzero(there & (losses > limit * np.maximum(medians, floor)))
        lost = float(losses[far].sum())
        if not floor > 0.0 or not len(far) or lost < HALF * float(losses[there].sum()):
            continue
        error, median = (float(measure.of(x[far].mean())) for x in (losses, medians))
        model = Absurd(name, far, int(there.sum()), error, median, stretch_of(scores, far))
        models.append((-lost, model))
    return [model for _, model in sorted(models, key=lambda pair: pair[0])]


def _medians(scores: Scores) -> Floats:
    """Return the lower median of the losses of the models awake in each row."""
    known = scores.known
    medians = np.full(len(known), np.nan)
    size = max(CHUNK // max(scores.rows.forecasts[:1].size, 1), 1)
    for start in range(0, len(known), size):
        losses = np.sort(
            scores.losses_of(np.s_[:], known[start : start + size]), axis=1
        )  # NaN last
        awake = (~np.isnan(losses)).sum(axis=1)
        middle = np.maximum(awake - 1, 0) // 2
        medians[start : start + size] = losses[np.arange(len(losses)), middle]
    return medians


def worst_rows(scores: Scores, table: Floats, absurd: list[Absurd]) -> np.ndarray:
    """Return the places of the rows with the largest loss of any forecaster of a table.

    These are one in a hundred rows, and no row that ties with the others; with the rows of absurd
    forecasts as long as these are few.
    """
    losses = scores.losses_in(table)
    largest = np.nanmax(losses, axis=1)
    count = len(largest)
    if count < 2:
        return np.arange(0)
    part = max(int(PART * count), 1)
    limit = np.partition(largest, count - part - 1)[count - part - 1]
    worst = np.flatnonzero(largest > limit)
    for model in absurd:
        more = np.union1d(worst, model.rows)
        worst = more if len(more) <= MOST * count else worst
    return worst


def stretch_of(scores: Scores, places: np.ndarray) -> tuple[Any, Any] | None:
    """Return the shortest stretch of time with most of some rows; None if they lie far apart."""
    every = scores.rows.times[scores.known]
    if every.dtype.kind == "O" or not len(places):
        return None
    times = np.sort(every[places])
    for share in SHARES:
        length = int(np.ceil(share * len(times)))
        spans = times[length - 1 :] - times[: len(times) - length + 1]
        first = int(spans.argmin())
        if spans[first] < CLOSE * (every.max() - every.min()):
            return times[first], times[first + length - 1]
    return None
