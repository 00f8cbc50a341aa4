"""Compare the blend with its yardsticks: plain combinations, and the best in hindsight."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import ceil, nan
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.losses import (
    NUMBERS,
    PLAIN_MEAN,
    PLAIN_MEDIAN,
    PLAIN_VOTE,
    Absolute,
    Loss,
    Square,
)
from normalhedge.mixtures.rules import VALUES_BEFORE_WAYS
from normalhedge.mixtures.state import combine
from normalhedge.mixtures.summaries._best_convex import Convex, best_convex, sampled
from normalhedge.mixtures.summaries._comparison import (
    BEST_CONVEX,
    BEST_EXPERT,
    Comparison,
    Line,
    percent,
)

OFTEN = 0.5
"""The best expert must have been awake in at least this share of the settled rows."""

CHUNK = 1 << 18
"""About how many forecasts are processed at a time."""

SAMPLE = 1 << 18
"""The number of forecasts to which the best convex combination is fitted: a summary is quick."""

ERRORS = (Absolute(), Square())
"""The losses of which MAE and RMSE are means."""


class Settled(NamedTuple):
    """Rows that have an outcome, and at least one expert awake."""

    # rows x classes x experts, without the plain combinations of ``include``; NaN where asleep
    forecasts: Floats
    # outcomes, items: the outcome and the item of each row
    outcomes: Floats
    items: np.ndarray
    # the forecasts of the blend and, for an automatic mixture, of its components; see
    # ``src/core/automatic.hpp``
    values: Floats
    # the number of the first round, if the rows are those of the last rounds of a mixture; None if
    # they are a whole table
    since: int | None = None
    rounds: int = 0  # the number of rounds, in the former case

    @property
    def blend(self) -> Floats:
        """The forecasts of the blend; rows x classes."""
        return self.values[:, : self.forecasts.shape[1]]

    def components(self, count: int) -> Floats:
        """Return the forecasts of the first components; rows x classes x components."""
        rows, classes, _ = self.forecasts.shape
        first = VALUES_BEFORE_WAYS - 1
        return self.values[:, classes:].reshape(rows, classes, -1)[:, :, first : first + count]


def compare(rows: Settled, loss: Loss, names: Sequence[str], components: int = 0) -> Comparison:
    """Return the mean losses of the blend and of its yardsticks.

    The best expert is the one with the smallest loss among the experts that were often awake. In
    rows in which it sleeps, the plain median takes its place (the plain mean for class
    probabilities and price relatives, the plain vote for labels), so that all mean losses are over
    the same rows. The best convex combination uses the same replacement.
    """
    count, plain, substitute = len(rows.outcomes), loss.forecasts.plain, loss.forecasts.substitute
    convex = _best_convex(rows, loss)
    combined = ["blend", *plain, *([] if convex is None else [BEST_CONVEX])]
    losses_of = (loss, *ERRORS) if loss.forecasts is NUMBERS else (loss,)
    means = np.zeros((len(losses_of), len(combined) + len(names)))
    rows_awake = np.zeros(len(names))
    component_sums, component_rows = np.zeros(components), 0
    for part in _parts(rows):
        table, awake = _columns(loss, part, plain, substitute, convex)
        rows_awake += awake.sum(axis=0)
        if components:
            table = np.concatenate([table, part.components(components)], axis=2)
        for k, one in enumerate(losses_of):
            losses = _losses(one, table, part)
            means[k] += losses[:, : means.shape[1]].sum(axis=0) / count
            if k == 0 and components:
                complete = losses[~np.isnan(losses).any(axis=1), means.shape[1] :]
                component_sums = component_sums + complete.sum(axis=0)
                component_rows += len(complete)
                table = table[:, :, : means.shape[1]]
    lines = [_line(name, means[:, k]) for k, name in enumerate(("blend", *plain))]
    lines += _best_expert(means[:, len(combined) :], rows_awake / count, names, substitute)
    every = sampled(loss, rows.forecasts, SAMPLE)
    if convex is not None:
        asleep = rows_awake.min() < count
        remark = "in hindsight"
        remark += f"; the {substitute} in place of sleeping experts" if asleep else ""
        remark += f"; fitted to one row in {every}" if every > 1 else ""
        lines.append(_line(BEST_CONVEX, means[:, len(combined) - 1], remark))
    return Comparison(
        loss.brief,
        count,
        rows.since,
        rows.rounds,
        tuple(lines),
        nan if convex is None or every > 1 else convex.gap,
        tuple((component_sums / component_rows).tolist()) if component_rows else (),
        component_rows,
        loss.of_wealth,
    )


def plain_means(forecasts: Floats, awake: np.ndarray) -> Floats:
    """Return the mean forecast of the experts awake; rows x classes."""
    used = np.where(awake[:, np.newaxis], forecasts, 0.0)
    result: Floats = used.sum(axis=2) / awake.sum(axis=1)[:, np.newaxis]
    return result


def plain_medians(forecasts: Floats, awake: np.ndarray, *, of_classes: bool = True) -> Floats:
    """Return the median forecast of the experts awake; rows x classes.

    The medians of class probabilities are divided by their sum.
    """
    if awake.all():
        middle: Floats = np.median(forecasts, axis=2)
    else:
        ordered = np.sort(np.where(awake[:, np.newaxis], forecasts, np.inf), axis=2)
        count = awake.sum(axis=1)[:, np.newaxis, np.newaxis]
        low, high = (
            np.take_along_axis(ordered, at, axis=2)[:, :, 0]
            for at in ((count - 1) // 2, count // 2)
        )
        middle = low + 0.5 * (high - low)
    if middle.shape[1] == 1 or not of_classes:
        return middle
    mass = middle.sum(axis=1, keepdims=True)
    return np.where(mass > 0.0, middle / np.where(mass > 0.0, mass, 1.0), middle)


def plain_votes(forecasts: Floats, awake: np.ndarray) -> Floats:
    """Return the most frequent label among the experts awake; rows x 1."""
    shares = awake / awake.sum(axis=1, keepdims=True)
    pairs = zip(forecasts[:, 0], shares, strict=True)
    return np.array([[combine(labels, share, "vote")] for labels, share in pairs])


_PLAIN: dict[str, Callable[[Floats, np.ndarray], Floats]] = {
    PLAIN_MEAN: plain_means,
    PLAIN_MEDIAN: plain_medians,
    PLAIN_VOTE: plain_votes,
}


def _parts(rows: Settled) -> Iterator[Settled]:
    """Yield the rows in small pieces."""
    count = len(rows.outcomes)
    size = max(CHUNK // max(rows.forecasts.shape[1] * rows.forecasts.shape[2], 1), 1)
    edges = [count * k // ceil(count / size) for k in range(ceil(count / size) + 1)]
    for a, b in pairwise(edges):
        forecasts, outcomes, items, values = (array[a:b] for array in rows[:4])
        yield Settled(forecasts, outcomes, items, values)


def _columns(
    loss: Loss, part: Settled, plain: Sequence[str], substitute: str, convex: Convex | None
) -> tuple[Floats, np.ndarray]:
    """Return the forecasts of the blend, of its yardsticks and of the experts; and who is awake."""
    awake: np.ndarray = np.all(np.abs(part.forecasts) < LARGEST, axis=1)
    ways = _PLAIN | {PLAIN_MEDIAN: partial(plain_medians, of_classes=loss.of_classes)}
    combined = {name: ways[name](part.forecasts, awake)[:, :, np.newaxis] for name in plain}
    experts = np.where(awake[:, np.newaxis], part.forecasts, combined[substitute])
    mixed = [] if convex is None else [(experts @ convex.weights)[:, :, np.newaxis]]
    columns = [part.blend[:, :, np.newaxis], *combined.values(), *mixed, experts]
    return np.concatenate(columns, axis=2), awake


def _losses(loss: Loss, table: Floats, part: Settled) -> Floats:
    """Return the loss of each forecast of a table; NaN where there is no forecast."""
    losses = loss.table(table, part.outcomes, part.items)
    losses[np.isnan(table[:, 0])] = nan
    return losses


def _line(name: str, means: Floats, remark: str = "") -> Line:
    """Return a line of a comparison: the mean loss and, if they were computed, MAE and RMSE."""
    if len(means) == 1:
        return Line(name, float(means[0]), remark=remark)
    return Line(name, float(means[0]), float(means[1]), float(np.sqrt(means[2])), remark)


def _best_expert(means: Floats, share: Floats, names: Sequence[str], substitute: str) -> list[Line]:
    """Return the line of the best expert among those often awake; empty if there is none."""
    often = np.flatnonzero(share >= OFTEN)
    if not len(often):
        return []
    best = int(often[means[0, often].argmin()])
    asleep = 1.0 - share[best]
    remark = names[best]
    if asleep > 0.0:
        remark += f"; the {substitute} where it was asleep, {percent(asleep)} of the rows"
    return [_line(BEST_EXPERT, means[:, best], remark)]


def _best_convex(rows: Settled, loss: Loss) -> Convex | None:
    """Return the best convex combination; None for one expert, and for losses without a search."""
    if not loss.has_best_convex or rows.forecasts.shape[2] < 2:
        return None
    way = "median" if loss.forecasts.substitute == PLAIN_MEDIAN else "mean"
    return best_convex(loss, rows.forecasts, rows.outcomes, rows.items, way, SAMPLE)
