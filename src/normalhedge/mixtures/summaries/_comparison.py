"""Compare the blend with its yardsticks: plain combinations, and the best in hindsight."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ceil, expm1, isfinite, isnan, nan
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.boundary.terminal import counted
from normalhedge.mixtures.losses import (
    NUMBERS,
    PLAIN_MEAN,
    PLAIN_MEDIAN,
    PLAIN_VOTE,
    Absolute,
    Loss,
    Square,
)
from normalhedge.mixtures.state import combine
from normalhedge.mixtures.summaries._best_convex import Convex, best_convex, sampling_step
from normalhedge.mixtures.summaries._components import ComponentLosses

WORSE, ENOUGH = 0.02, 100
"""A warning needs a plain combination whose loss is smaller by more than this share, over at least
this many rows."""

FEW_ROWS, MOST_ROWS = 0.01, 0.05
"""The blend is compared again without this share of rows, which have the largest losses, and
without the rows with absurd forecasts if all of them are at most the second share."""

ABSURD = 10.0
"""A forecast is absurd if it is so many times as far off as the median expert."""

THIRD, POINTS, SIGN = 1.0 / 3.0, 0.05, 0.01
"""These rows matter if they change how far the blend is from a plain combination by this part of
the larger share, and by so many points; or its sign, by fewer points."""

MANY = 2.0
"""Losses that exceed others by this factor are described as a multiple, not in percent."""

GAP = 1e-4
"""The possible error of the best convex combination is shown if it exceeds this share of its
loss."""

BEST_EXPERT, BEST_CONVEX = "best expert", "best convex combination"


class Line(NamedTuple):
    """A line of a comparison: mean losses over the rows compared."""

    name: str  # the blend, or one of its yardsticks
    loss: float  # the mean loss, by the loss of the mixture
    # mae, rmse: the mean absolute error and the root mean square error; NaN if they have no meaning
    mae: float = nan
    rmse: float = nan
    remark: str = ""  # an explanation for the reader


@dataclass(frozen=True)
class Comparison:
    """The blend and its yardsticks, all over the same rows."""

    loss: str  # the name of the mixture's loss
    rows: int  # the number of rows
    # since, rounds: see `Settled`
    since: int | None
    rounds: int
    # the blend, the plain combinations, the best expert and the best convex combination
    lines: tuple[Line, ...]
    # an upper bound on the error of the loss of the best convex combination; see `best_convex`
    gap: float = nan
    # component_losses, component_rows: the mean losses of the components of an automatic mixture
    # over the rows in which all of them made a forecast, and the number of these rows
    component_losses: tuple[float, ...] = ()
    component_rows: int = 0
    of_wealth: bool = False  # whether losses are logarithms of wealth
    # by how much corrections moved the forecasts of the last rows, in the mean; NaN without them
    shift: float = nan
    # few, usual: the number of rows with the largest losses that were left out, and the lines of
    # the blend and the plain combinations without them; of fewer than ENOUGH rows, none
    few: int = 0
    usual: tuple[Line, ...] = ()

    def loss_of(self, name: str) -> float:
        """Return the mean loss of a line; NaN if no line has this name."""
        return next((line.loss for line in self.lines if line.name == name), nan)

    @property
    def where(self) -> str:
        """A description of the rows, such as ``120 rows of the table``."""
        rows = counted(self.rows, "row")
        if self.since is None:
            return f"{rows} of the table"
        rounds = counted(self.rounds, "settled round")
        return f"{rows} of the last {rounds}, since round {self.since:,}"

    @property
    def warning(self) -> str:
        """A sentence if the blend was clearly worse than a plain combination; empty otherwise."""
        if self.rows < ENOUGH:
            return ""
        plain = [x for x in self.lines if x.name in {PLAIN_MEAN, PLAIN_MEDIAN, PLAIN_VOTE}]
        blend = self.lines[0].loss
        if self.of_wealth:
            less = -expm1(self.rows * (plain[0].loss - blend))
            words = f"the blend made {_percent(less)} less than the {plain[0].name}"
            return f"{words}, over {self.where}" if less > WORSE else ""
        behind = [_more(blend, x) for x in plain if blend - x.loss > WORSE * abs(x.loss)]
        return f"the blend lost {' and '.join(behind)}, over {self.where}" if behind else ""

    @property
    def headline(self) -> str:
        """A sentence if a few rows decide how good the blend looks; empty otherwise."""
        if not self.usual or self.of_wealth:
            return ""
        blend, *others = self.usual
        changed = []
        for line in others:
            before = _share(self.lines[0].loss, self.loss_of(line.name))
            after = _share(blend.loss, line.loss)
            size = max(abs(before), abs(after))
            least = SIGN if before * after < 0.0 else max(POINTS, THIRD * size)
            if isfinite(size) and abs(after - before) > least:
                changed.append((line.name, before, after))
        if not changed:
            return ""
        parts = [
            f"{_beside(after)} than the {name} (over all rows {_beside(before)})"
            for name, before, after in changed
        ]
        few = counted(self.few, "row")
        return f"without the {few} with the largest losses, the blend lost {' and '.join(parts)}"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and rows of text; empty columns are left out."""
        columns = {
            f"{self.loss} loss": [_number(line.loss) for line in self.lines],
            "MAE": [_number(line.mae) for line in self.lines],
            "RMSE": [_number(line.rmse) for line in self.lines],
            "": [line.remark + self._doubt(line) for line in self.lines],
        }
        used = {head: cells for head, cells in columns.items() if any(cells)}
        names = [line.name for line in self.lines]
        body = [list(row) for row in zip(names, *used.values(), strict=True)]
        return ["", *used], body

    def _doubt(self, line: Line) -> str:
        """Return a remark on the possible error of the best convex combination, if it matters."""
        least = GAP * max(abs(line.loss), 1e-6 * abs(self.loss_of(PLAIN_MEAN)))
        unsure = line.name == BEST_CONVEX and self.gap > least
        return f"; the least loss may be {self.gap:.2g} smaller" if unsure else ""


def _more(blend: float, line: Line) -> str:
    if line.loss == 0.0:
        return f"{blend:.4g} where the {line.name} lost nothing"
    share = (blend - line.loss) / abs(line.loss)
    words = (
        f"{_percent(share)} more than" if share < MANY else f"{1.0 + share:.3g} times as much as"
    )
    return f"{words} the {line.name} ({blend:.4g} against {line.loss:.4g})"


def _share(loss: float, other: float) -> float:
    return (loss - other) / abs(other) if other else nan


def _beside(share: float) -> str:
    return f"{_percent(abs(share))} {'less' if share < 0.0 else 'more'}"


def _percent(share: float) -> str:
    points = 100.0 * share
    return f"{points:,.0f} %" if points >= 9.95 else f"{points:.1f} %"


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.6g}"


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
    blend: Floats  # the forecasts of the blend; rows x classes
    # the blend and, for an automatic mixture, its components in the last rows; see
    # ``src/core/automatic.hpp``
    last: Floats
    components: ComponentLosses  # of an automatic mixture
    # the number of the first round, if the rows are of the last rounds of a mixture; None if they
    # are a whole table
    since: int | None = None
    rounds: int = 0  # the number of rounds, in the former case


def compare(rows: Settled, loss: Loss, names: Sequence[str], *, corrected: bool) -> Comparison:
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
    rows_awake, by_row = np.zeros(len(names)), list[Floats]()
    for part in _parts(rows):
        table, awake = _columns(loss, part, plain, substitute, convex)
        rows_awake += awake.sum(axis=0)
        for k, measure in enumerate(losses_of):
            losses = _losses(measure, table, part)
            means[k] += losses.sum(axis=0) / count
            if k == 0:
                by_row.append(_row_losses(losses, 1 + len(plain), len(combined)))
    lines = [_line(name, means[:, k]) for k, name in enumerate(("blend", *plain))]
    lines += _best_expert(means[:, len(combined) :], rows_awake / count, names, substitute)
    every = sampling_step(loss, rows.forecasts, SAMPLE)
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
        rows.components.means,
        rows.components.rows,
        loss.of_wealth,
        _shift(rows) if corrected and loss.forecasts.numeric else nan,
        *_without_few(np.concatenate(by_row), ("blend", *plain), loss),
    )


def _row_losses(losses: Floats, combined: int, experts: int) -> Floats:
    """Return the losses of the blend, the plain combinations, the median and the worst expert.

    ``experts`` is the column of the first expert.
    """
    ordered = np.sort(losses[:, experts:], axis=1)
    middle = ordered[:, (ordered.shape[1] - 1) // 2]
    return np.column_stack([losses[:, :combined], middle, ordered[:, -1]])


def _without_few(losses: Floats, names: Sequence[str], loss: Loss) -> tuple[int, tuple[Line, ...]]:
    """Return how many rows have the largest losses, and the lines without them."""
    count = len(losses)
    if count < ENOUGH:
        return 0, ()
    compared, middle, worst = losses[:, : len(names)], losses[:, -2], losses[:, -1]
    few = np.zeros(count, dtype=bool)
    largest = ceil(FEW_ROWS * count)
    few[np.argpartition(compared.max(axis=1), count - largest)[-largest:]] = True
    if loss.forecasts is NUMBERS:
        factor = ABSURD**2 if loss.quadratic else ABSURD
        either = few | (worst > factor * np.maximum(middle, middle.mean()))
        few = either if either.mean() <= MOST_ROWS else few
    means = compared[~few].mean(axis=0)
    lines = [Line(name, float(mean)) for name, mean in zip(names, means, strict=True)]
    return int(few.sum()), tuple(lines)


def _shift(rows: Settled) -> float:
    """Return by how much the followed forecast differs from its base, in the mean."""
    count, classes = len(rows.last), rows.forecasts.shape[1]
    parts = rows.last[:, classes:].reshape(count, classes, rows.last.shape[1] // classes - 1)
    return float(np.nanmean(parts[:, :, 2] - parts[:, :, 3]))


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
        parts = rows.forecasts[a:b], rows.outcomes[a:b], rows.items[a:b], rows.blend[a:b]
        yield Settled(*parts, rows.last, rows.components)


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
        remark += f"; the {substitute} where it was asleep, {_percent(asleep)} of the rows"
    return [_line(BEST_EXPERT, means[:, best], remark)]


def _best_convex(rows: Settled, loss: Loss) -> Convex | None:
    """Return the best convex combination; None for one expert, and for losses without a search."""
    if not loss.has_best_convex or rows.forecasts.shape[2] < 2:
        return None
    way = "median" if loss.forecasts.substitute == PLAIN_MEDIAN else "mean"
    return best_convex(loss, rows.forecasts, rows.outcomes, rows.items, way, SAMPLE)
