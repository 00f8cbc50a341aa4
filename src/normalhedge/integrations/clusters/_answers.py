"""A mixture in a stream of rows: forecasts, outcomes that come later, or both in one row."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from normalhedge.boundary.terminal import clipped
from normalhedge.mixtures import Mixture


class StreamRow(NamedTuple):
    """A row of a stream, of one key."""

    time: Any  # the place of the row in the order of its key
    id: Any  # the id of the round, by which a later row gives its outcome
    forecasts: Sequence[float | None]  # the forecast of each expert; None or NaN where it sleeps
    outcome: float | None  # the outcome; None or NaN if it is unknown


class StreamAnswer(NamedTuple):
    """The answer to a row: a prediction, or the reason why the row cannot be used."""

    # time, id: the time and the id of the row
    time: Any
    id: Any
    blend: float | None  # the blend; None if no expert is awake, or nothing could be predicted
    # the lower and the upper bound of each interval; empty without intervals
    intervals: tuple[float | None, ...]
    weights: dict[str, float]  # the weight of each expert
    # The fault of the row; None if it has none. Without a blend, the row has changed nothing.
    error: str | None


def answers(
    mixture: Mixture, experts: Sequence[str], rows: Iterable[StreamRow]
) -> list[StreamAnswer]:
    """Predict and learn, row by row; return an answer for each prediction and each wrong row.

    A row with forecasts is a round: ``predict``. With an outcome, too, it is learned from at once:
    ``update``. A row with an outcome alone settles the earlier round with its id. Rows are taken in
    the order of their times; of the same time, forecasts before outcomes, then by id. So the order
    in which a batch arrives changes nothing.
    """
    replies = []
    for row in sorted(rows, key=_place):
        forecasts = dict(zip(experts, map(_number, row.forecasts), strict=True))
        try:
            if any(value is not None for value in forecasts.values()):
                replies.append(_predict(mixture, row, forecasts))
            elif _number(row.outcome) is not None:
                mixture.update(outcome=_number(row.outcome), id=row.id)
            else:
                raise ValueError("the row has neither forecasts nor an outcome")
        except (KeyError, TypeError, ValueError) as error:
            why = clipped(str(error.args[0] if error.args else error))
            replies.append(StreamAnswer(row.time, row.id, None, (), {}, why))
    return replies


def _predict(mixture: Mixture, row: StreamRow, forecasts: dict[str, float | None]) -> StreamAnswer:
    """Answer a row with forecasts; learn from its outcome, if it has one."""
    made = mixture.predict(forecasts, id=row.id)
    value = None if made.value is None else float(made.value)
    pairs = () if made.intervals is None else made.intervals.values()
    bounds = tuple(None if bound is None else float(bound) for pair in pairs for bound in pair)
    outcome, wrong = _number(row.outcome), None
    if outcome is not None:
        try:
            mixture.update(made.ticket, outcome)
        except (TypeError, ValueError) as error:
            wrong = f"{clipped(str(error))}: the round waits for its outcome"
    return StreamAnswer(row.time, row.id, value, bounds, dict(made.weights), wrong)


def _number(value: Any) -> float | None:
    """Return a cell as a number; None where it is missing."""
    return None if value is None or value != value else float(value)  # noqa: PLR0124


def _place(row: StreamRow) -> tuple[Any, ...]:
    alone = all(_number(value) is None for value in row.forecasts)
    return row.time, alone, str(row.id)
