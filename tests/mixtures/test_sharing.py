"""Mixtures shared by threads, copied, forked, or used from within themselves."""

import copy
import os
import pickle
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.mixtures.state.sum_rows import STEPS
from tests.mixtures.examples import fed


def test_a_loss_of_your_own_does_not_let_experts_join() -> None:
    def joins(forecasts: np.ndarray, _outcome: float) -> np.ndarray:
        mixture.join(["c"])
        return forecasts

    mixture = Mixture("squint", joins)
    ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
    with pytest.raises(RuntimeError, match="must not be used while it predicts or learns"):
        mixture.update(ticket, 0.0)


def played(mixture: Mixture, rounds: int = 5) -> Mixture:
    for t in range(rounds):
        made = mixture.predict({"a": 1.0 * t, "b": 2.0, "c": None if t % 3 == 1 else 0.5})
        mixture.update(made.ticket, 0.0)
    return mixture


def test_a_copy_is_a_mixture_of_its_own() -> None:
    one = played(Mixture("squint"))
    two = copy.copy(one)
    before = two.weights.copy()
    ticket = one.predict({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 0.0}}).ticket
    one.update(ticket, {"x": 1.0, "y": 3.0})
    assert two.items == [""]
    assert ticket not in two.pending
    np.testing.assert_array_equal(two.weights, before)


def test_a_mixture_out_of_shared_memory() -> None:
    one = played(Mixture("squint"))
    parts: list[pickle.PickleBuffer] = []
    text = pickle.dumps(one, protocol=5, buffer_callback=parts.append)
    two = pickle.loads(text, buffers=[bytes(part) for part in parts])
    np.testing.assert_array_equal(played(two).weights, played(one).weights)


def test_threads_take_turns() -> None:
    mixture, wrong = played(Mixture("squint")), []

    def grow() -> None:
        for k in range(150):
            names = {f"x{i}": 1.0 for i in range(k)}
            mixture.update(mixture.predict(names | {"a": 0.5}).ticket, 1.0)

    def play() -> None:
        for t in range(400):
            mixture.update(mixture.predict({"a": 0.1 * t, "b": 2.0}).ticket, 1.0)

    def guarded(work: Any) -> None:
        try:
            work()
        except Exception as error:  # it would be lost with its thread
            wrong.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=guarded, args=(f,)) for f in (grow, play, play)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
    assert mixture.rounds == 5 + 150 + 800
    assert mixture.weights.sum() == pytest.approx(1.0)


class Meddler(dict[str, float]):
    """Forecasts that use the mixture while they are read."""

    def __init__(self, mixture: Mixture, **values: float) -> None:
        super().__init__(values)
        self.mixture = mixture

    def items(self) -> Any:
        self.mixture.predict({"x": 1.0, "y": 2.0})
        return super().items()


def test_a_mixture_that_is_used_from_within_refuses() -> None:
    mixture = fed(Mixture(), "ab", 3)
    with pytest.raises(RuntimeError, match="must not be used while it predicts or learns"):
        mixture.predict(Meddler(mixture, a=1.0, c=2.0))
    assert mixture.names == ["a", "b", "x", "y"]  # the inner round was whole
    assert list(mixture.pending) == [3]
    fed(mixture, "abxy", 2)


def at_line(k: int, act: Callable[[], object], intrude: Callable[[], object]) -> bool:
    """Call something from within at the k-th line, as a signal handler would; False if too few."""
    lines, refused = 0, (RuntimeError, KeyError)

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if "normalhedge" not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        if event == "line" and lines == k:
            with suppress(*refused):
                intrude()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except refused:
        pass
    finally:
        sys.settrace(before)
    return lines >= k


@pytest.mark.parametrize("own", [{"a": 2.0, "b": 1.0}, {"a": 2.0, "new": 1.0}])
def test_a_signal_handler_at_any_line_does_not_settle_a_round_twice(own: dict[str, float]) -> None:
    k, more = 0, True
    while more:
        k += 1
        mixture = played(Mixture("squint", history=4), rounds=3)
        ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
        mixture.predict(own)  # not of the same width as the round before it
        more = at_line(
            k, partial(mixture.update, ticket, 1.0), partial(mixture.update, ticket, 2.0)
        )
        steps = int(mixture.live.total_sums[STEPS])
        assert steps == len(mixture.history) == 4, k
        mixture.correct(ticket, 5.0)
        right = played(Mixture("squint", history=4), rounds=3)
        ticket = right.predict({"a": 1.0, "b": 2.0}).ticket
        right.predict(own)
        right.update(ticket, 5.0)
        np.testing.assert_array_equal(mixture.weights[:, :3], right.weights[:, :3])
    assert k > 2


def test_a_signal_handler_at_any_line_does_not_move_the_columns_of_a_round() -> None:
    k, more = 0, True
    while more:
        k += 1
        mixture = played(Mixture("squint"), rounds=3)

        def intrude(m: Mixture = mixture) -> None:
            m.leave("b")
            m.join(["z"])

        more = at_line(k, partial(mixture.predict, {"a": 1.0, "c": 3.0, "b": 2.0}), intrude)
        for round_ in mixture.pending.values():
            said = dict(zip(mixture.names, round_.forecasts[0, 0], strict=False))
            assert (said["a"], said["c"]) == (1.0, 3.0), k
            assert np.isnan(said.get("z", np.nan)), k
    assert k > 2


def test_pickles_and_copies_beside_a_thread_that_predicts() -> None:
    mixture, stop, failed = fed(Mixture(), "ab", 3), threading.Event(), []

    def work() -> None:
        k = 0
        while not stop.is_set():
            k += 1
            said = {"a": 1.0, "b": 2.0, f"n{k % 50}": 3.0}
            mixture.update(mixture.predict(said).ticket, 1.0)

    def look() -> None:
        try:
            for _ in range(60):
                for other in (pickle.loads(pickle.dumps(mixture)), copy.deepcopy(mixture)):
                    assert len(other.names) == other.weights.shape[1]
                    other.predict({"a": 1.0, "b": 2.0})
                mixture.summary()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work), threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    threads[1].join()
    stop.set()
    threads[0].join()
    assert not failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_beside_a_thread_gets_a_sound_mixture() -> None:
    mixture, stop = fed(Mixture(), "ab", 3), threading.Event()

    def work() -> None:
        k = 0
        while not stop.is_set():
            k += 1
            mixture.update(mixture.predict({"a": 1.0, "b": 2.0, f"n{k % 9}": 3.0}).ticket, 1.0)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                try:
                    fed(mixture, "abq", 3)
                    os._exit(0 if len(mixture.names) == mixture.weights.shape[1] else 1)
                finally:
                    os._exit(2)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()
