"""Split incoming bytes into batches of lines, none of them longer than a limit."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

LONGEST = 1_000_000
"""The default limit on the length of a line, in bytes."""

QUOTED = 200
"""The number of bytes that are kept of a line above the limit."""


class InputLine(NamedTuple):
    """A line of the input."""

    number: int  # its number, counted from 1
    text: bytes  # its bytes, without the line break
    # whether ``text`` is the whole line; otherwise the line was too long and was cut
    whole: bool = True


def batches(read: Callable[[], bytes | None], longest: int = LONGEST) -> Iterator[list[InputLine]]:
    """Yield the lines that each read completes; hold at most one read and one line in memory."""
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
