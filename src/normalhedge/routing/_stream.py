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

from collections.abc import Callable
from typing import Any

from normalhedge.boundary.terminal import clipped
from normalhedge.live import json_lines
from normalhedge.live.journal import Operation
from normalhedge.routing._router import Router

REFUSALS = (ValueError, TypeError, LookupError, OverflowError, RuntimeError)
"""The errors by which a router refuses an operation."""

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


class RouterStream:
    """A router that reads lines and answers each of them."""

    def __init__(self, router: Router, note: Callable[[Operation], object] | None = None) -> None:
        self.router = router
        self.refused = 0
        self._note = note

    def answer(
        self, number: int, line: str | bytes, *, whole: bool = True
    ) -> dict[str, Any] | None:
        """Return the answer to a line; None if the line is empty."""
        answer: dict[str, Any] = {"line": number}
        try:
            text = json_lines.text(line, whole=whole)
            if not text:
                return None
            request = json_lines.parsed(text)
            if not isinstance(request, dict) or set(request) not in KEYS:
                raise ValueError(
                    "a line must be an object with choose, ticket and gain, ticket and correct, "
                    f"join, or leave, got {clipped(text, 80)}"
                )
            operation, done = _operation(request)
            choice = self.router.do(operation)
        except REFUSALS as error:
            self.refused += 1
            return {**answer, "error": clipped(str(error))}
        if self._note is not None:
            self._note(operation)
        if choice is None:
            return answer | done
        answer |= {"ticket": choice.ticket, "action": choice.action}
        each = zip(self.router.actions, choice.probabilities.tolist(), strict=True)
        return answer | {"probability": choice.probability, "probabilities": dict(each)}


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
