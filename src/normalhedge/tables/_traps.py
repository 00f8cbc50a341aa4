"""Tables that would be blended without an error, and to no good: each gets a sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.state import LAST, MixtureState
from normalhedge.tables._cleaning import ENOUGH, sample_rows, suspects
from normalhedge.tables.frames import Columns, Panel, written_order

EQUAL = 0.95
"""An expert that equals the outcome in this share of its rows is taken for a copy of it."""

PERCENT = 100.0
CLOSE = 1.25
"""Ratios within this factor of a hundred are taken for percent beside fractions."""

TWICE, AWAY = 2, 2.0
"""A number is taken for a missing value if it appears so often, and is so far from the other
numbers of its column, in units of their range."""

LATELY = 10
"""A model has left if it was there in so many rounds before a table, and has no column in it."""


def refuse_falling(table: Any, columns: Columns, series: np.ndarray) -> None:
    """Refuse rows in the falling order of dates, if no column is named as the time."""
    if columns.time is not None:
        return
    roles = {columns.target, columns.model, columns.forecast, *columns.by, *columns.classes}
    for name in table.column_names:
        if name in roles:
            continue
        dates = written_order(table[name], name)
        if dates is None or len(dates) < 3:
            continue
        order = np.argsort(series, kind="stable")
        steps = np.diff(dates[order])[np.diff(series[order]) == 0].astype(np.int64)
        if len(steps) > 1 and (steps <= 0).all() and (steps < 0).any():
            first, last = (table[name][k].as_py() for k in (0, table.num_rows - 1))
            raise ValueError(
                f"column {name} falls from {first} to {last}, and no column is named as the time: "
                "in this order of rows the blend would learn backwards; name the column with time"
            )


def doubts(
    panel: Panel, columns: Columns, *, numbers: bool, guessed: bool, continued: bool
) -> list[str]:
    """Return sentences about a table from which nothing, or nothing good, can be learned.

    ``numbers`` tells that forecasts are plain numbers, ``guessed`` that nobody named the experts.
    """
    cells, target = (panel.experts, panel.forecasts, panel.outcomes), str(columns.target)
    notes = [] if continued else no_outcome(panel.outcomes, target)
    if numbers:
        wide = guessed and columns.model is None
        notes += [*copies(*cells), *percents(*cells), *(suspects(*cells) if wide else [])]
        notes += [*placeholders(*cells, target), *probabilities(*cells[1:], target)]
    if len(columns.by) and len(panel.outcomes) == len(panel.items) > 1:
        notes.append("every series has one row only, so that nothing can be learned")
    return notes


def probabilities(forecasts: Floats, outcomes: Floats, target: str) -> list[str]:
    """Return a sentence if the forecasts may be probabilities of an event, which has 0 and 1."""
    cells, known = sample_rows(forecasts[:, 0], outcomes)
    cells, known = cells[~np.isnan(cells)], known[~np.isnan(known)]
    events = len(known) >= ENOUGH and np.array_equal(np.unique(known), [0.0, 1.0])
    if not events or not len(cells) or cells.min() < 0.0 or cells.max() > 1.0:
        return []
    if np.isin(cells, [0.0, 1.0]).all():
        return []
    return [
        f"{target} is 0 or 1: if the forecasts are probabilities, the loss brier or log keeps the "
        "blend between 0 and 1"
    ]


def copies(experts: Sequence[str], forecasts: Floats, outcomes: Floats) -> list[str]:
    """Return sentences about experts that equal the outcome in nearly all of their rows."""
    cells, known = sample_rows(forecasts[:, 0], outcomes)
    if len(np.unique(known[~np.isnan(known)])) <= ENOUGH:
        return []  # of a few values, a good forecast may hit most
    awake = (~np.isnan(cells) & ~np.isnan(known)[:, np.newaxis]).sum(axis=0)
    same = (cells == known[:, np.newaxis]).sum(axis=0)
    return [
        f"{experts[k]} equals the outcome in {_share(same[k] / awake[k])} of its rows: is it a "
        "copy of the target? No forecast knows it"
        for k in np.flatnonzero((awake >= ENOUGH) & (same >= EQUAL * awake)).tolist()
    ]


def percents(experts: Sequence[str], forecasts: Floats, outcomes: Floats) -> list[str]:
    """Return sentences about experts in percent of a target in fractions, and the reverse."""
    cells, known = sample_rows(forecasts[:, 0], outcomes)
    notes = []
    for k, name in enumerate(experts):
        with np.errstate(all="ignore"):
            ratios = cells[:, k] / known
        ratios = ratios[np.isfinite(ratios)]
        if len(ratios) < ENOUGH:
            continue
        low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
        for factor, words in ((PERCENT, "100 times"), (1.0 / PERCENT, "a hundredth of")):
            centred = factor / CLOSE < middle < factor * CLOSE
            if centred and low > factor / CLOSE**2 and high < factor * CLOSE**2:
                notes.append(
                    f"{name} is about {words} the outcome in most rows: percent beside fractions?"
                )
    return notes


def no_outcome(outcomes: Floats, target: str) -> list[str]:
    """Return a sentence if no outcome is known."""
    known = not np.isnan(outcomes).all()
    return [] if known else [f"column {target} has no outcome, so that nothing is learned"]


def placeholders(
    experts: Sequence[str], forecasts: Floats, outcomes: Floats, target: str
) -> list[str]:
    """Return sentences about columns with a number that seems to stand for missing values."""
    cells, known = sample_rows(forecasts[:, 0], outcomes)
    notes = []
    for name, column in zip((target, *experts), (known, *cells.T), strict=True):
        values, counts = np.unique(column[np.isfinite(column)], return_counts=True)
        if len(values) < ENOUGH:
            continue
        for end, rest in ((0, values[1:]), (-1, values[:-1])):
            gap = abs(values[end] - rest[end])
            if counts[end] >= TWICE and gap > AWAY * (rest[-1] - rest[0]):
                notes.append(
                    f"{name} is {values[end]:g} in {counts[end]:,} rows, far from its other "
                    "values: if it stands for a missing value, leave these cells empty"
                )
    return notes


def renamed(state: MixtureState, experts: Sequence[str]) -> list[str]:
    """Return a sentence if models of the last rounds are missing and others are new."""
    present, names = set(state.names), set(experts)
    new = [name for name in experts if name not in present]
    if not new or not state.rounds:
        return []
    seen = state.live.marks[:, LAST].max(axis=0, initial=-1)
    missing = [
        name
        for name, last in zip(state.names, seen.tolist(), strict=True)
        if name not in names and last >= state.rounds - LATELY and name not in state.retired
    ][len(state.settings.include) :]
    if not missing:
        return []
    return [
        f"{_few(new)} {_is(new)} new, and {_few(missing)} {_is(missing)} missing: a model that has "
        "another name now starts without its record, unless the mixture renames it, too "
        '(Mixture.rename; in a stream {"rename": ["old", "new"]})'
    ]


def _share(share: float) -> str:
    return "all" if share == 1.0 else f"{share:.0%}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + ", ..." * (len(names) > 3)


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
