"""What a stream does to a mixture, as words and numbers: to be written down and done again."""

import json
from collections.abc import Mapping
from typing import Any

from normalhedge import _journal
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.tickets import Prediction

Operation = _journal.Operation
"""``{"predict": forecasts, "confidence": ..., "id": ..., "ticket": 7}``: a round, the ticket that
it got, and, where they were given, the confidences and the id. ``{"update": 7, "outcome": ...,
"id": ...}``: the ticket of a round, its outcome and, where it was given, the id.
``{"leave": name}``: an expert leaves."""

LONGEST_ID = 1000
"""How many characters an id may have, as JSON."""


def id_text(given: Any) -> str:
    """Return an id of the caller's as `Mixture.ids` has it."""
    text = json.dumps(given)
    if len(text) > LONGEST_ID:
        raise ValueError(f"id must have at most {LONGEST_ID} characters, it has {len(text)}")
    return text


def do(mixture: Mixture, operation: Mapping[str, Any]) -> Prediction | None:
    """Do what an operation says; return what was predicted, where something was.

    Parameters
    ----------
    mixture
        What it is done to. It is as it was if the operation is refused.
    operation
        See `Operation`; the ticket of a prediction is not looked at.
    """
    if "leave" in operation:
        mixture.leave(operation["leave"])
        return None
    name = id_text(operation["id"]) if "id" in operation else None
    ids = mixture.ids
    if "update" in operation:
        ticket = operation["update"]
        mixture.update(ticket, operation["outcome"])
        if name is not None and ids.get(name) == ticket:
            del ids[name]
        return None
    made = mixture.predict(operation["predict"], operation.get("confidence"))
    if name is not None:
        ids[name] = made.ticket
        if len(ids) > 2 * mixture.max_pending:  # those of rounds that expired
            mixture.ids = {k: v for k, v in ids.items() if v in mixture.pending}
    return made


def redo(mixture: Mixture, operation: Mapping[str, Any]) -> None:
    """Do an operation again that a journal holds; refuse it if its round gets another ticket."""
    made = do(mixture, operation)
    if made is not None and made.ticket != operation["ticket"]:
        raise ValueError(f"its ticket was {operation['ticket']}, not {made.ticket}")
