"""Whatever interrupts them, live objects are as they were, or as they are afterwards.

An exception, or a call from within as by a signal handler, comes at every line of Python that an
operation runs through; where there are thousands of lines, at a sample of them.
"""

import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import numpy as np
import pytest

import normalhedge
from normalhedge.latent import (
    BayesAverage,
    HedgedTracker,
    LearningBank,
    ModelExperts,
    ParticleFilter,
    Regimes,
    StateExperts,
    random_categorical_bank,
)
from tests.latent.regimes.examples import series

PACKAGE = str(Path(normalhedge.__file__).parent)

PLACES = 120
"""The largest number of places that are tried in an operation."""

SEEN = series("gaussian", 400)
TRACK = np.cumsum(np.random.default_rng(1).normal(size=60))


def content(value: Any) -> Any:
    """Return all numbers of an object, which compare equal if everything is the same."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple | list | deque):
        return [content(part) for part in value]
    if isinstance(value, str | int | float | type | FunctionType) or value is None:
        return repr(value)
    if isinstance(value, np.random.Generator):
        parts = value.bit_generator.state
    else:
        parts = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    # A spare generator is no part of what an object knows: its place is.
    return [(repr(key), content(part)) for key, part in parts.items() if key != "_spare"]


def move(paths: np.ndarray) -> np.ndarray:
    return 0.99 * paths


def jitter(paths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return paths + 0.3 * rng.normal(size=paths.shape)


def nearness(paths: np.ndarray, observation: Any) -> np.ndarray:
    return np.asarray(-np.tanh(np.abs(paths[:, 0] - observation)))


def regimes(rounds: int, **options: Any) -> Regimes:
    made = Regimes(states=(1, 2), **options)
    if rounds:
        made.run(SEEN[~np.isnan(SEEN)][:rounds])
    return made


def tracker(rounds: int, *, paths: bool = False, own: bool = False) -> HedgedTracker:
    made = HedgedTracker()
    if paths:
        start = np.random.default_rng(2).normal(size=(20, 1))
        made = HedgedTracker(start, move, jitter, nearness if own else None, rng=3)
    for y in TRACK[:rounds]:
        made.observe(float(y))
    return made


def with_gap(*, paths: bool) -> HedgedTracker:
    made = tracker(20, paths=paths)
    made.observe(None)
    made.observe(1.0)
    return made


def nearness_log(paths: np.ndarray, observation: Any) -> np.ndarray:
    return np.asarray(-0.5 * np.square(paths[:, 0] - observation))


def particles(rounds: int) -> ParticleFilter:
    start = np.random.default_rng(2).normal(size=(20, 1))
    made = ParticleFilter(start, move, jitter, nearness_log, np.random.default_rng(3))
    for y in TRACK[:rounds]:
        made.observe(y)
    return made


SYMBOLS = np.random.default_rng(4).integers(3, size=60).astype(float)


def predictor(kind: str, rounds: int) -> Any:
    bank = random_categorical_bank(6, 2, 3, np.random.default_rng(5))
    kinds: dict[str, Callable[[], Any]] = {
        "states": partial(StateExperts, bank),
        "models": partial(ModelExperts, bank),
        "Bayes": partial(BayesAverage, bank),
        "learning": partial(LearningBank, bank, np.random.default_rng(6), patience=8),
    }
    made = kinds[kind]()
    for symbol in SYMBOLS[:rounds]:
        made.observe(symbol)
    return made


SCENES: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "the first observation": (lambda: regimes(0), lambda r: r.observe(1.5)),
    "an observation": (lambda: regimes(120), lambda r: r.observe(1.5)),
    "no observation": (lambda: regimes(120), lambda r: r.observe(None)),
    "an observation with a review": (lambda: regimes(99), lambda r: r.observe(1.5)),
    "an observation with the first fit": (lambda: regimes(3), lambda r: r.observe(1.5)),
    "a run": (lambda: regimes(120), lambda r: r.run(SEEN[:70])),
    "the first run": (lambda: regimes(0), lambda r: r.run(SEEN[:60])),
    "new numbers": (lambda: regimes(120), lambda r: r.renumber()),
    "a position": (lambda: tracker(30), lambda t: t.observe(2.0)),
    "the first position": (lambda: tracker(0), lambda t: t.observe(2.0)),
    "no position": (lambda: tracker(30), lambda t: t.observe(None)),
    "a late position": (lambda: with_gap(paths=False), lambda t: t.observe(2.0, round=20)),
    "some positions": (lambda: tracker(20), lambda t: t.run(TRACK[20:25])),
    "paths": (lambda: tracker(20, paths=True), lambda t: t.observe(2.0)),
    "paths with gains": (lambda: tracker(20, paths=True, own=True), lambda t: t.observe(2.0)),
    "some positions of paths": (lambda: tracker(9, paths=True), lambda t: t.run(TRACK[9:14])),
    "a gap of paths": (lambda: tracker(9, paths=True), lambda t: t.observe(2.0, round=12)),
    "particles": (lambda: particles(9), lambda f: f.observe(2.0)),
    "a symbol, by states": (lambda: predictor("states", 9), lambda p: p.observe(1.0)),
    "a symbol, by models": (lambda: predictor("models", 9), lambda p: p.observe(1.0)),
    "a symbol, by Bayes": (lambda: predictor("Bayes", 9), lambda p: p.observe(1.0)),
    "a symbol that renews a bank": (lambda: predictor("learning", 15), lambda p: p.observe(1.0)),
    "symbols, by states": (lambda: predictor("states", 9), lambda p: p.run(SYMBOLS[9:30])),
    "symbols, by models": (lambda: predictor("models", 9), lambda p: p.run(SYMBOLS[9:30])),
    "a late position of paths": (lambda: with_gap(paths=True), lambda t: t.observe(2.0, round=20)),
}


class Interrupt:
    """Does something at the k-th line of the package that runs; counts the lines."""

    def __init__(self, k: int, what: Callable[[], object]) -> None:
        self.k, self.what, self.lines = k, what, 0

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.k:
                self.what()
        return self

    def during(self, act: Callable[[], object]) -> None:
        before = sys.gettrace()
        sys.settrace(self)
        try:
            act()
        finally:
            sys.settrace(before)


def places(made: bytes, act: Callable[[Any], object]) -> Iterator[int]:
    """Yield the lines at which an operation is interrupted."""
    counter, thing = Interrupt(0, list), pickle.loads(made)
    counter.during(lambda: act(thing))
    yield from range(1, counter.lines + 1, max(counter.lines // PLACES, 1))


def raising(error: type[BaseException]) -> Callable[[], object]:
    def raise_it() -> None:
        raise error

    return raise_it


def half_done(name: str, error: type[BaseException]) -> tuple[int, int]:
    """Return how many places were tried, and at how many the object was half changed."""
    make, act = SCENES[name]
    made = pickle.dumps(make())
    after = pickle.loads(made)
    act(after)
    ways = content(pickle.loads(made)), content(after)
    tried = wrong = 0
    for k in places(made, act):
        thing = pickle.loads(made)
        with suppress(error):
            Interrupt(k, raising(error)).during(lambda t=thing: act(t))  # type: ignore[misc]
        tried += 1
        wrong += content(thing) not in ways
    return tried, wrong


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("name", SCENES)
def test_nothing_is_half_done(name: str, error: type[BaseException]) -> None:
    tried, wrong = half_done(name, error)
    assert tried >= 8
    assert not wrong, f"half done at {wrong} of {tried} places"


def refusal(act: Callable[[], object]) -> RuntimeError | None:
    try:
        act()
    except RuntimeError as error:
        return error
    return None


@pytest.mark.parametrize("name", ["an observation", "a run", "a position", "a late position"])
def test_a_signal_handler_at_any_line_is_whole_and_the_call_around_it_is_refused(name: str) -> None:
    make, act = SCENES[name]
    made = pickle.dumps(make())
    both = {}
    for order in ("handler", "act", "handler, act", "act, handler"):
        thing = pickle.loads(made)
        for step in order.split(", "):
            thing.observe(7.0) if step == "handler" else act(thing)
        both[order] = content(thing)
    refused = 0
    for k in places(made, act):
        thing = pickle.loads(made)
        interrupt = Interrupt(k, lambda t=thing: t.observe(7.0))  # type: ignore[misc]
        error = refusal(lambda t=thing, i=interrupt: i.during(lambda: act(t)))  # type: ignore[misc]
        if error is None:
            assert content(thing) in (both["handler, act"], both["act, handler"]), k
        else:
            assert "must not be used while it predicts or learns" in str(error)
            assert content(thing) == both["handler"], k
            refused += 1
    assert refused > 5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer here")
@pytest.mark.parametrize("name", ["an observation with a review", "a run", "some positions"])
def test_an_alarm_at_any_moment_leaves_nothing_half_done(name: str) -> None:
    make, act = SCENES[name]
    made = pickle.dumps(make())
    after = pickle.loads(made)
    begun = time.perf_counter()
    act(after)
    taken = time.perf_counter() - begun
    ways = content(pickle.loads(made)), content(after)

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    kept = signal.signal(signal.SIGALRM, interrupt)
    try:
        for share in np.linspace(0.01, 1.1, 60):
            thing = pickle.loads(made)
            with suppress(KeyboardInterrupt):
                try:
                    signal.setitimer(signal.ITIMER_REAL, max(share * taken, 2e-6))
                    act(thing)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert content(thing) in ways
    finally:
        signal.signal(signal.SIGALRM, kept)


def test_a_file_is_the_old_or_the_new_one_and_the_regimes_stay(tmp_path: Path) -> None:
    path, old = tmp_path / "s.json", regimes(40)
    new = regimes(60)
    before = content(new)
    old.save(path)
    text = path.read_text()
    new.save(tmp_path / "new.json")
    texts = {text, (tmp_path / "new.json").read_text()}
    counter = Interrupt(0, list)
    counter.during(lambda: new.save(path))
    for k in range(1, counter.lines, max(counter.lines // PLACES, 1)):
        path.write_text(text)
        with suppress(KeyboardInterrupt):
            Interrupt(k, raising(KeyboardInterrupt)).during(lambda: new.save(path))
        assert path.read_text() in texts
        assert content(new) == before
        with suppress(KeyboardInterrupt):
            Interrupt(k, raising(KeyboardInterrupt)).during(lambda: Regimes.load(path))
        assert path.read_text() in texts
