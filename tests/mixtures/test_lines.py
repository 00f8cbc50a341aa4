"""Bytes split into lines, however they arrive."""

import io
from collections.abc import Callable

import pytest

from normalhedge.mixtures.streams._lines import QUOTED, InputLine, batches


def pieces(text: bytes, size: int) -> Callable[[], bytes]:
    source = io.BytesIO(text)
    return lambda: source.read(size)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100, 10_000])
def test_lines_however_they_come(size: int) -> None:
    long = b"x" * 5000
    text = b"one\n\ntwo\r\n" + long + b"\nthree\n" + b"y" * 50 + b"\nlast"
    found = [line for batch in batches(pieces(text, size), 50) for line in batch]
    assert found == [
        InputLine(1, b"one"), InputLine(2, b""), InputLine(3, b"two\r"),
        InputLine(4, long[:QUOTED], whole=False), InputLine(5, b"three"),
        InputLine(6, b"y" * 50), InputLine(7, b"last"),
    ]  # fmt: skip
    found = [line for batch in batches(pieces(text + long, size), 50) for line in batch]
    assert found[-1].whole is False
    assert len(found[-1].text) <= QUOTED


def test_a_stop_takes_nothing_more() -> None:
    read = iter([b"one\ntw", None])
    assert [list(batch) for batch in batches(lambda: next(read))] == [[InputLine(1, b"one")]]


def test_a_line_that_never_ends_takes_no_memory() -> None:
    read = iter([*([b"x" * 1000] * 100_000), b"\n{}\n", b""])
    ((first, second),) = (list(batch) for batch in batches(lambda: next(read), 5000))
    assert (first.whole, second.text) == (False, b"{}")
