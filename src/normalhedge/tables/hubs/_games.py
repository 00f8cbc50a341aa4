"""Play the past of a hub: the forecasts of one output type and horizon, by the order of dates."""

from collections.abc import Sequence
from datetime import date as Date  # noqa: N812 -- a type
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.progress import SILENT
from normalhedge.boundary.terminal import counted
from normalhedge.tables import Blend, blend
from normalhedge.tables.frames import floats
from normalhedge.tables.hubs._samples import ID, VALUE, cells_in
from normalhedge.tables.hubs._submission import level_in
from normalhedge.tables.hubs._submissions import MODEL
from normalhedge.tables.hubs._tasks import END, Task
from normalhedge.tables.quantiles import cells_of, wis_scores

MADE, KNOWN, TRUTH, LEVEL = "(made)", "(known)", "(truth)", "(level)"
"""Columns beside the hub's: when forecasts are made and outcomes known, and others."""

NEVER = 36_500
"""The days that forecasts wait without a date that they are for, as of the peak of a season."""

LEAST = 1e-6
"""Smaller probabilities count as this one in the log loss, as in `normalhedge.mixtures.losses`."""

LOSSES = {"pmf": "log", "mean": "square", "median": "absolute"}
"""The loss of each output type but quantiles, whose loss is the loss of their levels."""

SCORES = {"quantile": "WIS", "pmf": "log loss", "mean": "square error", "median": "absolute error"}
"""The scores in words."""


class HubGame(NamedTuple):
    """The forecasts of one output type and horizon, with outcomes."""

    horizon: str  # the steps ahead, as text
    table: Any  # the rows of the submissions
    # the outcome of each row: a number, or the place of a class; NaN where it is not known
    truth: Floats
    # kind, ids: the output type, and its ids in order
    kind: str
    ids: list[str]
    task: Task
    known_after: int  # the number of days after which an outcome is known

    @property
    def width(self) -> int:
        """The number of values of a forecast."""
        return max(len(self.ids), 1)


class Played(NamedTuple):
    """A game of which all dates were played. A cell is a series on a date."""

    # the complete cells of the last date, as places in the arrays
    last: np.ndarray
    # the ids of the series of these cells, and the date that their forecasts are for
    cells: list[dict[str, str]]
    names: list[str]  # the models
    # forecasts, values, weights, outcomes: the forecasts of the models, cells x ids x models; of
    # the blend, cells x ids; the weights, cells x models; and the outcomes
    forecasts: Floats
    values: Floats
    weights: Floats
    outcomes: Floats


def play_game(game: HubGame, day: Date, hedger: str | None, notes: list[str]) -> Played:
    """Blend the forecasts of all dates.

    All series share one round of each date: the core hedges over weights for all of them, and
    weights for each series by itself.
    """
    pa = extras.require("pyarrow")
    columns: dict[str, Any] = {VALUE: floats(game.table[VALUE])}
    roles: dict[str, Any] = {"forecast": VALUE}
    rows = np.arange(len(game.truth))
    if game.kind == "quantile":
        columns, roles = _quantiles(game)
    if game.kind == "pmf":
        rows, columns, roles = _classes(game)
    table = game.table.take(pa.array(rows))
    made = table[game.task.date].to_numpy(zero_copy_only=False).astype("datetime64[D]")
    ends = table[END].to_numpy(zero_copy_only=False).astype("datetime64[D]")
    ends = np.where(np.isnat(ends), made + np.timedelta64(NEVER, "D"), ends)
    columns |= {name: table[name] for name in (*game.task.series, MODEL)}
    columns |= {MADE: made, KNOWN: ends + np.timedelta64(game.known_after, "D")}
    options: dict[str, Any] = {} if hedger is None else {"hedger": hedger}
    if game.kind in LOSSES:
        options["loss"] = LOSSES[game.kind]
    result = blend(
        pa.table({**columns, TRUTH: game.truth[rows]}), pooled=True, weights=True,
        by=game.task.series, target=TRUTH, time=KNOWN, cutoff=MADE, model=MODEL, **roles,
        progress=SILENT, **options,
    )  # fmt: skip
    notes += [
        f"horizon {game.horizon}: {note}"
        for note in (result.notes if game.kind == "quantile" else [])
        if note.startswith(("crossing", "quantiles inter", "asleep", "1 inf")) or " inf" in note
    ]
    return _last(game, day, result, notes)


def _quantiles(game: HubGame) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return columns with the levels and quantiles of all rows, and the roles of these."""
    levels = np.array([level_in(text) for text in game.table[ID].to_pylist()])
    columns = {LEVEL: levels, VALUE: floats(game.table[VALUE])}
    return columns, {"level": LEVEL, "forecast": VALUE}


def _classes(game: HubGame) -> tuple[np.ndarray, dict[str, Any], dict[str, Any]]:
    """Return a row of each forecast, columns with its probabilities, and the roles of these."""
    group, first = cells_in(game.table, [*game.task.series, MODEL, game.task.date, END])
    places = {text: k for k, text in enumerate(game.ids)}
    place = np.array([places.get(text, -1) for text in game.table[ID].to_pylist()])
    shares = np.zeros((len(first), len(game.ids)))
    shares[group[place >= 0], place[place >= 0]] = floats(game.table[VALUE])[place >= 0]
    columns = {f"({k})": share for k, share in enumerate(shares.T)}
    return first, columns, {"classes": list(columns)}


def _last(game: HubGame, day: Date, result: Blend, notes: list[str]) -> Played:
    """Return all cells in the order of the result, and which of them are of the last date."""
    values, forecasts, outcomes = cells_of(result.rounds, game.width)
    step = game.width if game.kind == "quantile" else 1  # rows of a long result for each cell
    frame, names = result.frame, result.mixture.names
    places = [frame.column_names.index(f"weight_{name}") for name in names]
    weights = np.column_stack([floats(frame.column(place)) for place in places])
    weights = weights.reshape(-1, step, len(names)).mean(axis=1)
    index = frame.select([*game.task.series, MADE, KNOWN]).take(
        extras.require("pyarrow").array(np.arange(0, frame.num_rows, step))
    )
    made = index[MADE].to_numpy().astype("datetime64[D]")
    here = made == np.datetime64(day)
    whole = here & ~np.isnan(values).any(axis=1) & (values.shape[1] == game.width)
    if (here & ~whole).any():
        lost = int((here & ~whole).sum())
        notes.append(
            f"horizon {game.horizon}: {counted(lost, 'task')} without a forecast at every level"
        )
    ends = index[KNOWN].to_numpy().astype("datetime64[D]") - np.timedelta64(game.known_after, "D")
    dates = np.where(ends - made >= np.timedelta64(NEVER, "D"), "", ends.astype(str))
    cells = [
        {**{name: index[name][row].as_py() for name in game.task.series}, END: str(dates[row])}
        for row in np.flatnonzero(whole).tolist()
    ]
    shares = np.nan_to_num(weights)
    total = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, total, out=shares, where=total > 0.0)
    return Played(np.flatnonzero(whole), cells, names, forecasts, values, shares, outcomes)


def mean_score(kind: str, values: Floats, outcomes: Floats, ids: Sequence[str]) -> float:
    """Return the mean score of forecasts over the cells with an outcome; NaN without any."""
    known = ~np.isnan(outcomes) & ~np.isnan(values).any(axis=1)
    values, outcomes = values[known], outcomes[known]
    if not len(outcomes):
        return float("nan")
    if kind == "quantile":
        return float(wis_scores(values, outcomes, [level_in(text) for text in ids]).mean())
    if kind == "pmf":
        chance = values[np.arange(len(values)), outcomes.astype(np.int64)]
        return float(-np.log(np.maximum(chance, LEAST)).mean())
    errors = values[:, 0] - outcomes
    return float((errors**2 if kind == "mean" else np.abs(errors)).mean())
