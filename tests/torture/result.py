"""What a kind of fault shows, and pieces of work in a process of their own that may crash."""

import json
import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

SHOWN, ALIKE = 8, 2
"""How many examples of failures are kept of each kind, and of each piece of work."""

RESTARTS = 10
"""How often a piece of work that crashed is taken up again after the place where it crashed."""

Report = Callable[[str | None], None]
"""Called once for each fault: with what went wrong, or None."""


@dataclass
class Result:
    """How many faults of a kind were tried, how many failed, and the first examples of these."""

    name: str
    tried: int = 0
    failed: int = 0
    examples: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, wrong: str | None) -> None:
        """Count one fault; ``wrong`` says what it did, if it did harm."""
        self.tried += 1
        if wrong is not None:
            self.failed += 1
            alike = sum(one.split(" #")[0] == wrong.split(" #")[0] for one in self.examples)
            if len(self.examples) < SHOWN and alike < ALIKE:
                self.examples.append(wrong)

    def lines(self) -> str:
        """Return what is printed."""
        head = f"{self.name:<12} tried {self.tried:>7,}   failed {self.failed:>6,}"
        notes = [f"    {note}" for note in self.notes]
        return "\n".join([head, *notes, *(f"    FAILED {one}" for one in self.examples)])


def one_line(error: BaseException) -> str:
    """Return the kind of an error and what it says, with the place where it was raised."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({os.path.basename(f.filename)}:{f.lineno})" for f in last)
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}{place}"


def is_sentence(text: str) -> bool:
    """Tell whether an error is one readable line."""
    return 0 < len(text.strip()) < 2000 and "\n" not in text.strip() and "Traceback" not in text


def isolated(
    result: Result, what: str, work: Callable[[int, Report], None], seconds: float = 600.0
) -> None:
    """Count the faults that ``work(start, report)`` tries in a forked process; a crash is one too.

    Work that crashed is taken up again behind the fault at which it crashed.
    """
    done = 0
    for _ in range(RESTARTS):
        before, ending = done, None
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            _work(work, done, write, seconds)
        os.close(write)
        with os.fdopen(read, "r", encoding="utf-8") as lines:
            for line in lines:
                if not line.endswith("\n"):
                    break
                wrong = json.loads(line)
                if isinstance(wrong, dict):
                    ending = wrong["end"]
                    continue
                done += 1
                result.count(None if wrong is None else f"{what} #{done}: {wrong}")
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0 and ending == "done":
            return
        ended = f"killed by {signal.Signals(-code).name}" if code < 0 else f"{ending or code}"
        done += 1
        result.count(f"{what} #{done}: the process ended: {ended}")
        if code >= 0 or done > before + 1_000_000 or code == -signal.SIGALRM:
            return


def _work(
    work: Callable[[int, Report], None], start: int, write: int, seconds: float
) -> None:  # pragma: no cover
    """Do the work in the child, and leave without what Python does at the end."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(seconds))

    def report(wrong: str | None) -> None:
        os.write(write, (json.dumps(wrong) + "\n").encode())

    end = "done"
    try:
        work(start, report)
    except BaseException as error:
        end = "the bench itself: " + one_line(error)
    os.write(write, (json.dumps({"end": end}) + "\n").encode())
    os._exit(0 if end == "done" else 1)
