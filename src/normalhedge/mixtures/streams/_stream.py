"""A mixture on a stream of JSON lines: one line out for each line in.

Lines in::

    {"forecasts": {"gam": 51.2, "ar": 49.9}, "confidence": {"ar": 0.5}}    a round
    {"gam": 51.2, "ar": 49.9}                                              the same, in short
    {"forecasts": {...}, "context": {"hour": 7}}                           a round with a context
    {"ticket": 0, "outcome": 50.8}                                         its outcome
    {"ticket": 0, "outcome": 50.8, "forecasts": {...}}                     an outcome, then a round
    {"ticket": 0, "correct": 50.9}                                         its right outcome
    {"leave": "gam"}                                                       an expert leaves for good
    {"retire": "gam"}                                                      an expert sleeps for good
    {"rename": ["gam", "spline"]}                                          an expert gets a new name
    {"inherit": ["gam2", "gam"]}                                           gam2 starts where gam is

and out::

    {"line": 1, "ticket": 0, "prediction": 50.6, "weights": {...}}
    {"line": 2, "settled": 0}
    {"line": 3, "corrected": 0}
    {"line": 4, "left": "gam"}
    {"line": 5, "retired": "gam"}
    {"line": 6, "renamed": ["gam", "spline"]}
    {"line": 7, "inherited": ["gam2", "gam"]}
    {"line": 8, "error": "..."}

An ``"id"`` chosen by the caller may replace the ticket; the answer repeats it. With intervals, the
answer to a round has ``"interval": {"0.9": [49.1, 52.3]}``; infinite bounds are null.
"""

from collections.abc import Callable
from typing import Any

from normalhedge.boundary.terminal import clipped
from normalhedge.live import json_lines
from normalhedge.live.line_stream import LineStream
from normalhedge.mixtures._mixture import Mixture
from normalhedge.mixtures.state import Operation, Prediction
from normalhedge.mixtures.streams._budget import Budget

CHANGES = {"leave": "left", "retire": "retired", "rename": "renamed", "inherit": "inherited"}
"""The changes to experts, and the words that answer them."""

WORDS = {"forecasts", "confidence", "context", "ticket", "outcome", "id", "correct", *CHANGES}
"""The keys of a line that does not consist of forecasts alone."""


class Stream(LineStream):
    """A mixture that reads lines and answers each of them."""

    def __init__(
        self,
        mixture: Mixture,
        note: Callable[[Operation], object] | None = None,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(note)
        self.mixture = mixture
        self.budget = budget or Budget()

    def reply(self, request: Any, answer: dict[str, Any]) -> None:
        """Do the operations of a line one by one, and add the result of each to the answer."""
        if not isinstance(request, dict):
            raise ValueError("a line must be a JSON object")
        forecasts = request.get("forecasts")
        if forecasts is None and WORDS.isdisjoint(request):
            forecasts = request
        elif not WORDS.issuperset(request):
            unknown = next(word for word in request if word not in WORDS)
            raise ValueError(f"{clipped(unknown, 80)!r} is not one of {', '.join(sorted(WORDS))}")
        elif change := next((word for word in CHANGES if word in request), None):
            answer[CHANGES[change]] = self._change(change, request)
            return
        if "correct" in request:
            answer["corrected"] = self._correct(request)
            return
        if forecasts is None and "outcome" not in request:
            raise ValueError("a line must have forecasts or an outcome")
        if "outcome" in request:
            operation = {"update": self._ticket(request), "outcome": request["outcome"]}
            if "id" in request:
                operation["id"] = request["id"]
            self._do(operation)
            answer["settled"] = operation["update"]
        if forecasts is not None:
            answer |= self._prediction(forecasts, request if forecasts is not request else {})

    def _change(self, change: str, request: dict[str, Any]) -> Any:
        """Do a change to experts; return the names."""
        names, count = request[change], 1 + (change in {"rename", "inherit"})
        if len(request) > 1:
            raise ValueError(f"a line with {change} must not have other entries")
        parts = names if isinstance(names, list) else [names]
        if len(parts) != count or not all(isinstance(name, str) for name in parts):
            wanted = "a name" if count == 1 else "two names, as a list"
            raise ValueError(f"{change} needs {wanted}, got {clipped(repr(names), 80)}")
        self._do(request)
        return names

    def _correct(self, request: dict[str, Any]) -> int:
        """Correct the outcome of a settled round; return its ticket."""
        if request.keys() & {"outcome", "forecasts", "confidence", "context"}:
            raise ValueError("a line with correct must not have other entries than ticket or id")
        operation = {"correct": self._ticket(request, settled=True), "outcome": request["correct"]}
        self._do(operation)
        return int(operation["correct"])

    def _do(self, operation: Operation) -> Prediction | None:
        """Do an operation, and note it with the ticket that it got."""
        prediction = self.mixture.do(operation)
        ticket = {} if prediction is None else {"ticket": prediction.ticket}
        self._note(operation | ticket)
        return prediction

    def _ticket(self, request: dict[str, Any], *, settled: bool = False) -> int:
        """Return the ticket of an outcome, given itself or by an id."""
        if "ticket" in request:
            ticket = request["ticket"]
            if isinstance(ticket, bool) or not isinstance(ticket, int):
                raise ValueError(f"ticket must be a whole number, got {clipped(repr(ticket), 80)}")
            return ticket
        if "id" not in request:
            raise ValueError("an outcome needs the ticket or the id of its forecasts")
        return self.mixture.ticket_of(request["id"], settled=settled)

    def _prediction(self, forecasts: Any, request: dict[str, Any]) -> dict[str, Any]:
        """Predict a round; return its part of the answer."""
        if not isinstance(forecasts, dict):
            raise ValueError("forecasts must be an object of names and forecasts")
        self.budget.check(self.mixture, forecasts, contexts=request.get("context") is not None)
        operation: Operation = {"predict": forecasts}
        for name in ("confidence", "context"):
            if request.get(name) is not None:
                operation[name] = request[name]
        if "id" in request and "outcome" not in request:
            operation["id"] = request["id"]
        prediction = self._do(operation)
        assert prediction is not None
        answer: dict[str, Any] = {"ticket": prediction.ticket}
        if "id" in operation:
            answer["id"] = operation["id"]
        return answer | plain_prediction(prediction)


def plain_prediction(prediction: Prediction) -> dict[str, Any]:
    """Return the part of an answer that tells the blend, its intervals and the weights."""
    answer: dict[str, Any] = {"prediction": json_lines.plain(prediction.value)}
    if prediction.intervals is not None:
        answer["interval"] = {
            f"{level:g}": json_lines.plain(list(bounds))
            for level, bounds in prediction.intervals.items()
        }
    answer["weights"] = json_lines.plain(prediction.weights)
    return answer
