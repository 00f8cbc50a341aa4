"""Find experts that got worse, that stopped, and that repeat another one."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.alerts._degradation import RATE, ROUNDS, first_alarms, scores_of

KINDS = ("degraded", "stopped", "copy")
"""The kinds of alerts."""

RECENT = 20
"""An expert that got worse is well again if its last scores are as small as they were before."""

SLEEP, TIMES = 5, 2
"""An expert stopped if it is asleep for more than SLEEP rounds, for more than SLEEP times its usual
distance between forecasts, and for more than TIMES its longest sleep before."""

FORECASTS = 10
"""An expert with fewer forecasts has no habit."""

EQUAL, ROWS, VALUES = 0.99, 30, 20
"""A copy is equal in this share of at least so many rows, with so many different forecasts."""

CLOSE = 1e-9
"""Forecasts that differ by less than this share of their size are equal."""

COMPARED = 200
"""The largest number of experts that are compared with one another."""


@dataclass(frozen=True)
class Alert:
    """A sentence about an expert that somebody should look at.

    Attributes
    ----------
    kind
        ``"degraded"``: its losses grew, compared with its own past and with the other experts.
        ``"stopped"``: it is asleep for much longer than ever before. ``"copy"``: its forecasts
        equal the forecasts of another expert.
    expert
        The name of the expert.
    since
        The round, or the time in a table, since when; None for a copy.
    text
        The sentence.
    other
        For a copy: the name of the expert that it repeats.
    """

    kind: str
    expert: str
    since: Any
    text: str
    other: str | None = None

    def to_plain(self) -> dict[str, Any]:
        """Return the alert as plain data, for a line of JSON."""
        since = self.since
        plain = since if since is None or isinstance(since, int | float | str) else str(since)
        return {**asdict(self), "since": plain}


class Watched(NamedTuple):
    """Rounds in the order of time, for `watch`."""

    names: Sequence[str]
    losses: Floats  # rounds x experts: the mean loss in a round; NaN if asleep, or not settled
    awake: np.ndarray  # rounds x experts, of rounds without outcomes, too
    # labels, awake_labels: the number or the time of each row of ``losses`` and of ``awake``
    labels: Sequence[Any]
    awake_labels: Sequence[Any]
    forecasts: Floats  # rows x classes x experts
    watched: np.ndarray  # whether each expert is watched; retired ones are not
    # asleep, share: for experts without a forecast in these rounds, how long they are asleep, and
    # the share of earlier rounds in which they were awake
    asleep: np.ndarray
    share: Floats


def watch(rounds: Watched) -> tuple[Alert, ...]:
    """Return the alerts: models that got worse, models that stopped, copies."""
    return (*_degraded(rounds), *_stopped(rounds), *_copies(rounds))


def _degraded(rounds: Watched) -> Iterator[Alert]:
    """Yield the experts that got worse and did not recover."""
    losses = np.where(rounds.watched, rounds.losses, np.nan)
    if losses.shape[1] < 2 or not len(losses):
        return
    scores = scores_of(losses)
    for k, alarm in enumerate(first_alarms(scores)):
        if alarm is None:
            continue
        since = alarm[0]
        own = ~np.isnan(scores[:, k])
        before, last = scores[:since][own[:since], k], scores[since:][own[since:], k][-RECENT:]
        if last.mean() <= before.mean() + 2.0 * before.std() / np.sqrt(len(last)):
            continue
        means = [_mean(part[:, k]) for part in (losses[:since], losses[since:])]
        rest = np.delete(losses, k, axis=1)
        others = [_mean(part) for part in (rest[:since], rest[since:])]
        label = rounds.labels[since]
        own_loss = f"its mean loss went from {means[0]:.4g} to {means[1]:.4g}"
        rest_loss = f"the mean loss of the others from {others[0]:.4g} to {others[1]:.4g}"
        rate = f"false alarms: at most {RATE:.0%} in {ROUNDS:,} independent rounds"
        text = f"{rounds.names[k]} got worse {_where(label)}: {own_loss}, {rest_loss} ({rate})"
        yield Alert("degraded", rounds.names[k], label, text)


def _stopped(rounds: Watched) -> Iterator[Alert]:
    """Yield the experts that sleep far beyond their habit."""
    count = len(rounds.awake)
    behind = rounds.awake[::-1].argmax(axis=0)  # how long each is asleep, if it was ever awake
    ever = rounds.awake.any(axis=0)
    long = np.where(ever, behind, rounds.asleep - count) > np.where(ever, SLEEP, 0)
    for k in np.flatnonzero(rounds.watched & long).tolist():
        places = np.flatnonzero(rounds.awake[:, k])
        if len(places) >= FORECASTS:
            asleep, share = int(behind[k]), len(places) / (places[-1] - places[0] + 1)
            longest = int(np.diff(places).max()) - 1
            label = rounds.awake_labels[int(places[-1]) + 1]
        elif not len(places):
            asleep, share, longest = int(rounds.asleep[k]), float(rounds.share[k]), 0
            label = None
        else:
            continue
        if asleep <= max(SLEEP, SLEEP / max(share, 1e-9), TIMES * longest):
            continue
        name = rounds.names[k]
        text = f"{name} stopped {_where(label)}" if label is not None else f"{name} stopped"
        habit = f"its longest sleep before was {longest}" if longest else "it never missed one"
        habit = f"it was awake in {share:.0%} of them" if label is None else habit
        yield Alert("stopped", name, label, f"{text}: no forecast in {asleep:,} rounds; {habit}")


def _copies(rounds: Watched) -> Iterator[Alert]:
    """Yield the experts that repeat an earlier one in nearly all rows."""
    usable = np.all(np.abs(rounds.forecasts) < LARGEST, axis=1) & rounds.watched
    often = np.argsort(-usable.sum(axis=0), kind="stable")[:COMPARED]
    columns = np.sort(often)
    usable = np.ascontiguousarray(usable[:, columns].T)
    table = np.ascontiguousarray(rounds.forecasts[:, :, columns].transpose(2, 0, 1))
    table[~usable] = 0.0
    copies = np.zeros(len(columns), dtype=bool)
    for k in range(1, len(columns)):
        one, others = table[k], table[:k]
        if len(np.unique(one[usable[k]], axis=0)) < VALUES:
            continue
        both = usable[k] & usable[:k]
        limits = CLOSE * np.maximum(np.abs(one), np.abs(others))
        same = (np.abs(one - others) <= limits).all(axis=2) & both
        rows, equal = both.sum(axis=1), same.sum(axis=1)
        for j in np.flatnonzero((rows >= ROWS) & (equal >= EQUAL * rows) & ~copies[:k]):
            if len(np.unique(one[same[j]], axis=0)) < VALUES:
                continue
            copies[k] = True
            name, other = rounds.names[columns[k]], rounds.names[columns[j]]
            text = f"{name} repeats {other}: equal in {equal[j] / rows[j]:.0%} of {rows[j]:,} rows"
            yield Alert("copy", name, None, text, other)
            break


def _mean(losses: Floats) -> float:
    known = losses[~np.isnan(losses)]
    return float(known.mean()) if len(known) else float("nan")


def _where(label: Any) -> str:
    return f"in round {label:,}" if isinstance(label, int) else f"on {label}"
