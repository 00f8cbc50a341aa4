"""A mixture on a stream of JSON lines: one line out for each line in.

Lines in::

    {"forecasts": {"gam": 51.2, "ar": 49.9}, "confidence": {"ar": 0.5}}    a round
    {"gam": 51.2, "ar": 49.9}                                            the same, in short
    {"ticket": 0, "outcome": 50.8}                                         what came of it
    {"ticket": 0, "outcome": 50.8, "forecasts": {...}}                     both; the outcome first

and out::

    {"line": 1, "ticket": 0, "prediction": 50.6, "weights": {...}}
    {"line": 2, "settled": 0}
    {"line": 3, "error": "..."}

An ``"id"`` of the caller's may stand in place of the ticket, and is then given back.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from normalhedge.mixtures.mixture import Mixture

WORDS = {"forecasts", "confidence", "ticket", "outcome", "id"}
"""What a line may say besides forecasts."""


class Stream:
    """A mixture that reads lines and answers each of them."""

    def __init__(self, mixture: Mixture) -> None:
        self.mixture = mixture
        self.refused = 0

    def answers(self, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield an answer to each line that is not empty; what is wrong with one is its answer."""
        for number, line in enumerate(lines, start=1):
            line = line.strip().lstrip("\ufeff")  # noqa: PLW2901
            if not line:
                continue
            answer: dict[str, Any] = {"line": number}
            try:
                self._answer(line, answer)
            except (ValueError, TypeError, KeyError, OverflowError) as error:
                self.refused += 1
                answer["error"] = str(error.args[0] if isinstance(error, KeyError) else error)
            yield answer

    def _answer(self, line: str, answer: dict[str, Any]) -> None:
        """Add to the answer what a line brings about, one thing after the other."""
        try:
            said = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"this is not JSON: {error}") from None
        except RecursionError:
            raise ValueError("this is nested too deeply") from None
        if not isinstance(said, dict):
            raise ValueError("a line must be a JSON object")
        forecasts = said.get("forecasts")
        if forecasts is None and not WORDS & said.keys():
            forecasts = said
        unknown = [word for word in said if forecasts is not said and word not in WORDS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not one of {', '.join(sorted(WORDS))}")
        if forecasts is None and "outcome" not in said:
            raise ValueError("a line must have forecasts or an outcome")
        if "outcome" in said:
            ticket = self._ticket(said)
            self.mixture.update(ticket, said["outcome"])
            self.mixture.ids.pop(json.dumps(said.get("id")), None)
            answer["settled"] = ticket
        if forecasts is not None:
            answer |= self._prediction(forecasts, said if forecasts is not said else {})

    def _ticket(self, said: dict[str, Any]) -> int:
        if "ticket" in said:
            ticket = said["ticket"]
            if isinstance(ticket, bool) or not isinstance(ticket, int):
                raise ValueError(f"ticket must be a whole number, got {ticket!r}")
            return ticket
        if "id" not in said:
            raise ValueError("an outcome needs the ticket or the id of its forecasts")
        name = json.dumps(said["id"])
        if name not in self.mixture.ids:
            raise ValueError(f"there is no round with id {said['id']!r} waiting")
        return self.mixture.ids[name]

    def _prediction(self, forecasts: Any, said: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(forecasts, dict):
            raise ValueError("forecasts must be an object of names and forecasts")
        named = "id" in said and "outcome" not in said
        if named and self.mixture.ids.get(json.dumps(said["id"])) in self.mixture.pending:
            raise ValueError(f"a round with id {said['id']!r} is waiting already")
        made = self.mixture.predict(forecasts, said.get("confidence"))
        answer: dict[str, Any] = {"ticket": made.ticket}
        if named:
            self.mixture.ids[json.dumps(said["id"])] = made.ticket
            if len(self.mixture.ids) > 2 * self.mixture.max_pending:  # those of expired rounds
                waiting = self.mixture.pending
                self.mixture.ids = {k: v for k, v in self.mixture.ids.items() if v in waiting}
            answer["id"] = said["id"]
        return {**answer, "prediction": _plain(made.value), "weights": _plain(made.weights)}


def _plain(value: Any) -> Any:
    """Return arrays as lists, and null for NaN."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return [_plain(part) for part in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
