"""Other libraries that implement the same algorithm, a round of theirs beside a round of ours.

``nox -s peers`` installs them apart; of those that are not there, there are no rows.
"""

import importlib.util
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.timing import HEADER, Row, measure
from normalhedge import hedgers
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger
from tests.peers import Peer, Poold, River, Sktime, Spiel

EXPERTS = 1000

PAIRS: dict[str, tuple[str, str, Callable[[int], Peer], CompiledHedger]] = {
    # name of ours: module, name of theirs, theirs, ours
    "normal-hedge-2009": ("sktime", "sktime", Sktime, hedgers.NormalHedge2009()),
    "ada-hedge": ("poold", "poold", lambda n: Poold("adahedged", n), hedgers.AdaHedge()),
    "regret-matching": ("poold", "poold", lambda n: Poold("dorm", n), hedgers.RegretMatching()),
    "rm-plus": ("poold", "poold", lambda n: Poold("dormplus", n), hedgers.RegretMatchingPlus()),
    "hedge, fixed rate": ("river", "river", River, hedgers.FixedShare(0.25, 1e-300)),
}


def rows() -> Iterator[Row]:
    """Yield the table of the peers that are installed: a round of each by `step`."""
    losses = np.random.default_rng(0).random((200, EXPERTS))
    for name, (module, called, make, hedger) in PAIRS.items():
        if importlib.util.find_spec(module) is not None:
            theirs, ours = _Theirs(make(EXPERTS), losses), _Ours(hedger, 1.0 - 2.0 * losses)
            yield _measure(f"{name}, step, N = {EXPERTS:,}", ours, (called, theirs))
    if importlib.util.find_spec("pyspiel") is not None:
        payoffs = np.random.default_rng(1).uniform(-1.0, 1.0, (EXPERTS, 2))
        theirs_of_both = Spiel(payoffs, plus=True).learn
        work = f"rm-plus, matrix game, {EXPERTS:,} x 2"
        yield _measure(work, _Matrix(payoffs), ("OpenSpiel CFR+", theirs_of_both))


def _measure(work: str, ours: Callable[[], None], reference: tuple[str, Callable[[], None]]) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return measure(work, ours, reference, ">= 4x", calls=200, reference_calls=5, repeats=5)


class _Ours:
    """A game of ours, round by round."""

    def __init__(self, hedger: CompiledHedger, gains: Floats) -> None:
        self.hedger, self.gains, self.round = hedger, gains, 0
        self.state = hedger.init(gains.shape[1])

    def __call__(self) -> None:
        self.state = self.hedger.step(self.state, self.gains[self.round % len(self.gains)])
        self.round += 1


class _Theirs:
    """A game of theirs."""

    def __init__(self, peer: Peer, losses: Floats) -> None:
        self.peer, self.losses, self.round = peer, losses, 0

    def __call__(self) -> None:
        self.peer.learn(self.losses[self.round % len(self.losses)])
        self.round += 1


class _Matrix:
    """Two of ours on a matrix game, in turns."""

    def __init__(self, payoffs: Floats) -> None:
        self.payoffs, self.hedger = payoffs, hedgers.RegretMatchingPlus()
        self.row, self.column = (self.hedger.init(n) for n in payoffs.shape)

    def __call__(self) -> None:
        self.row = self.hedger.step(self.row, self.payoffs @ self.column.weights)
        self.column = self.hedger.step(self.column, -self.payoffs.T @ self.row.weights)


if __name__ == "__main__":
    print(HEADER)
    for line in rows():
        print(line, flush=True)
