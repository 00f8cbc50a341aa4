"""The rounds that are watched: the history of a mixture, or the last rounds of a table."""

from collections.abc import Callable
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.alerts._alerts import Alert, Watched, watch
from normalhedge.mixtures.state import MixtureState, sum_rows, widen

LONGEST = 5000
"""At most this many rounds of a table are watched."""

MOST = 1 << 19
"""At most about this many forecasts are watched."""

ANCHOR, SHORT = 50, 150
"""A history begins at a multiple of ANCHOR rounds, unless it is SHORT: the same scores are then the
past of many looks, and each look is not a test of its own."""

COMPARED_ROWS = 400
"""The number of the last rows in which forecasts are compared with one another."""


def watch_mixture(state: MixtureState) -> tuple[Alert, ...]:
    """Return the alerts of a live mixture, from its history and its pending rounds.

    The time depends on the length of the history, not on the number of rounds.
    """
    live = state.live
    history = sorted(state.history, key=lambda settled: settled.round.number)
    width = history[-1].round.forecasts.shape[1] if history else 0
    history = [one for one in history if one.round.forecasts.shape[1] == width]
    if not history:
        return ()
    tables = [_awake_table(state, one.round) for one in history]
    counts = np.array([len(table) for table in tables])
    if counts.sum() * len(state.names) > MOST:
        kept = max(int(np.searchsorted(np.cumsum(counts[::-1]), MOST // len(state.names))), 1)
        history, tables, counts = history[-kept:], tables[-kept:], counts[-kept:]
    forecasts = np.concatenate(tables)
    outcomes = np.concatenate([one.outcomes for one in history])
    items = np.concatenate([one.round.items for one in history])
    codes = np.repeat(np.arange(len(history)), counts)
    losses = _losses(state, forecasts, outcomes, items, codes, len(history))
    numbers = [one.round.number for one in history]
    awake = {n: _usable(table).any(axis=0) for n, table in zip(numbers, tables, strict=True)}
    for ticket in live.tickets()[-len(history) :]:
        waiting = state.pending.get(ticket)
        if waiting is not None and waiting.number > numbers[0]:
            awake[waiting.number] = _usable(_awake_table(state, waiting)).any(axis=0)
    skipped = 0
    if len(numbers) > SHORT:
        skipped = int(np.searchsorted(numbers, -(-numbers[0] // ANCHOR) * ANCHOR))
    order = sorted(awake)
    marks = live.marks
    last = marks[:, sum_rows.LAST].max(axis=0, initial=-1)
    first = np.where(marks[:, sum_rows.FIRST] < 0, state.rounds, marks[:, sum_rows.FIRST])
    rows = max(live.total_sums[sum_rows.ROWS], 1.0)
    lived = np.maximum(last - first.min(axis=0, initial=state.rounds) + 1, 1)
    share = live.expert_sums[sum_rows.AWAKE] / rows * state.rounds / lived
    return watch(
        Watched(
            state.names, losses[skipped:], np.array([awake[n] for n in order]),
            numbers[skipped:], order,
            forecasts[-COMPARED_ROWS:], _watched(state),
            np.where(last >= 0, state.rounds - 1 - last, 0), np.minimum(share, 1.0),
        )
    )  # fmt: skip


def watch_rows(
    state: MixtureState,
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    codes: np.ndarray,
    label: Callable[[int], Any],
) -> tuple[Alert, ...]:
    """Return the alerts of a table; ``codes`` are the times of rows, and ``label`` names one."""
    n = len(state.names)
    times = np.flatnonzero(np.bincount(codes))
    rows = len(codes) / max(len(times), 1)
    kept = max(int(min(LONGEST, MOST / max(rows * n, 1))), 1)
    used = np.flatnonzero(codes >= times[-kept:][0]) if len(times) else np.zeros(0, dtype=int)
    if not len(used):
        return ()
    used = used[np.argsort(codes[used], kind="stable")]
    times, starts, places = np.unique(codes[used], return_index=True, return_inverse=True)
    table = forecasts[used]
    losses = _losses(state, table, outcomes[used], items[used], places, len(times))
    awake = np.logical_or.reduceat(_usable(table), starts, axis=0)
    labels = [label(int(time)) for time in times]
    never = np.zeros(n)
    return watch(
        Watched(
            state.names, losses, awake, labels, labels, table[-COMPARED_ROWS:], _watched(state),
            never, never,
        )
    )  # fmt: skip


def _awake_table(state: MixtureState, round_: Any) -> Floats:
    """Return the forecasts of a round for the present experts, NaN where they had no confidence."""
    table, confidence = widen(state.live, round_.forecasts, round_.confidence)
    return table if confidence is None else np.where(confidence > 0.0, table, np.nan)


def _usable(table: Floats) -> np.ndarray:
    return np.asarray(np.all(np.abs(table) < LARGEST, axis=1))


def _losses(
    state: MixtureState,
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    codes: np.ndarray,
    count: int,
) -> Floats:
    """Return the mean loss of each expert in each round; NaN where it has none.

    ``codes`` are the rounds of the rows, in order.
    """
    known = ~np.isnan(outcomes)
    table, codes = np.ascontiguousarray(forecasts[known]), codes[known]
    usable = _usable(table)
    table[~np.broadcast_to(usable[:, np.newaxis], table.shape)] = np.nan
    losses = state.settings.loss.table(table, outcomes[known], items[known])
    there = usable & np.isfinite(losses)
    means = np.full((count, table.shape[2]), np.nan)
    present, starts = np.unique(codes, return_index=True)
    if len(present):
        sums = np.add.reduceat(np.where(there, losses, 0.0), starts, axis=0)
        with np.errstate(invalid="ignore"):
            means[present] = sums / np.add.reduceat(there, starts, axis=0, dtype=float)
    return means


def _watched(state: MixtureState) -> np.ndarray:
    """Return which experts are watched: not retired ones, nor plain combinations."""
    plain, retired = len(state.settings.include), state.retired
    names = enumerate(state.names)
    return np.array([k >= plain and name not in retired for k, name in names])
