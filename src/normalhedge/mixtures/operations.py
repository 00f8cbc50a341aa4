"""What a stream does to a mixture, as words and numbers: to be written down and done again."""

import json
from typing import Any

from normalhedge import _journal

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
