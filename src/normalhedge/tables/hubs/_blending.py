"""Blend the submissions to a forecast hub into one, as of a date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import (
    date as Date,  # noqa: N812 -- a type
    timedelta,
)
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras, inputs, specs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.progress import Listener, PieceOfWork, listener
from normalhedge.tables.frames import as_tuple
from normalhedge.tables.hubs._folder import Hub, read_hub
from normalhedge.tables.hubs._games import SCORES, HubGame, Played, mean_score, play_game
from normalhedge.tables.hubs._outcomes import TargetData, unmatched
from normalhedge.tables.hubs._samples import ID, KIND, VALUE
from normalhedge.tables.hubs._submissions import MODEL, read_submissions
from normalhedge.tables.hubs._tasks import END, HORIZON, TARGET, Task
from normalhedge.tables.hubs._text_tables import LARGEST_FILE
from normalhedge.tables.hubs._weights import capped, combine
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
        The score: WIS, log loss, square or absolute error.
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
    columns: Mapping[str, str] | None = None,
    largest_file: int = LARGEST_FILE,
    progress: Listener = None,
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
        weights of the table; without it the hedger combines them.
    since
        The first date to learn from.
    name
        The name of the blend as a model of the hub.
    hedger
        The way of combining; see `normalhedge.Mixture`.
    columns
        The names of columns of the target data that are not found by themselves, such as
        ``{"target_end_date": "week", "observation": "cases", "location": "state"}``.
    largest_file
        The largest file that is read, in bytes after decompression.
    progress
        A function that is called with the finished share of the work, or a
        `normalhedge.boundary.progress.Progress`.

    Raises
    ------
    ValueError
        If the folder is not a hub, the target is unknown, no team submitted on this date or there
        are no target data. A submission that cannot be used raises nothing: it is left out, and a
        note names the team, the file and the reason.
    """
    hub = hub if isinstance(hub, Hub) else read_hub(hub)
    _check(known_after, max_weight)
    inputs.count("largest_file", largest_file)
    targets = as_tuple(target)
    for text in targets:
        if text not in hub.tasks:
            raise specs.nearest("target", text, hub.tasks)
    tasks = [hub.tasks[text] for text in targets] or list(hub.tasks.values())
    models, left = hub.chosen(as_tuple(leave_out), as_tuple(keep), name)
    dates = sorted({submitted for model in models for submitted in model.files})
    day = _choose_date(_day("date", date), dates)
    result = HubBlend({}, {}, notes=list(hub.notes), name=name, date=day)
    result.notes += [f"left out {model}: {why}" for model, why in left.items()]
    rows: list[dict[str, Any]] = []
    weights: list[dict[str, Any]] = []
    told = listener(progress)
    told.total(1.0)
    truth = TargetData(hub.folder, columns, largest_file)
    truth.check_columns(tasks)
    tables = read_submissions(
        models, tasks, day, _day("since", since), result.notes,
        targets=list(hub.tasks), budget=largest_file, progress=PieceOfWork(told, 0.5, "reading"),
    )  # fmt: skip
    result.notes += [
        f"{task.target} takes samples only, and the blend has quantiles"
        for task in tasks
        if task.only_samples
    ]
    for task in tasks:
        told.done(0.5 / len(tasks), f"blending {task.target}")
        table = tables.get(task.target)
        if table is None or day.isoformat() not in set(table[task.date].to_pylist()):
            if targets:
                raise ValueError(f"no team submitted forecasts of {task.target} on {day}")
            continue
        for kind in task.outputs:
            for game in _games(hub, truth, task, kind, table, day, known_after, result.notes):
                played = play_game(game, day, hedger, result.notes)
                result.scores.append(_add(rows, weights, game, played, day, max_weight))
    if not rows:
        raise ValueError(f"no team submitted forecasts that can be blended on {day}")
    _finish(result, rows, weights, tasks)
    return result


def _check(known_after: object, max_weight: object) -> None:
    cap = 1.0 if max_weight is None else inputs.number("max_weight", max_weight, 0.0)
    if cap > 1.0:
        raise ValueError(f"max_weight must be more than 0 and at most 1, got {max_weight}")
    if isinstance(known_after, bool) or not isinstance(known_after, int) or known_after < 0:
        raise ValueError(f"known_after must be a number of days, 0 or more, got {known_after!r}")


def _choose_date(day: Date | None, dates: Sequence[Date]) -> Date:
    """Return the given date, or the last one; refuse a date without submissions."""
    if not dates:
        raise ValueError("there are no submissions of models to blend in model-output")
    if day is None:
        return dates[-1]
    if day not in dates:
        near = [str(earlier) for earlier in dates if earlier < day][-1:]
        hint = f": the last date before it is {near[0]}" if near else ""
        raise ValueError(f"no team submitted forecasts of {day}{hint}")
    return day


def _games(
    hub: Hub,
    truth: TargetData,
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
    outcomes, source = truth.outcomes(task, list(hub.tasks.values()), kind, until, day)
    about = f"outcomes of {task.target} ({kind})"
    keys = list(zip(*(table[c].to_pylist() for c in (*task.series, END)), strict=True))
    known: list[Any] = [outcomes.get(key) for key in keys]
    if not outcomes:
        notes.append(f"no {about} are known, so the blend is a plain combination: {source}")
    elif all(value is None for value in known):
        notes.append(unmatched(outcomes, table[END].to_pylist(), f"{task.target} in {source}"))
    else:
        notes.append(f"{about} in {source}")
    ids = task.outputs[kind].ids
    if kind == "pmf":
        place = {text: k for k, text in enumerate(ids)}
        known = [place.get(text) for text in known]
    outcome_of_row = np.array([np.nan if value is None else float(value) for value in known])
    steps = np.array(
        table[HORIZON].to_pylist() if HORIZON in table.column_names else [""] * len(known)
    )
    games = []
    for step in task.allowed.get(HORIZON) or sorted(set(steps.tolist())):
        rows = np.flatnonzero(steps == step)
        part = table.take(extras.require("pyarrow").array(rows))
        if day.isoformat() in set(part[task.date].to_pylist()):
            games.append(HubGame(step, part, outcome_of_row[rows], kind, ids, task, known_after))
    return games


def _add(
    rows: list[dict[str, Any]],
    weights: list[dict[str, Any]],
    game: HubGame,
    played: Played,
    day: Date,
    max_weight: float | None,
) -> HubScore:
    """Add the forecasts and weights of the date to the rows; return the scores of the past."""
    task, output = game.task, game.task.outputs[game.kind]
    values, shares = played.values, played.weights
    if max_weight is not None:
        awake = np.asarray(~np.isnan(played.forecasts).all(axis=1))
        pairs = zip(shares, awake, strict=True)
        shares = np.array([capped(share, who, max_weight) for share, who in pairs])
        values = combine(played.forecasts, shares, guard=game.kind != "pmf")
    written = np.clip(np.round(values) if output.whole else values, output.low, output.high)
    for cell, series in zip(played.last.tolist(), played.cells, strict=True):
        ids = {task.date: day.isoformat(), TARGET: task.target, HORIZON: game.horizon, **series}
        base = {name: ids[name] for name in task.columns} | {KIND: game.kind}
        for k, text in enumerate(output.ids or ["NA"]):
            rows.append({**base, ID: text, VALUE: float(written[cell, k])})
        for i, name in enumerate(played.names):
            if not np.isnan(played.forecasts[cell, :, i]).all():
                weights.append({MODEL: name, **base, "weight": float(shares[cell, i])})
    return _score(game, played, values)


def _score(game: HubGame, played: Played, values: Floats) -> HubScore:
    """Return the scores of the blend, beside plain combinations, over all cells with an outcome."""
    ways: list[Any] = [np.nanmean] if game.kind == "pmf" else [np.nanmean, np.nanmedian]
    every = [values, *(plain_combination(played.forecasts, way) for way in ways)]
    scores = [mean_score(game.kind, part, played.outcomes, game.ids) for part in every]
    models = int((~np.isnan(played.forecasts[played.last])).any(axis=(0, 1)).sum())
    settled = int((~np.isnan(played.outcomes)).sum())
    parts = (game.task.target, game.kind, game.horizon, len(played.cells), models, settled)
    return HubScore(*parts, SCORES[game.kind], *scores, *[nan] * (3 - len(scores)))


def _finish(
    result: HubBlend,
    rows: list[dict[str, Any]],
    weights: list[dict[str, Any]],
    tasks: Sequence[Task],
) -> None:
    """Sort rows in the order of the hub's tasks, and turn them into columns."""
    columns = list(dict.fromkeys(name for task in tasks for name in task.columns))
    place = {
        name: {v: k for k, v in enumerate(v for task in tasks for v in task.allowed.get(name, ()))}
        for name in columns
    }
    kinds = {kind: k for k, kind in enumerate(kind for task in tasks for kind in task.outputs)}

    def order(row: dict[str, Any]) -> tuple[Any, ...]:
        places = [(place[c].get(row.get(c, ""), 1 << 30), str(row.get(c, ""))) for c in columns]
        return (*places, kinds[row[KIND]])

    rows.sort(key=order)  # the ids of a task keep their order
    weights.sort(key=lambda row: (*order(row), row[MODEL]))
    for name in (*columns, KIND, ID, VALUE):
        result.submission[name] = [_cell(name, row.get(name, "")) for row in rows]
    for name in (MODEL, *columns, KIND, "weight"):
        result.weights[name] = [_cell(name, row.get(name, "")) for row in weights]


def _cell(name: str, value: Any) -> Any:
    """Return a value as it is written: NA where a task has none, and horizons as numbers."""
    if value == "":
        return "NA"
    try:
        return int(value) if name == HORIZON else value
    except ValueError:
        return value


def _day(name: str, given: Date | str | None) -> Date | None:
    if given is None or isinstance(given, Date):
        return given
    try:
        return Date.fromisoformat(given)
    except ValueError:
        raise ValueError(f"{name} must be a date such as 2024-01-06, got {given!r}") from None
