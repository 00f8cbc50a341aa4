"""Bytes as they come -> lines in batches, none of them longer than a limit."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

LONGEST = 1_000_000
"""How many bytes a line may have unless told otherwise."""

QUOTED = 200
"""How many bytes are kept of a line that is longer."""


class InputLine(NamedTuple):
    """A line, its number from 1 on, and whether that is all of it: the rest was too long."""

    number: int
    text: bytes
    whole: bool = True


def batches(read: Callable[[], bytes | None], longest: int = LONGEST) -> Iterator[list[InputLine]]:
    """Yield the lines that each read makes complete; never hold more than one read and one line.

    Parameters
    ----------
    read
        Returns bytes as soon as there are some, none of them at the end, and None to stop at once,
        without what follows the last line.
    longest
        How many bytes a line may have.
    """
    number, rest, dropped = 1, b"", False
    while data := read():
        first, *others = data.split(b"\n")
        lines = [rest + first, *others]
        rest = lines.pop()
        batch = []
        for text in lines:
            batch.append(_line(number, text, longest, dropped=dropped))
            number, dropped = number + 1, False
        if len(rest) > longest:
            rest, dropped = rest[:QUOTED], True
        elif dropped:
            rest = rest[:QUOTED]
        if batch:
            yield batch
    if data is not None and rest:
        yield [_line(number, rest, longest, dropped=dropped)]


def _line(number: int, text: bytes, longest: int, *, dropped: bool) -> InputLine:
    if dropped or len(text) > longest:
        return InputLine(number, text[:QUOTED], whole=False)
    return InputLine(number, text)
