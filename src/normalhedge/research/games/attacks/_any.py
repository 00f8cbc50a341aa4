"""Attacks on any hedger: only its weights are needed, and no potential."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.hedgers import Hedger
from normalhedge.research.games._play import play
from normalhedge.research.games.natures import BreakAway, Contrary, Holding, Nature


class Provoked(NamedTuple):
    """The regret that an attack drives a hedger to.

    Attributes
    ----------
    nature
        The attack; it plays the same game in each run.
    regret
        The largest regret to the best expert in any round.
    discount
        The rate at which it is discounted.
    rounds
        The length of the game.
    """

    nature: Nature
    regret: float
    discount: float
    rounds: int


def provoke(
    hedger: Hedger[Any], n_experts: int, rounds: int, *, discount: float | None = None
) -> Provoked:
    """Return the attack that drives a hedger to the largest regret, of those that are tried.

    No valid bound on the regret is smaller. The attacks are `Contrary`, `BreakAway` and, for some
    groups and shares of the weight, `Holding`, whose best plan is then refined. A better attack may
    exist: for NormalHedge, `attack` searches longer.

    Parameters
    ----------
    hedger
        The hedger that is attacked: one of this package or your own.
    n_experts
        The number of experts, at least 2.
    rounds
        The length of the game; some 10/alpha for a hedger that forgets.
    discount
        The rate at which the regret is discounted. None: the hedger's own; see `play`.

    Examples
    --------
    >>> from normalhedge.hedgers import Hedge, NormalHedge
    >>> tuned = provoke(Hedge(0.01, eta=0.4), 10, 1000)
    >>> loose = provoke(Hedge(0.01, eta=0.01), 10, 1000)
    >>> bool(tuned.regret < loose.regret <= Hedge(0.01, eta=0.01).bound(10).regret)
    True
    """
    n, rounds = inputs.count("n_experts", n_experts, 2), inputs.count("rounds", rounds)

    def tried(nature: Nature) -> Provoked:
        trace = play(hedger, nature, rounds, every=rounds, discount=discount, jobs=1)
        return Provoked(nature, float(trace.highest_regret[0]), trace.discount[0], rounds)

    best = max(map(tried, _plans(hedger, n, rounds)), key=_regret)
    others = [tried(Contrary(n, hedger)), tried(BreakAway(n, max(4.0 / rounds, 1e-6)))]
    for step in (0.05, 0.02):
        best = max([best, *map(tried, _near(best.nature, step))], key=_regret)
    return max([best, *others], key=_regret)


def _regret(found: Provoked) -> float:
    return found.regret


def _plans(hedger: Hedger[Any], n: int, rounds: int) -> Iterator[Holding]:
    for held in sorted({1, max(n // 5, 1), max(n // 2, 1)}):
        for share in np.arange(1, 10) / 10.0:
            yield Holding(n, hedger, held, float(share), rounds // 2)


def _near(plan: Nature, step: float) -> Iterator[Holding]:
    assert isinstance(plan, Holding)
    for held in {max(plan.held // 2, 1), plan.held, min(2 * plan.held, plan.experts - 1)}:
        for share in (plan.share - step, plan.share, plan.share + step):
            if 0.0 < share < 1.0:
                yield Holding(plan.experts, plan.target, held, round(share, 9), plan.until)
