"""Exceptions at every line of Python of predict, update, join, leave, blend, save and load."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

import numpy as np

import normalhedge
from normalhedge.mixtures import Mixture
from tests.torture.result import Report, Result, isolated, one_line
from tests.torture.scenes import Act, Make, blended, numbers, scenes, things, warm_up
from tests.torture.snapshot import Snapshot, amiss, difference, snapshot

PACKAGE = str(Path(normalhedge.__file__).parent)
SECONDS = 2.0


class Injected(BaseException):
    """What is raised at a line."""


class Injector:
    """Raises at the k-th line of the package that runs; ``where`` says which one that was."""

    def __init__(self, k: int) -> None:
        self.left = k
        self.where = ""

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                name = Path(frame.f_code.co_filename).name
                self.where = f"{name}:{frame.f_lineno} in {frame.f_code.co_name}"
                raise Injected
        return self

    def interrupt(self, act: Callable[[], object]) -> bool:
        """Do something; tell whether it was interrupted."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            act()
        except Injected:
            return True
        finally:
            sys.settrace(before)
        return bool(self.where)


def onwards(mixture: Mixture) -> Snapshot:
    """Play a further round with a mixture; return what came of it."""
    first = mixture.items[0] if mixture.items else ""
    said = {"a": 2.0, "b": 1.0, "z": 0.5}
    if first == "":
        made = mixture.predict(said)
        mixture.update(made.ticket, 1.75)
    else:
        made = mixture.predict({name: {first: value} for name, value in said.items()})
        mixture.update(made.ticket, {first: 1.75})
    return {"said": made.value, "weights": made.weights, **snapshot(mixture)}


def elsewhere(act: Callable[[], Snapshot]) -> Snapshot | str:
    """Do something in another thread, which hangs where a lock was left behind."""
    found: list[Snapshot | str] = []

    def work() -> None:
        try:
            found.append(act())
        except BaseException as error:
            found.append(one_line(error))

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return found[0] if found else "another thread hangs: a lock was left behind"


def judge(mixture: Mixture, ways: list[tuple[Snapshot, Snapshot]]) -> str | None:
    """Return what is wrong unless a mixture is in one of some states, and goes on as it does."""
    differ = []
    for state, later in ways:
        differ.append(difference(snapshot(mixture), state))
        if differ[-1] is None:
            wrong = amiss(mixture)
            if wrong:
                return wrong
            found = elsewhere(lambda: onwards(mixture))
            if isinstance(found, str):
                return found
            other = difference(found, later)
            return f"it goes on otherwise: {other}" if other else None
    return f"neither as before ({differ[0]}) nor as after ({differ[-1]})"


def ways_of(make: Make, act: Act) -> list[tuple[Snapshot, Snapshot]]:
    """Return the states before and after, each with what a further round makes of it."""
    found = []
    for done in (False, True):
        mixture = make()
        if done:
            act(mixture)
        found.append((snapshot(mixture), onwards(mixture)))
    return found


def at_every_line(make: Make, act: Act, stride: int, first: int) -> Callable[[int, Report], None]:
    """Return the work that interrupts a call at its lines ``first``, ``first + stride``, ..."""

    def work(start: int, report: Report) -> None:
        ways = ways_of(make, act)
        k = first + start * stride
        while True:
            mixture, injector = make(), Injector(k)
            try:
                hit = injector.interrupt(lambda m=mixture: act(m))  # type: ignore[misc]
            except Exception as error:  # another error than the one that was injected
                hit = True
                injector.where += f", became {one_line(error)}"
            if not hit:
                return
            wrong = judge(mixture, ways)
            report(wrong and f"raised at line event {k}, {injector.where}: {wrong}")
            k += stride

    return work


def saving(make: Make, stride: int, first: int) -> Callable[[int, Report], None]:
    """Return the work that interrupts `save`: the file is the old or the new one."""

    def work(start: int, report: Report) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.json"
            old, new = make(), make()
            onwards(new)
            files = [snapshot(one, history=False) for one in (old, new)]
            k = first + start * stride
            while True:
                old.save(path)
                injector = Injector(k)
                kept = snapshot(new)
                if not injector.interrupt(lambda: new.save(path)):
                    return
                report(_judge_file(path, new, kept, files, f"{k}, {injector.where}"))
                for left in Path(folder).iterdir():
                    left.unlink()
                k += stride

    return work


def _judge_file(
    path: Path, mixture: Mixture, kept: Snapshot, files: list[Snapshot], where: str
) -> str | None:
    wrong = difference(snapshot(mixture), kept)
    if wrong:
        return f"save raised at {where}: the mixture changed: {wrong}"
    try:
        found = snapshot(Mixture.load(path), history=False)
    except Exception as error:
        return f"save raised at {where}: {one_line(error)}"
    differ = [difference(found, one) for one in files]
    return f"save raised at {where}: neither file: {differ}" if all(differ) else None


def loading(make: Make, stride: int, first: int) -> Callable[[int, Report], None]:
    """Return the work that interrupts `load`: the file stays, and loads the next time."""

    def work(start: int, report: Report) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.json"
            mixture = make()
            mixture.save(path)
            kept, text = snapshot(mixture, history=False), path.read_bytes()
            k = first + start * stride
            while True:
                injector = Injector(k)
                if not injector.interrupt(lambda: Mixture.load(path)):
                    return
                wrong = None if path.read_bytes() == text else "the file changed"
                if k % 50 < stride:
                    wrong = wrong or difference(snapshot(Mixture.load(path), history=False), kept)
                report(wrong and f"load raised at line event {k}, {injector.where}: {wrong}")
                k += stride

    return work


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Raise at every line; in the short form at every seventh or so."""
    result = Result("injected")
    warm_up()
    for name, (make, act) in scenes().items():
        stride = (41 if name.startswith("blend") else 13) if quick else 1
        first = int(rng.integers(1, stride + 1))
        isolated(result, name, at_every_line(make, act, stride, first))
    stride = 97 if quick else 3
    for name, make in {"numbers": numbers, "things": things, "blended": blended}.items():
        first = int(rng.integers(1, stride + 1))
        isolated(result, f"save, {name}", saving(make, stride, first))
        isolated(result, f"load, {name}", loading(make, stride, first))
    return result
