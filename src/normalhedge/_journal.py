r"""The journal of a stream: what was done since its state was written, one line for each operation.

A line is a checksum and an object of JSON, ``0123456789abcdef {"n": 8, ...}\n``, where ``n`` counts
the operations from the first one on; the first line says whose journal it is. Lines are only ever
appended, in one write for all operations that are answered together. So whatever ends a process,
the journal holds all that was answered and at most a line that was not written to its end, which is
cut off. Damage anywhere else is refused.
"""

import json
import os
import stat
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from normalhedge import _files
from normalhedge._terminal import clipped, shown

Operation = dict[str, Any]
"""What was done, as words and numbers."""

FORMAT = "normalhedge journal"
SUM = 16
"""How many characters a checksum has."""


def journal_of(state: Path) -> Path:
    """Return where the journal of a state is: beside the file, also where that is a link to it."""
    return Path(f"{os.path.realpath(state)}.journal")


class Journal:
    """A journal that is written.

    Parameters
    ----------
    path
        Where; there must be a state beside it, whose mode and owner it takes.
    identity
        Whose journal it is: the state beside it says the same.
    sequence
        How many operations the state holds.
    sync
        Whether `append` returns only when what it wrote would survive a power cut, too.

    Attributes
    ----------
    size
        How many bytes were appended since the journal was begun.
    """

    def __init__(self, path: Path, identity: str, sequence: int, *, sync: bool = False) -> None:
        self.path = path
        self.identity = identity
        self.sequence = sequence
        self.sync = sync
        self.size = 0
        _files.refuse_special(path)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._handle = os.open(path, flags, 0o600)
        if hasattr(os, "fchown"):
            state = path.with_suffix("").stat()
            with suppress(PermissionError):
                os.fchown(self._handle, state.st_uid, state.st_gid)
            os.fchmod(self._handle, stat.S_IMODE(state.st_mode))
        self.begin()
        _files.sync_folder(path.parent)

    def begin(self) -> None:
        """Begin anew: the state beside it holds all that was done so far."""
        os.ftruncate(self._handle, 0)
        self._write(_line({"format": FORMAT, "journal": self.identity}))
        os.fsync(self._handle)
        self.size = 0

    def append(self, operations: Sequence[Operation]) -> None:
        """Write operations down; when this returns they survive the end of the process.

        Raises
        ------
        OSError
            If they cannot be written; the journal is then as it was.
        """
        if not operations:
            return
        numbered = enumerate(operations, start=self.sequence + 1)
        text = b"".join(_line({"n": n, **operation}) for n, operation in numbered)
        before = os.fstat(self._handle).st_size
        try:
            self._write(text)
            if self.sync:
                os.fsync(self._handle)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._handle, before)
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        self.sequence += len(operations)
        self.size += len(text)

    def _write(self, text: bytes) -> None:
        left = memoryview(text)
        while left:
            left = left[os.write(self._handle, left) :]

    def close(self, *, remove: bool) -> None:
        """Close the file, and remove it where the state beside it holds everything."""
        os.close(self._handle)
        if remove:
            self.path.unlink(missing_ok=True)


class Found(NamedTuple):
    """What a journal holds: whose it is (empty if that was not written yet), and what was done."""

    identity: str
    operations: list[Operation]


def replay(path: Path, redo: Callable[[Operation], object], sequence: int, identity: str) -> int:
    """Do again what a journal says and a state has not seen; return the last number.

    Parameters
    ----------
    path
        The journal; it may be missing.
    redo
        Does an operation again, to what was read from the state.
    sequence, identity
        How many operations the state has seen, and of which journal.

    Raises
    ------
    ValueError
        If the journal is damaged or belongs to another state. What was read is of no use then.
    """
    found = read_journal(path)
    if found.identity not in {"", identity}:
        raise ValueError(
            f"{path} is the journal of another state than the one beside it: move one of them away"
        )
    last = sequence
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # which was given when it was done first
        for operation in found.operations:
            if operation["n"] <= sequence:
                continue
            if operation["n"] != last + 1:
                raise ValueError(f"{path} begins at {operation['n']}, not at {last + 1}")
            try:
                redo(operation)
            except (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError) as error:
                why = clipped(shown(str(error)))
                raise ValueError(
                    f"{path} does not fit the state beside it: operation {last + 1}: {why}"
                ) from None
            last += 1
    return last


def read_journal(path: Path) -> Found:
    """Return what a journal holds, without a last line that was not written to its end.

    Raises
    ------
    ValueError
        If another line is damaged, or operations are missing.
    """
    if _files.refuse_special(path) is None:
        return Found("", [])
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        return Found("", [])
    identity = first.get("journal")
    if first.get("format") != FORMAT or not isinstance(identity, str) or not identity:
        raise ValueError(f"{path} is not the journal of a stream")
    operations = list(lines)
    for before, operation in enumerate(operations, start=operations[0]["n"] if operations else 0):
        if type(operation.get("n")) is not int or operation["n"] != before:
            raise ValueError(f"{path} is damaged: operation {before} is missing")
    return Found(identity, operations)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a journal."""
    *lines, rest = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        said = _parsed(line)
        if said is None:
            raise ValueError(f"{path} is damaged in line {number}")
        yield said
    whole = _parsed(rest)
    if whole is not None:
        yield whole
    elif _parsed(rest[:-1]) is not None:  # it was written to its end
        raise ValueError(f"{path} is damaged in line {len(lines) + 1}")


def _line(said: Mapping[str, Any]) -> bytes:
    text = json.dumps(said).encode("ascii")
    return b"%b %b\n" % (_sum(text), text)


def _sum(text: bytes) -> bytes:
    return blake2b(text, digest_size=SUM // 2).hexdigest().encode("ascii")


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line; none if it is damaged."""
    given, space, text = line[:SUM], line[SUM : SUM + 1], line[SUM + 1 :]
    if space != b" " or _sum(text) != given:
        return None
    said = json.loads(text)
    return said if isinstance(said, dict) else None
