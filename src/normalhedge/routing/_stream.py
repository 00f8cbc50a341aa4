"""A router on a stream of JSON lines: one line out for each line in.

Lines in::

    {"choose": {}}                                             a choice
    {"choose": {"context": "night", "awake": ["a", "b"], "seen": ["a"]}}
    {"ticket": 0, "gain": 0.7}                                 the gain of the chosen action
    {"ticket": 0, "gain": {"a": 0.7, "b": 0.2}}                the gains of several
    {"ticket": 0, "gain": 0.7, "cost": 2.5}                    a cost that is known now
    {"ticket": 0, "correct": 0.6}                              the right gain
    {"join": "c"}                                              an action joins
    {"leave": "a"}                                             an action leaves

and out::

    {"line": 1, "ticket": 0, "action": "b", "probability": 0.6, "probabilities": {...}}
    {"line": 2, "settled": 0}
    {"line": 3, "corrected": 0}
    {"line": 4, "joined": "c"}
    {"line": 5, "left": "a"}
    {"line": 6, "error": "..."}
"""

import json
from collections.abc import Callable
from typing import Any

from normalhedge.boundary.terminal import clipped
from normalhedge.live.journal import Operation
from normalhedge.live.line_stream import LineStream
from normalhedge.routing._router import Router

KEYS = (
    {"choose"},
    {"ticket", "gain"},
    {"ticket", "gain", "cost"},
    {"ticket", "correct"},
    {"join"},
    {"leave"},
)
"""The keys of each kind of line."""

CHOICE = {"context", "awake", "seen"}


class RouterStream(LineStream):
    """A router that reads lines and answers each of them."""

    def __init__(self, router: Router, note: Callable[[Operation], object] | None = None) -> None:
        super().__init__(note)
        self.router = router

    def reply(self, request: Any, answer: dict[str, Any]) -> None:
        """Do the operation of a line, and note it; of a choice with its ticket and its action."""
        if not isinstance(request, dict) or set(request) not in KEYS:
            raise ValueError(
                "a line must be an object with choose, ticket and gain, ticket and correct, "
                f"join, or leave, got {clipped(json.dumps(request), 80)}"
            )
        operation, done = _operation(request)
        choice = self.router.do(operation)
        if choice is not None:
            drawn = {"ticket": choice.ticket, "action": choice.action}
            operation = operation | drawn
            each = zip(self.router.actions, choice.probabilities.tolist(), strict=True)
            done = {**drawn, "probability": choice.probability, "probabilities": dict(each)}
        self._note(operation)
        answer |= done


def _operation(request: dict[str, Any]) -> tuple[Operation, dict[str, Any]]:
    """Return the operation of a line, and the answer if it is done."""
    if "choose" in request:
        wishes = request["choose"]
        if not isinstance(wishes, dict) or not wishes.keys() <= CHOICE:
            raise ValueError(
                f"choose must be an object with context, awake or seen, got {wishes!r}"
            )
        return request, {}
    if "gain" in request:
        operation = {"reward": request["ticket"], "gain": request["gain"]}
        if "cost" in request:
            operation["cost"] = request["cost"]
        return operation, {"settled": request["ticket"]}
    if "correct" in request:
        operation = {"correct": request["ticket"], "gain": request["correct"]}
        return operation, {"corrected": request["ticket"]}
    word = "join" if "join" in request else "leave"
    return request, {"joined" if word == "join" else "left": request[word]}
