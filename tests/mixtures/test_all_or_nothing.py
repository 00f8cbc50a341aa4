"""An operation changes all of a mixture or nothing: finalisers, and a lack of memory."""

import gc
import itertools
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture, _core
from normalhedge.hedgers import HEDGERS
from normalhedge.mixtures import LOSSES
from tests.mixtures.hedger_examples import EVERY


class Predicts:
    """Garbage that uses a mixture when it is collected."""

    def __init__(self, mixture: Mixture, tickets: list[int]) -> None:
        self.mixture, self.tickets, self.itself = mixture, tickets, self

    def __del__(self) -> None:
        self.tickets.append(self.mixture.predict({"a": 3.0, "b": 4.0}).ticket)


@pytest.mark.parametrize("hedger", ["normal-hedge", "auto"])
def test_a_finaliser_that_predicts_gets_a_ticket_of_its_own(hedger: str) -> None:
    mixture, tickets = Mixture(hedger), list[int]()
    mixture.predict({"a": 0.0, "b": 0.0})
    usual = gc.get_threshold()
    gc.collect()
    gc.set_threshold(1, 1, 1)
    try:
        for t in range(400):
            Predicts(mixture, tickets)
            tickets.append(mixture.predict({"a": 1.0, "b": 2.0}).ticket)
            if t % 3 == 0:
                mixture.update(tickets[-1], 1.0)
    finally:
        gc.set_threshold(*usual)
        gc.collect()
    assert len(tickets) == 800
    assert sorted(tickets) == list(range(1, 801))
    assert mixture.rounds == 801
    for ticket, waiting in mixture.pending.items():
        assert waiting.forecasts.ravel().tolist() in ([0.0, 0.0], [1.0, 2.0], [3.0, 4.0]), ticket


class Joins:
    """Garbage that brings another expert when it is collected."""

    def __init__(self, mixture: Mixture, name: str) -> None:
        self.mixture, self.name, self.itself = mixture, name, self

    def __del__(self) -> None:
        self.mixture.join([self.name])


def test_a_finaliser_that_lets_an_expert_join_does_not_move_columns() -> None:
    mixture = Mixture("normal-hedge")
    mixture.predict({"a": 0.0, "b": 0.0})
    usual = gc.get_threshold()
    gc.collect()
    gc.set_threshold(1, 1, 1)
    try:
        for k in range(100):
            Joins(mixture, f"n{k}")
            made = mixture.predict({"a": 1.0, "b": 2.0})
            assert made.distribution.shape == (1, len(made.names)), k
            assert mixture.pending[made.ticket].forecasts.shape[2] == len(made.names)
    finally:
        gc.set_threshold(*usual)
        gc.collect()
    assert len(mixture.names) == 102


SHORT_OF_MEMORY = """
import resource, sys
import numpy as np
from normalhedge import Mixture, _core

def state(mixture):
    live = mixture.live
    fields = {name: getattr(live, name).tobytes() for name in _core.STATE_FIELDS}
    return fields, list(mixture.pending), mixture.rounds, mixture.next_ticket, len(mixture.history)

def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

n, hedger = int(sys.argv[1]), sys.argv[2]
forecasts = {f"x{k}": float(k % 7) for k in range(n)}
other, mixture = Mixture(hedger, history=0), Mixture(hedger, history=0)
for one in (other, mixture):
    one.update(one.predict(forecasts).ticket, 3.0)
    one.predict(forecasts)
other.update(1, 2.0)
before, refused = state(mixture), 0
for more in range(0, 400 * n, 2 * n):
    resource.setrlimit(resource.RLIMIT_AS, (used() + more, resource.RLIM_INFINITY))
    try:
        mixture.update(1, 2.0)
        break
    except MemoryError:
        refused += 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert state(mixture) == before, refused
assert state(mixture) == state(other)
print(refused)
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="it limits memory as Linux does, and not under AddressSanitizer",
)
@pytest.mark.parametrize("hedger", ["normal-hedge", "squint", "auto"])
def test_a_lack_of_memory_changes_nothing(hedger: str) -> None:
    command = [sys.executable, "-c", SHORT_OF_MEMORY, "200000", hedger]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


def play(mixture: Mixture, forecast: Any, outcome: Any) -> None:
    for t in range(4):
        said = {f"x{k}": forecast(k) for k in range(600) if (t + k) % 5}
        tickets = [mixture.predict(said, {"x1": 0.5} if t == 2 else None).ticket for _ in range(2)]
        for ticket in tickets:
            mixture.update(ticket, outcome)


def test_a_change_reserves_the_memory_that_it_needs() -> None:
    """With 600 experts no scratch memory is on the stack."""
    before = _core.scratch_overflows()
    for name in ("auto", *HEDGERS):
        hedger = EVERY.get(name)
        play(Mixture(hedger), float, 300.0)
        play(Mixture(hedger), lambda k: [float(k), 2.0, 3.0], [300.0, 1.0, None])
    for name, loss in LOSSES.items():
        if name in {"crps", "log-wealth", "zero-one"}:
            continue
        chosen: Any = loss() if name != "pinball" else "pinball:level=0.8"
        for hedger in (None, "normal-hedge"):
            classes = Mixture(hedger, chosen).settings.loss.of_classes
            forecast = (lambda _: [0.2, 0.3, 0.5]) if classes else (lambda k: 1.0 + k)
            play(Mixture(hedger, chosen), forecast, 1 if classes else 300.0)
    for hedger, shared in itertools.product((None, "normal-hedge"), (True, False)):
        quantiles = "crps:levels=0.1/0.3/0.5/0.7/0.9"
        row = (np.arange(5.0) / 5.0).tolist()
        play(
            Mixture(hedger, quantiles, shared=shared),
            lambda k, row=row: [k + x for x in row],
            300.0,
        )
        several = Mixture(hedger, shared=shared)
        play(several, lambda k: {f"s{j}": float(k + j) for j in range(7)}, {"s1": 1.0, "s5": 2.0})
    assert _core.scratch_overflows() == before
