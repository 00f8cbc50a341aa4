"""Streams of JSON lines: a live object that answers each line with one line."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from normalhedge.boundary.terminal import clipped
from normalhedge.live import json_lines
from normalhedge.live.journal import Operation

REFUSALS = (ValueError, TypeError, LookupError, OverflowError, RuntimeError)
"""The errors by which a live object refuses an operation."""


def refusal(error: Exception) -> str:
    """Return the sentence of an error by which a live object refuses an operation."""
    return clipped(str(error.args[0] if isinstance(error, KeyError) else error))


class LineStream(ABC):
    """A live object that reads lines and answers each of them.

    ``note`` gets each operation that was done, as a journal repeats it.
    """

    def __init__(self, note: Callable[[Operation], object] | None = None) -> None:
        self.refused = 0
        self._note = note or (lambda _: None)

    @abstractmethod
    def reply(self, request: Any, answer: dict[str, Any]) -> None:
        """Do what a line asks for, and add the results to the answer."""

    def sentence(self, error: Exception) -> str:
        """Return why a line is refused."""
        return refusal(error)

    def answers(self, lines: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
        """Yield an answer to each line that is not empty; the answer to a bad line is an error."""
        for number, line in enumerate(lines, start=1):
            answer = self.answer(number, line)
            if answer is not None:
                yield answer

    def answer(
        self, number: int, line: str | bytes, *, whole: bool = True
    ) -> dict[str, Any] | None:
        """Return the answer to a line; None if the line is empty."""
        answer: dict[str, Any] = {"line": number}
        try:
            text = json_lines.text(line, whole=whole)
            if not text:
                return None
            self.reply(json_lines.parsed(text), answer)
        except REFUSALS as error:
            self.refused += 1
            answer["error"] = self.sentence(error)
        except MemoryError:  # nothing has changed: live objects allocate before they change
            self.refused += 1
            answer["error"] = "there is not enough memory for this line"
        return answer
