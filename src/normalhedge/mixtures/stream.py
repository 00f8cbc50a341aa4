"""A mixture on a stream of JSON lines: one line out for each line in.

Lines in::

    {"forecasts": {"gam": 51.2, "ar": 49.9}, "confidence": {"ar": 0.5}}    a round
    {"gam": 51.2, "ar": 49.9}                                            the same, in short
    {"ticket": 0, "outcome": 50.8}                                         what came of it
    {"ticket": 0, "outcome": 50.8, "forecasts": {...}}                     both; the outcome first
    {"leave": "gam"}                                                       an expert leaves for good

and out::

    {"line": 1, "ticket": 0, "prediction": 50.6, "weights": {...}}
    {"line": 2, "settled": 0}
    {"line": 3, "left": "gam"}
    {"line": 4, "error": "..."}

An ``"id"`` of the caller's may stand in place of the ticket, and is then given back.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from normalhedge import _json_lines
from normalhedge._terminal import clipped
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.operations import Operation, do, id_text

WORDS = {"forecasts", "confidence", "ticket", "outcome", "id", "leave"}
"""What a line may say besides forecasts."""


class Stream:
    """A mixture that reads lines and answers each of them.

    Parameters
    ----------
    mixture
        The mixture.
    note
        Called with each operation that was done, to write it down.

    Attributes
    ----------
    refused
        How many lines were refused, at least in part.
    """

    def __init__(self, mixture: Mixture, note: Callable[[Operation], object] | None = None) -> None:
        self.mixture = mixture
        self.note = note
        self.refused = 0

    def answers(self, lines: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
        """Yield an answer to each line that is not empty; what is wrong with one is its answer."""
        for number, line in enumerate(lines, start=1):
            answer = self.answer(number, line)
            if answer is not None:
                yield answer

    def answer(
        self, number: int, line: str | bytes, *, whole: bool = True
    ) -> dict[str, Any] | None:
        """Return the answer to a line; none if it is empty.

        Parameters
        ----------
        number
            The number of the line.
        line
            As text, or as bytes that should be UTF-8.
        whole
            Whether that is the whole line: if not, it was too long.
        """
        answer: dict[str, Any] = {"line": number}
        try:
            text = _json_lines.text(line, whole=whole)
            if not text:
                return None
            self._answer(text, answer)
        except (ValueError, TypeError, KeyError, OverflowError, RuntimeError) as error:
            self.refused += 1
            said = error.args[0] if isinstance(error, KeyError) else error
            answer["error"] = clipped(str(said))
        return answer

    def _answer(self, line: str, answer: dict[str, Any]) -> None:
        """Add to the answer what a line brings about, one thing after the other."""
        said = _parsed(line)
        forecasts = said.get("forecasts")
        if forecasts is None and not WORDS & said.keys():
            forecasts = said
        unknown = [word for word in said if forecasts is not said and word not in WORDS]
        if unknown:
            raise ValueError(
                f"{clipped(unknown[0], 80)!r} is not one of {', '.join(sorted(WORDS))}"
            )
        if "leave" in said:
            answer["left"] = self._left(said)
            return
        if forecasts is None and "outcome" not in said:
            raise ValueError("a line must have forecasts or an outcome")
        if "outcome" in said:
            operation = {"update": self._ticket(said), "outcome": said["outcome"]}
            if "id" in said:
                operation["id"] = said["id"]
            do(self.mixture, operation)
            if self.note is not None:
                self.note(operation)
            answer["settled"] = operation["update"]
        if forecasts is not None:
            answer |= self._prediction(forecasts, said if forecasts is not said else {})

    def _left(self, said: dict[str, Any]) -> str:
        if len(said) > 1:
            raise ValueError("a line by which an expert leaves says nothing else")
        if not isinstance(said["leave"], str):
            raise ValueError(f"leave needs a name, got {clipped(repr(said['leave']), 80)}")
        do(self.mixture, said)
        if self.note is not None:
            self.note(said)
        return said["leave"]

    def _ticket(self, said: dict[str, Any]) -> int:
        if "ticket" in said:
            ticket = said["ticket"]
            if isinstance(ticket, bool) or not isinstance(ticket, int):
                raise ValueError(f"ticket must be a whole number, got {clipped(repr(ticket), 80)}")
            return ticket
        if "id" not in said:
            raise ValueError("an outcome needs the ticket or the id of its forecasts")
        name = id_text(said["id"])
        if name not in self.mixture.ids:
            raise ValueError(f"there is no round with id {clipped(repr(said['id']), 80)} waiting")
        return self.mixture.ids[name]

    def _prediction(self, forecasts: Any, said: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(forecasts, dict):
            raise ValueError("forecasts must be an object of names and forecasts")
        operation: Operation = {"predict": forecasts}
        if said.get("confidence") is not None:
            operation["confidence"] = said["confidence"]
        if "id" in said and "outcome" not in said:
            operation["id"] = said["id"]
            if self.mixture.ids.get(id_text(said["id"])) in self.mixture.pending:
                shown = clipped(repr(said["id"]), 80)
                raise ValueError(f"a round with id {shown} is waiting already")
        made = do(self.mixture, operation)
        assert made is not None
        if self.note is not None:
            self.note(operation | {"ticket": made.ticket})
        answer: dict[str, Any] = {"ticket": made.ticket}
        if "id" in operation:
            answer["id"] = operation["id"]
        return {
            **answer,
            "prediction": _json_lines.plain(made.value),
            "weights": _json_lines.plain(made.weights),
        }


def _parsed(line: str) -> dict[str, Any]:
    said = _json_lines.parsed(line)
    if not isinstance(said, dict):
        raise ValueError("a line must be a JSON object")
    return said
