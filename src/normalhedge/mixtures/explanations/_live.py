"""The explanation of a live mixture: its last rounds are played again, to see the weights."""

from typing import Any

import numpy as np

from normalhedge._core import Live
from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.alerts import watch_mixture
from normalhedge.mixtures.explanations._explanation import ESTIMATE, Explanation
from normalhedge.mixtures.explanations._tracing import (
    estimate_absences,
    trace_changes,
    trace_moves,
)
from normalhedge.mixtures.state import MixtureState, RoundInput, RoundRecord
from normalhedge.mixtures.summaries import expert_weights


def explain_mixture(state: MixtureState) -> Explanation:
    """Explain the weights of a mixture since its earlier checkpoint."""
    start = _checkpoint(state)
    alerts = watch_mixture(state)
    plain = len(state.settings.include)
    names = state.names[plain:]
    if start is None or len(names) < 2:
        reason = (
            "its last rounds cannot be played again" if len(names) > 1 else "there is no choice"
        )
        return Explanation(reason, (), (), (), ESTIMATE, alerts)
    try:
        replay = _Replay(state, *start)
    except (KeyError, ValueError) as error:
        raise ValueError(
            "the settled rounds of this mixture do not belong together, so that they cannot be "
            "explained: was its file changed?"
        ) from error
    weights = np.array(replay.weights)[:, plain:]
    losses = np.array(replay.losses)[:, plain:]
    labels = replay.labels
    count = len(labels)
    where = f"over the last {count:,} settled round{'s' * (count != 1)}, since {labels[0]:,}"
    return Explanation(
        where,
        trace_changes(names, weights, labels),
        trace_moves(names, weights, losses, labels),
        replay.absences(names, plain),
        ESTIMATE,
        alerts,
    )


def _checkpoint(state: MixtureState) -> tuple[Live, list[Any]] | None:
    """Return the first checkpoint from which rounds can be played again, and the rounds since."""
    history = state.live.history
    for then, since in state.live.checkpoints:
        entries = [entry for entry in history[len(history) - since :] if entry is not None]
        if 0 < since <= len(history) and then.expired == state.expired and then.names:
            return then, entries
    return None


class _Replay:
    """Rounds that are played again on a copy of a checkpoint, as `Mixture.correct` does."""

    def __init__(self, state: MixtureState, then: Live, entries: list[Any]) -> None:
        self._state, self._other = state, MixtureState(state.settings, then)
        self._played: list[tuple[RoundRecord, Floats, Floats]] = []
        self._shares: dict[int, Floats] = {}
        records = {record[0]: RoundRecord(*record) for record, _, _ in entries}
        coming = sorted(
            (r for r in records.values() if r.number >= then.rounds), key=lambda r: r.number
        )
        self.labels = [int(record[1]) for record, _, _ in entries]
        self.weights, self.losses = [self._weights()], list[Floats]()
        pending = [
            RoundRecord(*r) for t in state.live.tickets() if (r := state.live.pending_round(t))
        ]
        coming += [record for record in pending if record.number >= then.rounds]
        coming.sort(key=lambda r: r.number)
        for record, outcomes, rounds in entries:
            while coming and coming[0].number < rounds:
                self._predict(coming.pop(0))
            then.rounds = rounds
            then.settle(then.version, record[0], outcomes)
            self.weights.append(self._weights())
            self.losses.append(self._losses(records[record[0]], outcomes))
            if record[0] in self._shares:
                self._played.append((records[record[0]], outcomes, self._shares[record[0]]))

    def _predict(self, record: RoundRecord) -> None:
        """Predict a round again."""
        live, then = self._state.live, self._other.live
        then.rounds, then.next_ticket = record.number, record.ticket
        n, count = record.forecasts.shape[2], len(then.names)
        top = -1 if record.cells is None else int(record.cells.max(initial=-1))
        seen, classes = len(then.classes), record.forecasts.shape[1]
        _, _, distribution, _ = then.predict_rows(
            RoundInput(
                then.version, record.forecasts, record.confidence, record.keys,
                [live.items[k] for k in record.items], live.names[count:n], record.id,
                record.cells, live.cells[len(then.cells) : top + 1], live.classes[seen:classes],
            )
        )  # fmt: skip
        self._shares[record.ticket] = distribution

    def _weights(self) -> Floats:
        """Return the present weights, 0 for experts that join later."""
        weights = expert_weights(self._other)
        return np.pad(weights, (0, len(self._state.names) - len(weights)))

    def _losses(self, record: RoundRecord, outcomes: Floats) -> Floats:
        """Return the mean losses of the experts in a round."""
        known = ~np.isnan(outcomes)
        table = np.ascontiguousarray(record.forecasts[known])
        usable = np.all(np.abs(table) < LARGEST, axis=1)
        losses = np.full(len(self._state.names), np.nan)
        if known.any():
            values = self._state.settings.loss.table(table, outcomes[known], record.items[known])
            for k in np.flatnonzero(usable.any(axis=0)):
                losses[k] = values[usable[:, k], k].mean()
        return losses

    def absences(self, names: list[str], plain: int) -> Any:
        """Return the cost of each expert's absence over the rounds that were predicted again."""
        n, parts = plain + len(names), list[tuple[Floats, Floats, np.ndarray, Floats]]()
        width = self._played[-1][0].forecasts.shape[1] if self._played else 0
        for record, outcomes, distribution in self._played:
            if record.forecasts.shape[1] == width:
                more = n - record.forecasts.shape[2]
                table = np.pad(
                    record.forecasts, ((0, 0), (0, 0), (0, more)), constant_values=np.nan
                )
                shares = np.pad(distribution, ((0, 0), (0, more)))
                parts.append((table[:, :, plain:], outcomes, record.items, shares[:, plain:]))
        if not parts:
            return ()
        forecasts, known, items, weights = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        return estimate_absences(names, self._state.settings.loss, forecasts, known, items, weights)
