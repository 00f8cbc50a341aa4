"""The cells of the contexts of a table, numbered as a loop over `Mixture` would number them."""

from typing import Any

import numpy as np

from normalhedge.mixtures.rules import CONTEXTS
from normalhedge.mixtures.state import (
    MOST_CELLS,
    MixtureState,
    contexts_of,
    plan_cells,
    refuse_contexts,
    takes_contexts,
)
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames import DATE_PARTS, STEP, Columns, Panel, local_date

ROUNDS_PER_CELL = 20
"""By default, a part of dates is tried from this many rounds for each of its values on. It could be
tried at once, as its cells begin without a correction; but on short panels that cost up to 2.7 %,
and this rule never more than 0.2 %: see ``benchmarks/panels/contexts.py``."""


def usual_contexts(state: MixtureState | None, table: Any, spec: Columns) -> tuple[str, ...] | None:
    """Return the contexts that a mixture knows from earlier tables; None for the parts of dates."""
    names = [] if state is None else contexts_of(state.live)
    if set(names) <= DATE_PARTS.keys():
        return None
    steps = [STEP] if spec.cutoff or "cutoff" in table.column_names else []
    return tuple(name for name in names if name in {*table.column_names, *DATE_PARTS, *steps})


def settle_contexts(session: TableSession, panel: Panel, columns: Columns) -> None:
    """Leave out contexts that are not tried; refuse contexts that the mixture cannot have."""
    if columns.context:
        refuse_contexts(session.state.settings)
    if columns.context is not None:
        return
    if not takes_contexts(session.state.settings):
        panel.contexts = {}
    known = contexts_of(session.state.live)
    for name in [name for name in panel.contexts if name not in known]:
        start = _first_time(session, panel, name)
        if start is None:
            del panel.contexts[name]
        else:
            context = panel.contexts[name]
            codes = np.where(panel.times >= start, context.codes, -1).astype(np.int32)
            panel.contexts[name] = context._replace(codes=codes)


def _first_time(session: TableSession, panel: Panel, name: str) -> int | None:
    """Return the number of the time from which on a part of dates is tried; None if it is not.

    It is tried when there were enough rounds, from the first time on that has another value than
    the time before and follows it within a cycle. That depends on no later row.
    """
    calendar, part = panel.calendar, DATE_PARTS[name]
    assert calendar is not None
    dates, previous = calendar.dates, calendar.previous
    last, begin = session.last_times.get(0), 0
    if last is not None:
        begin = int(session.first_new_times(panel)[0])
        if panel.steps is None:
            previous = previous.copy()
            previous[panel.times == begin] = local_date(last, calendar)
    enough = session.state.rounds + panel.times - begin >= ROUNDS_PER_CELL * part.size
    follows = ~np.isnat(previous) & (dates > previous) & (dates - previous < part.cycle)
    follows[follows] = part.values(dates[follows]) != part.values(previous[follows])
    found = panel.times[enough & follows]
    return int(found.min()) if len(found) else None


def place_rows(
    session: TableSession, panel: Panel, row_of: np.ndarray, rounds: np.ndarray, cells: np.ndarray
) -> list[str]:
    """Write the cells of the new rows of rounds; return notes.

    ``row_of`` has the row of the panel of each row in order, -1 for a row that was predicted
    before; ``rounds`` the number of its round.
    """
    if not panel.contexts:
        return []
    new = np.flatnonzero(row_of >= 0)
    values = {name: context.codes[row_of[new]] for name, context in panel.contexts.items()}
    firsts = []
    for number, (name, codes) in enumerate(values.items()):
        distinct, at = np.unique(codes, return_index=True)
        words = panel.contexts[name].words
        firsts += [
            (int(rounds[new[k]]), number, int(k), name, words[code])
            for code, k in zip(distinct.tolist(), at.tolist(), strict=True)
            if code >= 0
        ]
    live = session.state.live
    plan = plan_cells(live, [(name, word) for *_, name, word in sorted(firsts)])
    live.join(live.version, [], [], plan.new, [])
    notes = []
    for name, places in plan.places.items():
        words = panel.contexts[name].words
        numbers = np.array([places.get(word, -1) for word in words] + [-1], dtype=np.int32)
        cells[new, plan.contexts.index(name)] = numbers[values[name]]
        left = len(np.unique(values[name][values[name] >= 0])) - len(places)
        if left:
            notes.append(
                f"context {name} has more than {MOST_CELLS} values: rows with {left:,} others have "
                "the common weights"
            )
    return notes


def no_cells(rows: int) -> np.ndarray:
    """Return the cells of rows without contexts."""
    return np.full((rows, CONTEXTS), -1, dtype=np.int32)
