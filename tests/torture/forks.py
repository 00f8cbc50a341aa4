"""Forks while another thread is inside a mixture: the child gets a sound one, or is refused."""

import os
import signal
import sys
import time
import warnings
from threading import Event, Thread

import numpy as np

from normalhedge.mixtures import Mixture
from normalhedge.mixtures.state.sum_rows import STEPS
from tests.torture.result import Report, Result, is_sentence, isolated, one_line
from tests.torture.snapshot import unusable

SECONDS = 10.0


def _look(mixture: Mixture) -> str | None:
    """Return what is wrong with the mixture of a child, or None."""
    try:
        made = mixture.predict({"e0": 1.0, "e1": 2.0, "fresh": 3.0})
        mixture.update(made.ticket, 1.0)
    except RuntimeError as error:
        return None if is_sentence(str(error)) else one_line(error)
    except Exception as error:
        return one_line(error)
    steps = int(mixture.live.total_sums[STEPS])
    if steps + len(mixture.pending) != mixture.rounds or mixture.rounds != mixture.next_ticket:
        said = f"{mixture.rounds} rounds, {steps} steps, {len(mixture.pending)} pending"
        return f"half a call: {said}, next ticket {mixture.next_ticket}"
    return unusable(mixture, summary=False)


def _fork(mixture: Mixture) -> str | None:
    """Fork; return what is wrong in the child, or None."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(int(SECONDS))
        found = _look(mixture) or ""
        os.write(write, found.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as said:
        found = said.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == -signal.SIGALRM:
        return f"the child hangs ({SECONDS:g} s)"
    return found or (f"the child ended with {code}" if code else None)


def work_with(experts: int, forks: int, seed: int, *, joining: bool, stop_at: int = 5) -> object:
    """Return the work of forking while a thread plays; it stops after some failures."""

    def work(start: int, report: Report) -> None:
        if start:
            return
        mixture, ended = Mixture(), Event()
        rng = np.random.default_rng(seed)
        said = {f"e{k}": float(k % 7) for k in range(experts)}

        def play() -> None:
            k = 0
            while not ended.is_set():
                k += 1
                more = {f"n{k % 500}": 1.0} if joining else {}
                mixture.update(mixture.predict(said | more).ticket, 3.0)

        thread = Thread(target=play, daemon=True)
        thread.start()
        failed = 0
        for _ in range(forks):
            time.sleep(float(rng.uniform(0.0, 0.004)))
            wrong = _fork(mixture)
            report(wrong)
            failed += wrong is not None
            if failed >= stop_at:
                break
        ended.set()
        thread.join(SECONDS)

    return work


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Fork 400 times from a process whose other thread plays few, many and joining experts."""
    result = Result("forks")
    sys.setswitchinterval(1e-4)
    try:
        for experts, joining in ((5, False), (5, True), (20_000, False), (2_000, True)):
            seed = int(rng.integers(1 << 30))
            what = f"{experts} experts, joining {joining}, seed {seed}"
            forks = 5 if quick else 100
            stop = 1 if quick else 5
            work = work_with(experts, forks, seed, joining=joining, stop_at=stop)
            isolated(result, what, work)  # type: ignore[arg-type]
    finally:
        sys.setswitchinterval(0.005)
    return result
