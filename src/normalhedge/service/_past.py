"""Settled rounds of a mixture from its log: forecasts, outcomes, weights and losses."""

import warnings
from typing import Any

import msgspec
import numpy as np

from normalhedge.live import json_lines
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.state import number_outcome, order_classes, read, read_outcome
from normalhedge.service._recovery import operations_of
from normalhedge.service._storage import Event, Storage

AT_ONCE = 2000  # the number of events that are read at once


def past_rounds(
    storage: Storage,
    mixture: int,
    loss: Loss,
    since: float | None,
    until: float | None,
    limit: int,
) -> list[dict[str, Any]]:
    """Return the last rounds whose outcomes arrived between two times, the oldest first."""
    events = storage.events(mixture, 0, AT_ONCE + 2 * limit, since, until, newest=True)
    made: dict[int, dict[str, Any]] = {}
    by_ticket: dict[int, dict[str, Any]] = {}
    for event in events:
        made |= predicted(event)
        by_ticket |= {settlement["ticket"]: settlement for settlement in settled(event)}
    rounds = list(by_ticket.values())[-limit:]
    for settlement in rounds:
        complete(storage, mixture, loss, settlement, made)
    return rounds


def complete(
    storage: Storage,
    mixture: int,
    loss: Loss,
    settlement: dict[str, Any],
    made: dict[int, dict[str, Any]],
) -> None:
    """Add the forecasts and the losses of a settled round, as far as the log has them."""
    ticket = settlement["ticket"]
    if ticket not in made:
        event = storage.event_by_ticket(mixture, ticket)
        if event is not None:
            made |= predicted(event)
    settlement.update(made.get(ticket, {}))
    settlement.update(losses_of(settlement, loss))


def settled(event: Event) -> list[dict[str, Any]]:
    """Return the tickets and outcomes of the rounds that an event settled or corrected."""
    tickets = (
        (operation.get("update", operation.get("correct")), operation)
        for operation in operations_of(event)
    )
    return [
        {"ticket": ticket, "settled": event.time, "outcome": operation["outcome"]}
        for ticket, operation in tickets
        if ticket is not None
    ]


def predicted(event: Event) -> dict[int, dict[str, Any]]:
    """Return the rounds that an event began, by ticket."""
    if event.ticket is None:
        return {}
    answers = msgspec.json.decode(event.answer)
    answers = answers.get("answers", [answers])
    by_ticket = {answer["ticket"]: answer for answer in answers if "prediction" in answer}
    return {
        operation["ticket"]: {
            "time": event.time,
            "forecasts": operation["predict"],
            **{
                name: value
                for name, value in by_ticket.get(operation["ticket"], {}).items()
                if name not in {"ticket", "settled"}
            },
        }
        for operation in operations_of(event)
        if "predict" in operation
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
