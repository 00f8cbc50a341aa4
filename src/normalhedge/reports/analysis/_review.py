"""The review of a blend for readers: errors, forecasts beside outcomes, intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.reports.analysis._coverage import (
    CoverageReview,
    bands,
    bands_in,
    bands_of_quantiles,
    coverage,
)
from normalhedge.reports.analysis._errors import Errors, Lead, Scores, Worst
from normalhedge.reports.analysis._outliers import (
    Absurd,
    absurd_models,
    stretch_of,
    worst_rows,
)
from normalhedge.reports.analysis._rows import calendar, rows_of
from normalhedge.reports.analysis._tracks import SeriesTrack, tracks
from normalhedge.tables import Blend
from normalhedge.tables.frames import to_arrow

MODELS = 20
"""The largest number of single models beside outcomes: absurd ones, then the best."""


@dataclass(frozen=True)
class ErrorComparison:
    """The errors of a blend and of other forecasters over some rows."""

    # rows, rounds: the numbers of rows and of rounds with an outcome
    rows: int
    rounds: int
    # the errors of the blend, of plain combinations and of all models, over these rows
    errors: Errors
    best: str | None  # the best single model in hindsight; None if no model was often awake
    # the lead of the blend over plain combinations and over the best model, by name
    leads: dict[str, Lead]

    @property
    def plain(self) -> str:
        """The name of the plain mean, or of the plain vote for labels."""
        return self.errors.names[1]

    @property
    def plain_count(self) -> int:
        """The number of plain combinations, which follow the blend in the errors."""
        return sum(name.startswith("plain ") for name in self.errors.names[1:3])

    @property
    def of_wealth(self) -> bool:
        """Whether the loss is the loss of wealth, which may be negative."""
        return self.errors.measures[0].name == "log-wealth loss"


@dataclass(frozen=True)
class Review(ErrorComparison):
    """The errors of a blend and of its models, in the units of the data."""

    target: str  # the name of the column of outcomes
    # the errors by steps ahead, hour, weekday and month, each with its title
    groups: list[tuple[str, Errors]]
    series: Errors | None  # the errors by series; None if there is one only
    # forecasts beside outcomes; none for classes, labels and price relatives
    tracks: list[SeriesTrack]
    coverage: CoverageReview | None  # the coverage of the intervals; None if there are none
    worst: Worst | None  # the row in which the blend lost most, if it lost anything
    absurd: list[Absurd]  # the models with absurd forecasts
    usual: ErrorComparison | None  # without the rows of the largest losses; None for wealth
    stretch: tuple[Any, Any] | None  # the time of most of these rows, if they lie close together
    ahead: bool  # whether a time may have forecasts of several steps ahead
    zone: str = ""  # the zone of the times, if they have one


def review(
    blend: Blend,
    *,
    lower: Mapping[float, Any] | None = None,
    upper: Mapping[float, Any] | None = None,
    levels: Sequence[float] | None = None,
) -> Review:
    """Return the errors of a blend by series, steps ahead, hour, weekday and month.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from normalhedge import blend
    >>> table = pa.table({"y": [1.0, 2.0, 3.0], "a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 2.0]})
    >>> result = review(blend(table, target="y"))
    >>> result.best, result.errors.names
    ('a', ['blend', 'plain mean', 'plain median', 'a', 'b'])
    """
    rows, mixture = rows_of(blend), blend.mixture
    if levels is None and blend.quantiles is not None:
        levels = blend.quantiles.levels
    scores = Scores(rows, mixture.settings.loss, levels)
    comparison, table = _compare(scores)
    errors = comparison.errors
    names = ["blend", *comparison.leads]
    absurd = absurd_models(scores)
    far = worst_rows(scores, table, absurd)
    order = np.argsort(np.nan_to_num(errors.above_blend[1 + len(scores.plain) :], nan=np.inf))
    shown = [model.name for model in absurd]
    shown += [rows.models[k] for k in order.tolist() if rows.models[k] not in shown]
    split = 0 < len(far) < len(scores.known) and not scores.loss.of_wealth
    parts = [*([rows.steps] if rows.steps else []), *(calendar(rows.times) if rows.dated else [])]
    several = len(rows.series.labels) > 1
    frame = to_arrow(blend.frame)[0]
    intervals = bands(lower, upper, frame.num_rows) or bands_in(frame)
    if intervals is not None:
        intervals = intervals.at(rows.places)
    elif scores.levels is not None:
        intervals = bands_of_quantiles(rows.values, scores.levels)
    return Review(
        **vars(comparison),
        target=str(blend.columns.target),
        groups=[(part.title, scores.by(part, table, names)) for part in parts],
        series=scores.by(rows.series, table, names) if several else None,
        tracks=tracks(rows, intervals, shown[:MODELS], scores.middle) if scores.numbers else [],
        worst=scores.worst(table),
        absurd=absurd,
        usual=_compare(scores.without(far))[0] if split else None,
        stretch=stretch_of(scores, far),
        ahead=rows.steps is not None,
        zone=blend.columns.zone,
        coverage=None if intervals is None else coverage(rows, intervals, scores.middle),
    )


def _compare(scores: Scores) -> tuple[ErrorComparison, Floats]:
    """Return the errors over the rows of scores, and the forecasts of the leading forecasters."""
    errors = scores.overall()
    best = scores.best_model(errors)
    table = scores.table_with(best)
    names = [*errors.names[1 : 1 + len(scores.plain)], *([best] if best is not None else [])]
    leads = {name: scores.lead(table, k) for k, name in enumerate(names, start=1)}
    rounds = len(np.unique(scores.rows.rounds[scores.known]))
    return ErrorComparison(len(scores.known), rounds, errors, best, leads), table
