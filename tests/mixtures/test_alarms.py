"""An exception that a signal handler raises reaches the caller, whatever the mixture was doing."""

import gc
import random
import signal
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

from normalhedge import Mixture

FORECASTS = {"a": 1.0, "b": 2.0}
ALARMS = 150


def play(mixture: Mixture) -> None:
    mixture.update(mixture.predict(FORECASTS).ticket, 1.5)


def peek(mixture: Mixture) -> None:
    """Make copies and drop them: the callback of a weak reference can lose an exception."""
    play(mixture)
    mixture.peek(FORECASTS)
    mixture.next_weights(["a"])


@pytest.fixture
def _quiet_collector() -> Iterator[None]:
    """Take away callbacks of the collector, such as of Hypothesis: Python loses what they raise."""
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = callbacks


@pytest.mark.usefixtures("_quiet_collector")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer here")
@pytest.mark.parametrize("act", [play, peek])
@pytest.mark.parametrize("handle", [lambda _: None, play], ids=["idle", "changes the mixture"])
def test_a_timeout_arrives(
    act: Callable[[Mixture], None], handle: Callable[[Mixture], None]
) -> None:
    mixture, rng, raised = Mixture(), random.Random(0), [0]
    play(mixture)

    def stop(_: int, __: FrameType | None) -> None:
        handle(mixture)
        raised[0] += 1
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for k in range(ALARMS):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(2e-6, 1e-3))
                try:
                    while raised[0] == k:
                        act(mixture)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
            except TimeoutError:
                continue
            pytest.fail(f"exception {k} was raised, and did not arrive")
    finally:
        signal.signal(signal.SIGALRM, before)
