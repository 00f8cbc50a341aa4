"""Alerts and explanations of a table that was blended."""

from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.alerts import Alert, watch_rows
from normalhedge.mixtures.explanations import (
    AGAIN,
    ESTIMATE,
    Absence,
    Explanation,
    estimate_absences,
    trace_changes,
    trace_moves,
)
from normalhedge.mixtures.state import MixtureState, TableFacts, sum_rows
from normalhedge.tables._rounds import TableRounds

AFFORDABLE = 2_000_000
"""A table is blended again without each expert if that takes at most this many forecasts."""


def watch_table(state: MixtureState, rounds: TableRounds) -> tuple[Alert, ...]:
    """Return the alerts of a table."""
    new = rounds.row_of >= 0
    codes = np.repeat(rounds.codes, np.diff(rounds.edges))
    parts = (rounds.forecasts, rounds.outcomes, rounds.items, codes)
    forecasts, outcomes, items, codes = parts if new.all() else (part[new] for part in parts)
    kind = TableFacts.of(state.live).time_kind

    def label(code: int) -> Any:
        return _time_text(rounds.time_keys, kind, code)

    return watch_rows(state, forecasts, outcomes, items, codes, label)


def _time_text(keys: np.ndarray | None, kind: str, code: int) -> Any:
    """Return a time as text; the number of its round without times."""
    if keys is None:
        return code
    if kind == "dates" and np.issubdtype(keys.dtype, np.integer):  # microseconds
        text = str(np.datetime_as_string(np.datetime64(int(keys[code]), "us"), unit="s"))
        return text.removesuffix("T00:00:00").replace("T", " ")
    return str(keys[code])


def explain_table(result: Any) -> Explanation:
    """Return the explanation of a `Blend`."""
    mixture = result.mixture
    plain = len(mixture.settings.include)
    names = mixture.names[plain:]
    predicted = result.totals[:, sum_rows.ROWS] - result.totals[:, sum_rows.SILENT]
    used = predicted > 0
    weights = result.sums[used, sum_rows.WEIGHT, plain:] / predicted[used, np.newaxis]
    with np.errstate(invalid="ignore"):
        losses = result.sums[:, sum_rows.LOSS] / result.sums[:, sum_rows.SCORED]
    labels = [_plain(label) for label, there in zip(result.when, used, strict=True) if there]
    if len(weights) < 2 or len(names) < 2:
        return Explanation("the table is too short", (), (), (), ESTIMATE, result.alerts())
    absences, method = _absences(result, names, weights, np.flatnonzero(used), plain)
    return Explanation(
        f"from {labels[0]} to {labels[-1]}",
        trace_changes(names, weights, labels[1:]),
        # The weights of a stretch follow from the outcomes of the stretch before.
        trace_moves(names, weights, losses[used][:-1, plain:], labels[:-1]),
        absences,
        method,
        result.alerts(),
    )


def _absences(
    result: Any, names: list[str], weights: Floats, used: np.ndarray, plain: int
) -> tuple[tuple[Absence, ...], str]:
    """Return the costs of absences, and how they were found."""
    rounds = result.rounds
    if result.again is not None and rounds.forecasts.size * len(names) <= AFFORDABLE:
        return _blend_without(result, names), AGAIN
    new = rounds.row_of >= 0
    offsets = np.repeat(rounds.offsets, np.diff(rounds.edges))[new] + rounds.base
    stretch = np.searchsorted(result.starts[used], offsets, side="right") - 1
    shares = weights[np.clip(stretch, 0, len(weights) - 1)]
    absences = estimate_absences(
        names, result.mixture.settings.loss, rounds.forecasts[new][:, :, plain:],
        rounds.outcomes[new], rounds.items[new], shares,
    )  # fmt: skip
    return absences, ESTIMATE


def _blend_without(result: Any, names: list[str]) -> tuple[Absence, ...]:
    """Blend a table again without each expert; return the change of the mean loss.

    The losses are compared over the rows in which both blends have a forecast.
    """
    whole, absences = _row_losses(result), []
    for name in names:
        others = [other for other in result.columns.experts if other != name]
        part = _row_losses(result.again(experts=others))
        both = ~np.isnan(whole) & ~np.isnan(part)
        if both.any():
            mean = float(whole[both].mean())
            cost = float(part[both].mean()) - mean
            absences.append(Absence(name, cost, cost / abs(mean) if mean else 0.0))
    return tuple(sorted(absences, key=lambda row: -row.cost))


def _row_losses(result: Any) -> Floats:
    """Return the loss of the blend in each row of a table, in its order; NaN without an outcome."""
    rounds = result.rounds
    order = rounds.new_rows()
    outcomes, blends = rounds.outcomes[order], rounds.values[order]
    blends = np.ascontiguousarray(blends[:, : rounds.forecasts.shape[1], np.newaxis])
    losses = result.mixture.settings.loss.table(blends, outcomes, rounds.items[order])[:, 0]
    return np.where(np.isnan(outcomes) | np.isnan(blends[:, 0, 0]), np.nan, losses)


def _plain(label: Any) -> Any:
    """Return a time as text, and the number of a round as it is."""
    return label if isinstance(label, int) else str(label).removesuffix(" 00:00:00")
