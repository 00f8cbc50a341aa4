"""Calls from inside a call on the same mixture: refused with a sentence, and never a crash."""

import gc
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from normalhedge import blend
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.state.sum_rows import STEPS
from tests.torture.result import Report, Result, is_sentence, isolated, one_line
from tests.torture.scenes import Softmax, numbers, table, warm_up
from tests.torture.snapshot import amiss, unusable

Call = Callable[[Mixture], object]

SECONDS = 20.0
"""How long one fault may take."""


def calls(path: Path) -> dict[str, Call]:
    """Return what is called from inside."""
    found: dict[str, Call] = {
        "predict": lambda m: m.predict({"a": 1.0, "b": 2.0, "c": 1.0}),
        "predict, new name": lambda m: m.predict({f"in{len(m.names)}": 1.0}),
        "predict, many": lambda m: m.predict({f"in{k}": 1.0 for k in range(2000)}),
        "update": lambda m: m.update(next(iter(m.pending)), 1.0),
        "join": lambda m: m.join([f"in{len(m.names)}-{k}" for k in range(50)]),
        "save": lambda m: m.save(path),
        "summary": lambda m: m.summary(),
        "blend": lambda m: blend(table(0, 6), target="y", time="t", mixture=m),
    }
    if hasattr(Mixture, "leave"):
        found["leave"] = lambda m: m.leave("b")
    return found


class Intruder:
    """Calls a mixture from inside, a few times; keeps what was not a refusal in a sentence."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.mixture: Mixture | None = None
        self.left = 3
        self.wrong: str | None = None

    def __call__(self, *_: object) -> None:
        if self.mixture is None or self.left <= 0:
            return
        self.left -= 1
        try:
            self.call(self.mixture)
        except (RuntimeError, ValueError, KeyError, StopIteration) as error:
            if not is_sentence(str(error)) and not isinstance(error, StopIteration):
                self.wrong = f"no sentence: {str(error)[:200]!r}"
        except BaseException as error:
            self.wrong = one_line(error)


class Haunted(Mapping[str, Any]):
    """A mapping that calls back whenever it is looked at."""

    def __init__(self, content: dict[str, Any], intrude: Intruder) -> None:
        self.content, self.intrude = content, intrude

    def __getitem__(self, key: str) -> Any:
        self.intrude()
        return self.content[key]

    def __iter__(self) -> Iterator[str]:
        self.intrude()
        for key in self.content:
            yield key
            self.intrude()

    def __len__(self) -> int:
        self.intrude()
        return len(self.content)


class HauntedNumber:
    """A number that calls back when it is read."""

    def __init__(self, value: float, intrude: Intruder) -> None:
        self.value, self.intrude = value, intrude

    def __float__(self) -> float:
        self.intrude()
        return self.value


class HauntedName(str):
    """A name that calls back when it is looked up."""

    __slots__ = ("intrude",)
    intrude: Intruder

    def __hash__(self) -> int:
        self.intrude()
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        self.intrude()
        return str.__eq__(self, other)


def _name(text: str, intrude: Intruder) -> HauntedName:
    found = HauntedName(text)
    found.intrude = intrude
    return found


def hosts(intrude: Intruder) -> dict[str, Callable[[], tuple[Mixture, Callable[[], object]]]]:
    """Return mixtures in play, each with a call from inside which it is called again."""

    def host(make: Callable[[], Mixture], act: Callable[[Mixture], object]) -> Any:
        def begin() -> tuple[Mixture, Callable[[], object]]:
            mixture = make()
            return mixture, lambda: act(mixture)

        return begin

    def loss(forecasts: Any, outcome: Any) -> Any:
        intrude()
        return abs(forecasts - outcome)

    said: dict[str, Any] = {"a": 3.0, "b": 1.0, "d": 2.0}
    number = HauntedNumber(2.0, intrude)
    own = lambda: numbers(hedger=Softmax(intrude))  # noqa: E731
    return {
        "forecasts": host(numbers, lambda m: m.predict(Haunted(said, intrude))),
        "a forecast": host(numbers, lambda m: m.predict({"a": number, "b": 1.0, "c": 1.0})),
        "a new forecast": host(numbers, lambda m: m.predict({"z": number, "a": 1.0})),
        "a name": host(numbers, lambda m: m.predict({_name("a", intrude): 1.0, "b": 2.0})),
        "confidence": host(numbers, lambda m: m.predict(said, Haunted({"a": 0.5}, intrude))),
        "an outcome": host(numbers, lambda m: m.update(5, number)),
        "names to join": host(numbers, lambda m: m.join([_name("w", intrude), "v"])),
        "a loss": host(lambda: numbers(loss=loss), lambda m: m.update(4, 2.5)),
        "a hedger, predict": host(own, lambda m: m.predict(said)),
        "a hedger, update": host(own, lambda m: m.update(4, 2.5)),
        "a hedger, join": host(own, lambda m: m.join(["x", "y"])),
        "progress of blend": host(
            Mixture,
            lambda m: blend(table(0, 8), target="y", time="t", mixture=m, progress=intrude),
        ),
    }


def one(host: str, call: str) -> str | None:
    """Call from inside one call; return what is wrong, or None."""
    with tempfile.TemporaryDirectory() as folder:
        intrude = Intruder(calls(Path(folder) / "state.json")[call])
        mixture, act = hosts(intrude)[host]()
        intrude.mixture = mixture
        try:
            act()
        except (RuntimeError, ValueError, TypeError) as error:
            if not is_sentence(str(error)):
                return f"no sentence: {str(error)[:200]!r}"
        except BaseException as error:
            return one_line(error)
        intrude.mixture = None
        return intrude.wrong or amiss(mixture) or unusable(mixture)


def _from_handler(call: str, seconds: float, path: Path) -> str | None:
    """Call from the handler of a timer while rounds are played; None if all is well."""
    mixture, refused, wrong = Mixture(), [0], list[str]()
    inner = calls(path)[call]

    def handler(_: int, __: FrameType | None) -> None:
        try:
            inner(mixture)
        except (RuntimeError, ValueError, KeyError, StopIteration):
            refused[0] += 1
        except BaseException as error:
            wrong.append(one_line(error))
        signal.setitimer(signal.ITIMER_REAL, 0.00037)  # anew, so that the rounds have their turn

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    end, k = time.monotonic() + seconds, 0
    try:
        while time.monotonic() < end and not wrong:
            k += 1
            said = {"a": 1.0, "b": 2.0, "c": 0.5, f"n{k % 200}": 1.0}
            # Of two calls that meet, either may be refused; and the handler may be first.
            with suppress(RuntimeError, KeyError):
                mixture.update(mixture.predict(said).ticket, 1.5)
    except Exception as error:
        wrong.append("outside the handler: " + one_line(error))
    finally:
        # A handler that is due still runs, and would set the timer again: let it do nothing.
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    steps = int(mixture.live.total_sums[STEPS])
    if call != "blend" and not wrong and steps + len(mixture.pending) != mixture.rounds:
        wrong.append(f"{mixture.rounds} rounds, {steps} steps, {len(mixture.pending)} pending")
    return wrong[0] if wrong else amiss(mixture) or unusable(mixture)


class _Dying:
    """Calls back when the garbage collector takes it."""

    def __init__(self, intrude: Callable[[], None]) -> None:
        self.own, self.intrude = self, intrude

    def __del__(self) -> None:
        self.intrude()


def _from_collector(call: str, rounds: int, path: Path) -> str | None:
    """Call from finalizers, which run whenever something is allocated; None if all is well."""
    intrude, mixture = Intruder(calls(path)[call]), Mixture()
    intrude.mixture = mixture
    before = gc.get_threshold()
    gc.set_threshold(7, 2, 2)
    try:
        for k in range(rounds):
            intrude.left = 1
            _Dying(intrude)
            with suppress(RuntimeError, KeyError):
                said = {"a": 1.0, "b": [2.0][0], f"n{k % 40}": 0.5}
                mixture.update(mixture.predict(said).ticket, 1.5)
    except Exception as error:
        return one_line(error)
    finally:
        gc.set_threshold(*before)
    intrude.mixture = None
    return intrude.wrong or amiss(mixture) or unusable(mixture)


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Call everything from inside everything; in the short form a third of it."""
    result = Result("reentry")
    warnings.simplefilter("ignore", RuntimeWarning)
    warm_up()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        names = list(calls(path))
        pairs = [(host, call) for host in hosts(Intruder(len)) for call in names]  # type: ignore[arg-type]
        if quick:
            pairs = [pairs[k] for k in rng.permutation(len(pairs))[: len(pairs) // 4]]
        for host, call in pairs:
            what = f"{call} inside {host}"
            isolated(result, what, _once(partial(one, host, call)), SECONDS)
        seconds = 0.05 if quick else 2.0
        for call in names:
            work = _once(partial(_from_handler, call, seconds, path))
            isolated(result, f"{call} from a signal handler", work, SECONDS)
            work = _once(partial(_from_collector, call, 15 if quick else 200, path))
            isolated(result, f"{call} from a finalizer", work, SECONDS)
    return result


def _once(find: Callable[[], str | None]) -> Callable[[int, Report], None]:
    """Return work that consists of one fault."""

    def work(start: int, report: Report) -> None:
        if not start:
            report(find())

    return work
