"""Write files whole or not at all: to a part file, synchronised, then moved into place."""

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: files are not locked there, and so leftovers are not removed
    fcntl = None  # type: ignore[assignment]

LEFTOVER = re.compile(r"\.(?P<name>.+)\.part-(?P<pid>[0-9]+)-[0-9a-f]{8}(\.[^.]*)?", re.DOTALL)
"""The name of a part file: the name of the complete file, and the process that writes it."""

LONGEST = 150
"""The longest file name, in bytes, that is repeated in full in the name of its part file."""

_writing: set[str] = set()
"""The part files that this process is writing."""


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file to a part file beside it, and move it into place when it is complete.

    If anything goes wrong, the old file stays. The new file has the mode and the owner of the old
    one. If the path is a symbolic link, the file it points to is replaced. When this function
    returns, the file survives a power cut.
    """
    target = Path(os.path.realpath(path))
    before = refuse_special(target)
    if before is not None and not os.access(target, os.W_OK):
        raise ValueError(f"{path} is protected: it may not be written")
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target.parent, _stem(target))
    name = f".{_stem(target)}.part-{os.getpid()}-{secrets.token_hex(4)}{target.suffix}"
    part = target.with_name(name)
    _writing.add(str(part))
    try:
        # The kernel applies the umask. A file that replaces a private one is never public.
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if before else 0o666)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)  # while it is written: see `sweep`
            write(part)
            if before is not None:
                _take_after(handle, before, path)
            os.fsync(handle)
        finally:
            os.close(handle)
        part.replace(target)
        sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)
        _writing.discard(str(part))


def sync_folder(folder: Path) -> None:
    """Make sure that the file names in a folder survive a power cut."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Make a folder, or remove the part files that killed processes of this user left in it."""
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder, None)


def refuse_special(path: Path) -> os.stat_result | None:
    """Return the status of a regular file, or None if there is no file; refuse anything else."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
        raise ValueError(f"{path} is {kind}")
    return status


def _stem(target: Path) -> str:
    """Return the name of a file as it is repeated in the names of its part files."""
    name = target.name
    if len(os.fsencode(name)) <= LONGEST:
        return name
    short = os.fsdecode(os.fsencode(name)[: LONGEST - 20]).encode("utf-8", "ignore").decode()
    return f"{short}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"


def _take_after(handle: int, before: os.stat_result, path: Path) -> None:
    """Give a new file the owner and the mode of the file that it replaces."""
    if os.name == "nt":
        return
    present = os.fstat(handle)
    if (present.st_uid, present.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(handle, before.st_uid, before.st_gid)
        except PermissionError:
            raise ValueError(
                f"{path} belongs to user {before.st_uid} and group {before.st_gid}, which this "
                "process cannot keep"
            ) from None
    os.fchmod(handle, stat.S_IMODE(before.st_mode))


def _sweep(folder: Path, name: str | None) -> None:
    """Remove the part files of killed processes from a folder, for one file or for all."""
    if fcntl is None:
        return
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if ".part-" in entry.name]
    for entry in names:
        match = LEFTOVER.fullmatch(entry)
        if match is None or name not in {None, match["name"]}:
            continue
        left = folder / entry
        if str(left) not in _writing and _is_dead(int(match["pid"])) and _is_free(left):
            left.unlink(missing_ok=True)


def _is_dead(pid: int) -> bool:
    """Tell whether there is no such process, or it is this process."""
    if pid == os.getpid():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _is_free(left: Path) -> bool:
    """Tell whether a part file is this user's and unlocked; locks also work across containers."""
    with suppress(OSError):
        handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(handle)
            if status.st_uid == os.geteuid() and stat.S_ISREG(status.st_mode):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
        finally:
            os.close(handle)
    return False
