"""Operations of a stream on a mixture, as plain data: a journal stores them and replays them."""

import json
from typing import Any

from normalhedge.live import journal

Operation = journal.Operation
"""``{"predict": forecasts, "confidence": ..., "context": ..., "id": ..., "ticket": 7}`` predicts a
round; confidences, contexts and the id are optional, the ticket is the one that the round got.
``{"update": 7, "outcome": ..., "id": ...}`` gives the outcome of a round by its ticket; the id is
optional.
``{"leave": name}``, ``{"retire": name}``, ``{"rename": [old, new]}`` and ``{"inherit": [new,
old]}`` change experts. ``{"correct": 7, "outcome": ...}`` replaces an outcome; a journal cannot
repeat it, because the earlier rounds that it needs are not in the state file."""

CANNOT_BE_REPEATED = "correct"
"""The operation after which the state is written at once."""

LONGEST_ID = 1000
"""The largest number of characters of an id, written as JSON."""


def id_text(value: Any) -> str:
    """Return an id of the caller as JSON text, the form in which `Mixture.ids` holds it."""
    text = json.dumps(value)
    if len(text) > LONGEST_ID:
        raise ValueError(f"id must have at most {LONGEST_ID} characters, it has {len(text)}")
    return text
