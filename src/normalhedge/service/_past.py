"""Settled rounds of a mixture from its log: forecasts, outcomes, weights and losses."""

import re
import warnings
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from normalhedge.live import json_lines
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.state import number_outcome, order_classes, read, read_outcome
from normalhedge.service._forms import as_json
from normalhedge.service._recovery import operations_of
from normalhedge.service._storage import Event, Storage

SCAN = 8_000_000
"""The bytes of events that one answer reads at most; a cursor leads on from there."""

ROWS, SKIPPED = 5000, 400_000
"""The number of events among which rounds are looked for at once, and the bytes that looking
through them counts for."""

REMEMBERED = 3
"""The number of events whose forecasts are remembered: outcomes come in the order of forecasts."""


BEGINS, ENDS = ("predict", "choose"), ("update", "reward", "correct")
"""The operations that begin a round, and the ones that tell its outcome or its gain."""

BLENDS = ("prediction", "action")  # the parts of answers that begin a round


class Place(NamedTuple):
    """A place in the log of a mixture: before some of the outcomes of an event."""

    sequence: int
    outcomes: int = 0  # the number of outcomes of the event that come before the place

    def __str__(self) -> str:
        """Return the cursor that clients send back."""
        return f"{self.sequence}-{self.outcomes}"

    @classmethod
    def of(cls, cursor: str) -> "Place":
        """Return the place of a cursor; raise a ValueError if it is none."""
        if CURSOR.fullmatch(cursor) is None:
            raise ValueError(cursor)
        return cls(*map(int, cursor.split("-")))


CURSOR = re.compile("[0-9]{1,18}-[0-9]{1,9}", re.ASCII)

END = Place((1 << 62) - 1)  # behind all events


class Forecasts:
    """The forecasts and answers of rounds, by ticket, from the events that began them."""

    def __init__(self, storage: Storage, mixture: int) -> None:
        self._storage, self._mixture = storage, mixture
        self._events: deque[dict[int, dict[str, Any]]] = deque(maxlen=REMEMBERED)

    def add(self, event: Event) -> dict[int, dict[str, Any]]:
        """Remember the rounds that an event began, and return them."""
        rounds = predicted(event)
        self._events.append(rounds)
        return rounds

    def of(self, ticket: int) -> dict[str, Any]:
        """Return a round; empty if it is not in the log any more."""
        for rounds in self._events:
            if ticket in rounds:
                return rounds[ticket]
        event = self._storage.event_by_ticket(self._mixture, ticket)
        return {} if event is None else self.add(event).get(ticket, {})

    def complete(self, settlement: dict[str, Any], loss: Loss | None) -> None:
        """Add the forecasts and the losses of a settled round, as far as the log has them."""
        settlement.update(self.of(settlement["ticket"]))
        if loss is not None:
            settlement.update(losses_of(settlement, loss))


class PastLimits(NamedTuple):
    """How much of the past is returned."""

    rounds: int
    size: int  # bytes
    since: float | None = None  # since, until: times between which outcomes arrived
    until: float | None = None


Past: TypeAlias = tuple[list[bytes], Place | None]
"""Rounds, and the place before them; None if the log has no earlier ones."""


def past_rounds(
    storage: Storage, mixture: int, loss: Loss | None, limits: PastLimits, place: Place = END
) -> Past:
    """Return the last rounds before a place as JSON, the oldest first, and the place before them.

    A round that was corrected later, within these, has its last outcome.
    """
    forecasts = Forecasts(storage, mixture)
    rounds: dict[int, bytes] = {}  # by ticket, the newest first
    size = scanned = 0
    for event in _settling(storage, mixture, limits, place):
        if isinstance(event, int):
            scanned += SKIPPED
            if scanned > SCAN:
                return list(reversed(rounds.values())), Place(event)
            continue
        if event.ticket is not None:
            forecasts.add(event)
        settlements = settled(event)
        if event.sequence == place.sequence:
            del settlements[place.outcomes :]
        while settlements:
            settlement = settlements.pop()
            ticket = settlement["ticket"]
            if ticket in rounds:  # it was corrected: it stands where it was settled
                rounds[ticket] = rounds.pop(ticket)
                continue
            if rounds and (len(rounds) >= limits.rounds or size >= limits.size):
                return list(reversed(rounds.values())), Place(event.sequence, len(settlements) + 1)
            forecasts.complete(settlement, loss)
            rounds[ticket] = as_json(settlement)
            size += len(rounds[ticket])
        scanned += len(event.body) + len(event.answer)
        if scanned > SCAN:
            return list(reversed(rounds.values())), Place(event.sequence)
    return list(reversed(rounds.values())), None


def _settling(
    storage: Storage, mixture: int, limits: PastLimits, place: Place
) -> Iterator[Event | int]:
    """Yield the events before a place that may have settled rounds, the newest first.

    After each `ROWS` events it yields the sequence of the last one, if there are earlier ones.
    """
    condition, values = " AND kind NOT IN ('predict', 'choose')", list[float]()
    for part, time in ((" AND time >= ?", limits.since), (" AND time <= ?", limits.until)):
        if time is not None:
            condition, values = condition + part, [*values, time]
    before = place.sequence + 1
    first = storage.sequence_before(mixture, before, ROWS)
    while first is not None:
        while events := storage.events(
            mixture, first - 1, before=before, condition=condition, values=values, newest=True
        ):
            yield from events
            before = events[-1].sequence
        before, first = first, storage.sequence_before(mixture, first, ROWS)
        if first is not None:
            yield before


def settled(event: Event) -> list[dict[str, Any]]:
    """Return the tickets and outcomes, or gains, of the rounds that an event ended or corrected."""
    return [
        {
            "ticket": next(operation[word] for word in ENDS if word in operation),
            "settled": event.time,
            **{name: operation[name] for name in ("outcome", "gain") if name in operation},
        }
        for operation in operations_of(event)
        if not operation.keys().isdisjoint(ENDS)
    ]


def predicted(event: Event) -> dict[int, dict[str, Any]]:
    """Return the rounds that an event began, by ticket."""
    if event.ticket is None:
        return {}
    answers = msgspec.json.decode(event.answer)
    answers = answers.get("answers", [answers])
    by_ticket = {
        answer["ticket"]: answer for answer in answers if not answer.keys().isdisjoint(BLENDS)
    }
    return {
        operation["ticket"]: {
            "time": event.time,
            **(
                operation["choose"]
                if "choose" in operation
                else {"forecasts": operation["predict"]}
            ),
            **{
                name: value
                for name, value in by_ticket.get(operation["ticket"], {}).items()
                if name not in {"ticket", "settled"}
            },
        }
        for operation in operations_of(event)
        if not operation.keys().isdisjoint(BEGINS)
    }


def losses_of(settlement: dict[str, Any], loss: Loss) -> dict[str, Any]:
    """Return the losses of the blend, of the plain mean and of the experts, over the known rows."""
    forecasts, blend = settlement.get("forecasts"), settlement.get("prediction")
    if not isinstance(forecasts, dict) or blend is None or loss.own:
        return {}
    names = list(forecasts)
    columns = {k: forecasts[name] for k, name in enumerate(names)} | {len(names): blend}
    levels = loss.levels if loss.of_levels else ()
    try:
        index = {str(k): k for k in columns}
        told = {str(k): value for k, value in columns.items()}
        ordered, named = order_classes([], loss, told)
        table, keys = read(
            ordered, index, len(index),
            of_classes=loss.of_classes, levels=levels,
        )  # fmt: skip
        rows, classes = table.shape[:2]
        classes = 1 if loss.of_levels else classes
        outcome = number_outcome(named, settlement["outcome"])
        outcomes = read_outcome(outcome, keys, rows, classes, loss)
    except (ValueError, TypeError, KeyError):
        return {}
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of no expert
        plain = np.nanmean(table[:, :, :-1], axis=2, keepdims=True)
        table = np.concatenate([plain, table], axis=2)
        many = np.arange(rows) if len(loss.levels) > 1 and not loss.of_levels else np.zeros(rows)
        values = loss.table(table, outcomes, many.astype(np.int32))
        values[np.isnan(table[:, 0]) | np.isnan(outcomes)[:, np.newaxis]] = np.nan
        means = np.nanmean(values, axis=0)
    losses = json_lines.plain(means)
    return {
        "loss": losses[-1],
        "plain_mean_loss": losses[0],
        "losses": dict(zip(names, losses[1:-1], strict=True)),
    }
