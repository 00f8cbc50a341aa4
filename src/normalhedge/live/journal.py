r"""The journal of a stream: one line for each operation since the state file was written.

A line is a checksum and a JSON object, ``0123456789abcdef {"n": 8, ...}\n``, where ``n`` is the
number of the operation. The first line names the state that the journal belongs to. Lines are only
appended, in one write for all operations that are answered together. So, however a process ends,
the journal holds all operations that were answered, and at most one incomplete last line, which is
ignored. Damage in any other line is an error.
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

from normalhedge.boundary import whole_files
from normalhedge.boundary.terminal import clipped, shown

Operation = dict[str, Any]
"""An operation as a JSON object."""

FORMAT = "normalhedge journal"
SUM = 16
"""The number of characters of a checksum."""


def journal_of(state: Path) -> Path:
    """Return the path of the journal of a state file: beside the file that a link points to."""
    return Path(f"{os.path.realpath(state)}.journal")


def refuse_beside(state: Path, verb: str) -> None:
    """Raise a ValueError if a state file has a journal, whose rounds it would lose if written."""
    journal = journal_of(state)
    if journal.exists():
        raise ValueError(
            f"{journal} holds rounds of a stream that runs or was killed: "
            f"'normalhedge {verb} - --state {state} </dev/null' puts them into {state}"
        )


class Journal:
    """A journal that is open for writing."""

    def __init__(self, path: Path, identity: str, sequence: int, *, sync: bool = False) -> None:
        self.path = path
        self.identity = identity
        self.sequence = sequence
        self.sync = sync
        self.size = 0
        whole_files.refuse_special(path)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._handle = os.open(path, flags, 0o600)
        if hasattr(os, "fchown"):
            state = path.with_suffix("").stat()
            with suppress(PermissionError):
                os.fchown(self._handle, state.st_uid, state.st_gid)
            os.fchmod(self._handle, stat.S_IMODE(state.st_mode))
        self.begin()
        whole_files.sync_folder(path.parent)

    def begin(self) -> None:
        """Empty the journal, because the state file contains all operations so far."""
        os.ftruncate(self._handle, 0)
        self._write(_line({"format": FORMAT, "journal": self.identity}))
        os.fsync(self._handle)
        self.size = 0

    def append(self, operations: Sequence[Operation]) -> None:
        """Append operations; when this returns they survive the end of the process."""
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
        """Close the file; remove it if the state file contains all operations."""
        os.close(self._handle)
        if remove:
            self.path.unlink(missing_ok=True)


class JournalContent(NamedTuple):
    """The content of a journal."""

    identity: str  # the identity of the journal; empty if it was not written yet
    operations: list[Operation]  # the operations, in order


def replay(path: Path, redo: Callable[[Operation], object], sequence: int, identity: str) -> int:
    """Repeat the operations of a journal that a state does not contain; return the last number."""
    journal = read_journal(path)
    if journal.identity not in {"", identity}:
        raise ValueError(
            f"{path} belongs to another state than the file next to it: move one of them away"
        )
    last = sequence
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it was shown the first time
        for operation in journal.operations:
            if operation["n"] <= sequence:
                continue
            if operation["n"] != last + 1:
                raise ValueError(f"{path} begins at {operation['n']}, not at {last + 1}")
            try:
                redo(operation)
            except (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError) as error:
                why = clipped(shown(str(error)))
                raise ValueError(
                    f"{path} does not fit the state file next to it: operation {last + 1}: {why}"
                ) from None
            last += 1
    return last


def read_journal(path: Path) -> JournalContent:
    """Return the content of a journal, without an incomplete last line."""
    if whole_files.refuse_special(path) is None:
        return JournalContent("", [])
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        return JournalContent("", [])
    identity = first.get("journal")
    if first.get("format") != FORMAT or not isinstance(identity, str) or not identity:
        raise ValueError(f"{path} is not the journal of a stream")
    operations = list(lines)
    for before, operation in enumerate(operations, start=operations[0]["n"] if operations else 0):
        if type(operation.get("n")) is not int or operation["n"] != before:
            raise ValueError(f"{path} is damaged: operation {before} is missing")
    return JournalContent(identity, operations)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a journal."""
    *lines, rest = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        entry = _parse(line)
        if entry is None:
            raise ValueError(f"{path} is damaged in line {number}")
        yield entry
    if rest.endswith(b"\0"):
        warnings.warn(
            f"{path} ends in {len(rest) - len(rest.rstrip(bytes(1))):,} zero bytes, as a power cut "
            "leaves them: the lines that stood there are lost, although they may have been "
            "answered; with --sync they would not be",
            RuntimeWarning,
            stacklevel=2,
        )
    last = _parse(rest)
    if last is not None:
        yield last
    elif _parse(rest[:-1]) is not None:  # complete, but its line break was changed
        raise ValueError(f"{path} is damaged in line {len(lines) + 1}")


def _line(entry: Mapping[str, Any]) -> bytes:
    text = json.dumps(entry).encode("ascii")
    return b"%b %b\n" % (_sum(text), text)


def _sum(text: bytes) -> bytes:
    return blake2b(text, digest_size=SUM // 2).hexdigest().encode("ascii")


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line; None if the line is damaged."""
    checksum, space, text = line[:SUM], line[SUM : SUM + 1], line[SUM + 1 :]
    if space != b" " or _sum(text) != checksum:
        return None
    entry = json.loads(text)
    return entry if isinstance(entry, dict) else None
