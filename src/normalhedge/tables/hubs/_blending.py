"""Blend the submissions to a forecast hub into one, as of a date."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import (
    date as Date,  # noqa: N812 -- a type
    timedelta,
)
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras, inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.tables.hubs._folder import Hub, read_hub
from normalhedge.tables.hubs._games import SCORES, HubGame, Played, mean_score, play_game
from normalhedge.tables.hubs._outcomes import read_outcomes
from normalhedge.tables.hubs._submissions import ID, KIND, MODEL, VALUE, read_submissions
from normalhedge.tables.hubs._tasks import END, HORIZON, TARGET, Task, task_of
from normalhedge.tables.hubs._weights import capped, combined
from normalhedge.tables.quantiles import plain_combination

KNOWN_AFTER = 7
"""The days after the end of a week for which its outcome is not known to forecasts."""

NAME = "normalhedge-blend"
"""The name of the blend among the models of a hub."""


class HubScore(NamedTuple):
    """The scores of a blend in the past of its date, for one output type and horizon.

    Attributes
    ----------
    target, kind, horizon
        The target, the output type and the steps ahead.
    tasks, models
        The numbers of tasks that are forecast, and of models awake, on the date.
    settled
        The number of past tasks with an outcome.
    loss
        What is scored: WIS, log loss, square or absolute error.
    blend, mean, median
        The mean scores of the blend, the plain mean and the plain median over the past tasks.
    """

    target: str
    kind: str
    horizon: str
    tasks: int
    models: int
    settled: int
    loss: str
    blend: float
    mean: float
    median: float


@dataclass
class HubBlend:
    """The result of `blend_hub`.

    Attributes
    ----------
    submission
        The columns of the submission, in the format of the hub.
    weights
        The columns of the table of weights: ``model_id``, task ids, ``output_type``, ``weight``.
    scores
        How the blend did in the past.
    notes
        Sentences about models and files that were left out, and others.
    name, date
        The name of the blend as a model, and the date.
    """

    submission: dict[str, list[Any]]
    weights: dict[str, list[Any]]
    scores: list[HubScore] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    name: str = NAME
    date: Date = Date.min


def blend_hub(
    hub: Hub | str | Path,
    target: str | Sequence[str] = (),
    date: Date | str | None = None,
    *,
    known_after: int = KNOWN_AFTER,
    leave_out: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    max_weight: float | None = None,
    since: Date | str | None = None,
    name: str = NAME,
    hedger: str | None = None,
) -> HubBlend:
    """Blend the submissions of a date, with weights learned from earlier ones.

    Nothing looks ahead: files of later dates are not opened, and later outcomes are not used. The
    weights of each horizon are learned by themselves, from all series and levels together. The same
    files give the same result.

    Parameters
    ----------
    hub
        The hub, or its folder.
    target
        The target, or several; by default all targets with forecasts of the date.
    date
        The date of the submissions to blend; by default the last one.
    known_after
        The number of days after which an outcome is known to forecasts: one of ``target_end_date``
        e is known to forecasts of date t if e <= t - known_after.
    leave_out, keep
        Patterns of the names of models to leave out, and to keep although the hub made them.
    max_weight
        The largest weight that a model may have. The forecasts are then weighted means with the
        weights of the table; without it they are those of the hedger.
    since
        The first date to learn from.
    name
        The name of the blend as a model of the hub.
    hedger
        The way of combining; see `normalhedge.Mixture`.

    Raises
    ------
    ValueError
        If the folder is not a hub, the target is unknown, nobody submitted on this date or there
        are no target data.
    """
    hub = hub if isinstance(hub, Hub) else read_hub(hub)
    _check(known_after, max_weight)
    asked = _tuple(target)
    tasks = [task_of(hub.tasks, one) for one in asked] or list(hub.tasks.values())
    models, left = hub.chosen(_tuple(leave_out), _tuple(keep), name)
    day = _date_of(_day("date", date), sorted({own for model in models for own in model.files}))
    result = HubBlend({}, {}, notes=list(hub.notes), name=name, date=day)
    result.notes += [f"left out {own}: {why}" for own, why in left.items()]
    rows: list[dict[str, Any]] = []
    weights: list[dict[str, Any]] = []
    tables = read_submissions(models, tasks, day, _day("since", since), result.notes)
    for task in tasks:
        table = tables.get(task.target)
        if table is None or day.isoformat() not in set(table[task.date].to_pylist()):
            if asked:
                raise ValueError(f"nobody submitted forecasts of {task.target} on {day}")
            continue
        for kind in task.outputs:
            games = _games(hub, task, kind, table, day, known_after, result.notes)
            for game in games:
                _add(result, rows, weights, task, kind, game, day, max_weight, hedger)
    if not rows:
        raise ValueError(f"nobody submitted forecasts that can be blended on {day}")
    _finish(result, rows, weights, tasks)
    return result


def _check(known_after: object, max_weight: object) -> None:
    cap = 1.0 if max_weight is None else inputs.number("max_weight", max_weight, 0.0)
    if cap > 1.0:
        raise ValueError(f"max_weight must be more than 0 and at most 1, got {max_weight}")
    if isinstance(known_after, bool) or not isinstance(known_after, int) or known_after < 0:
        raise ValueError(f"known_after must be a number of days, 0 or more, got {known_after!r}")


def _date_of(day: Date | None, dates: Sequence[Date]) -> Date:
    """Return the date that was asked for, or the last one; refuse a date without submissions."""
    if not dates:
        raise ValueError("there are no submissions of models to blend in model-output")
    if day is None:
        return dates[-1]
    if day not in dates:
        near = [str(own) for own in dates if own < day][-1:]
        hint = f": the last date before it is {near[0]}" if near else ""
        raise ValueError(f"nobody submitted forecasts of {day}{hint}")
    return day


def _games(
    hub: Hub,
    task: Task,
    kind: str,
    table: Any,
    day: Date,
    known_after: int,
    notes: list[str],
) -> list[HubGame]:
    """Return a game for each horizon of an output type: forecasts with their outcomes."""
    pc = extras.require("pyarrow.compute")
    table = table.filter(pc.equal(table[KIND], kind))
    if not table.num_rows:
        return []
    until = day - timedelta(days=known_after)
    outcomes, source = read_outcomes(hub.folder, task, list(hub.tasks.values()), kind, until, day)
    if not outcomes:
        notes.append(
            f"no outcomes of {task.target} ({kind}) are known: the blend is a plain combination"
        )
    else:
        notes.append(f"outcomes of {task.target} ({kind}) in {source}")
    keys = zip(*(table[c].to_pylist() for c in (*task.series, END)), strict=True)
    output = task.outputs[kind]
    known: list[Any] = [outcomes.get(key) for key in keys]
    if kind == "pmf":
        place = {own: k for k, own in enumerate(output.ids)}
        known = [place.get(own) for own in known]
    truth = np.array([np.nan if own is None else float(own) for own in known])
    steps = table[HORIZON].to_pylist() if HORIZON in table.column_names else [""] * len(truth)
    order = task.allowed.get(HORIZON) or sorted(set(steps))
    found = []
    for step in order:
        own = np.array([one == step for one in steps], dtype=bool)
        part = table.filter(extras.require("pyarrow").array(own))
        if day.isoformat() in set(part[task.date].to_pylist()):
            found.append(HubGame(step, part, truth[own], kind, output.ids, task, known_after))
    return found


def _add(
    result: HubBlend,
    rows: list[dict[str, Any]],
    weights: list[dict[str, Any]],
    task: Task,
    kind: str,
    game: HubGame,
    day: Date,
    max_weight: float | None,
    hedger: str | None,
) -> None:
    """Play a game, and add the forecasts and weights of the date to the rows."""
    played = play_game(game, day, hedger, result.notes)
    output = task.outputs[kind]
    values, shares = played.values, played.weights
    if max_weight is not None:
        awake = np.asarray(~np.isnan(played.forecasts).all(axis=1))
        pairs = zip(shares, awake, strict=True)
        shares = np.array([capped(own, who, max_weight) for own, who in pairs])
        values = combined(played.forecasts, shares, guard=kind != "pmf")
    written = _within(values, output.low, output.high, whole=output.whole)
    for cell, ids in zip(played.last.tolist(), played.cells, strict=True):
        known = {task.date: day.isoformat(), TARGET: task.target, HORIZON: game.horizon, **ids}
        base = {name: known[name] for name in task.columns}
        for k, own in enumerate(output.ids or ["NA"]):
            rows.append({**base, KIND: kind, ID: own, VALUE: float(written[cell, k])})
        for i, name in enumerate(played.names):
            if not np.isnan(played.forecasts[cell, :, i]).all():
                share = float(shares[cell, i])
                weights.append({MODEL: name, **base, KIND: kind, "weight": share})
    result.scores.append(_score(task, kind, game, played, values))


def _score(task: Task, kind: str, game: HubGame, played: Played, values: Floats) -> HubScore:
    """Return how the blend did, beside plain combinations, over all cells with an outcome."""
    ways: list[Any] = [np.nanmean] if kind == "pmf" else [np.nanmean, np.nanmedian]
    every = [values, *(plain_combination(played.forecasts, way) for way in ways)]
    found = [mean_score(kind, own, played.outcomes, game.ids) for own in every]
    models = int((~np.isnan(played.forecasts[played.last])).any(axis=(0, 1)).sum())
    settled = int((~np.isnan(played.outcomes)).sum())
    parts = (task.target, kind, game.horizon, len(played.cells), models, settled, SCORES[kind])
    return HubScore(*parts, *found, *[nan] * (3 - len(found)))


def _within(values: Floats, low: float | None, high: float | None, *, whole: bool) -> Floats:
    """Return values within the limits of the hub."""
    found = np.round(values) if whole else values
    return np.clip(found, -np.inf if low is None else low, np.inf if high is None else high)


def _finish(
    result: HubBlend,
    rows: list[dict[str, Any]],
    weights: list[dict[str, Any]],
    tasks: Sequence[Task],
) -> None:
    """Sort rows in the order of the hub's tasks, and turn them into columns."""
    columns = list(dict.fromkeys(name for task in tasks for name in task.columns))
    place = {
        name: {
            own: k for k, own in enumerate(v for task in tasks for v in task.allowed.get(name, ()))
        }
        for name in columns
    }
    kinds = {own: k for k, own in enumerate(kind for task in tasks for kind in task.outputs)}

    def order(row: dict[str, Any]) -> tuple[Any, ...]:
        places = [(place[c].get(row.get(c, ""), 1 << 30), str(row.get(c, ""))) for c in columns]
        return (*places, kinds[row[KIND]])

    rows.sort(key=order)  # the ids of a task keep their order
    weights.sort(key=lambda row: (*order(row), row[MODEL]))
    for target, source, more in (
        (result.submission, rows, [KIND, ID, VALUE]),
        (result.weights, weights, [KIND, "weight"]),
    ):
        heads = [*([MODEL] if target is result.weights else []), *columns, *more]
        for name in heads:
            target[name] = [_cell(row.get(name, "")) for row in source]
    for target in (result.submission, result.weights):
        if HORIZON in target:
            target[HORIZON] = [_whole(own) for own in target[HORIZON]]


def _cell(value: Any) -> Any:
    """Return a value as it is written: NA where a task has none."""
    return "NA" if value == "" else value


def _whole(text: str) -> Any:
    """Return a horizon as the number it is."""
    try:
        return int(text)
    except ValueError:
        return text


def _tuple(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _day(name: str, given: Date | str | None) -> Date | None:
    if given is None or isinstance(given, Date):
        return given
    try:
        return Date.fromisoformat(given)
    except ValueError:
        raise ValueError(f"{name} must be a date such as 2024-01-06, got {given!r}") from None
