"""What the claims need beside the figures: each function is pure, from a setting and a seed."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.certificates import PAPER_C, PAPER_POTENTIAL
from normalhedge.certificates import theorem_1 as promised
from normalhedge.experiments.figures import ALPHA, GAMMAS, PRINTED_C
from normalhedge.games import BreakAway, GoodAndBad, Greedy, IndependentCoins, Nature, play
from normalhedge.hedgers import Hedge, NormalHedge
from normalhedge.potentials import NormalPotential

Arrays = dict[str, np.ndarray]


def theorem_1(seed: int, *, quick: bool) -> Arrays:
    """Play NormalHedge, c = 4, just inside Theorem 1 against natures and adversaries.

    Return, for each game: the number of experts, the highest average potential, the highest regret
    over its bound, the highest regret to the best half over its bound (seen at 50 rounds), and
    alpha over the largest that the theorem allows.
    """
    rows, names = [], []
    for n in (10, 100) if quick else (10, 100, 1000):
        alpha = 0.99 / (800.0 * math.log(PAPER_POTENTIAL * n))
        hedger = NormalHedge.paper(alpha)
        natures: dict[str, tuple[Nature, int]] = {
            "break-away": (BreakAway(n, alpha), BreakAway(n, alpha).rounds),
            "good-and-bad": (GoodAndBad(n, 0.8, 0.1, alpha), round(4 / alpha)),
            "coins": (IndependentCoins(n), round(4 / alpha)),
        }
        if n <= 100:
            natures["greedy"] = (Greedy(n, hedger), 1000 if quick else 6000)
        for name, (nature, rounds) in natures.items():
            every = max(rounds // 50, 1)
            trace = play([hedger], nature, rounds, seed=seed, quantile=0.5, every=every)
            assert trace.quantile_regret is not None
            best, half = (promised(alpha, n, PAPER_C, quantile).regret for quantile in (None, 0.5))
            rows.append(
                (
                    n,
                    math.exp(trace.highest_potential[0]),
                    trace.highest_regret[0] / best,
                    trace.quantile_regret.mean.max() / half,
                    alpha * 800.0 * math.log(PAPER_POTENTIAL * n),
                )
            )
            names.append(name)
    experts, potential, regret, quantile, limit = np.array(rows).T
    return {
        "nature": np.array(names),
        "experts": experts,
        "potential": potential,
        "regret": regret,
        "quantile": quantile,
        "alpha_over_limit": limit,
    }


def hedge_bound(seed: int, *, quick: bool) -> Arrays:
    """Attack Hedge, tuned as Section 4.1 derives it, by alternating and breaking away.

    Return regret times sqrt(alpha): reached, claimed in the paper, and true.
    """
    rows = []
    for n in (10, 1000) if quick else (10, 100, 1000):
        hedgers = [Hedge.derived(ALPHA, n), NormalHedge(ALPHA, c=1.0)]
        attack = BreakAway(n, ALPHA)
        trace = play(hedgers, attack, attack.rounds, seed=seed, every=attack.rounds)
        claimed = math.sqrt(math.log(n) / (ALPHA - ALPHA**2 / 2.0))
        rows.append((n, *trace.highest_regret, claimed, hedgers[0].bound(n).regret))
    experts, reached, normal, claimed, true = np.array(rows).T
    scale = math.sqrt(ALPHA)
    return {
        "experts": experts,
        "reached": reached * scale,
        "normal_hedge": normal * scale,
        "claimed": claimed * scale,
        "true": true * scale,
    }


def variance(seed: int, *, quick: bool) -> Arrays:
    """Measure the variance of a discounted sum of fair coins, times alpha, in several batches.

    Return with it the mean potential of such sums at c = 1 and c = 1/2, after 6/alpha rounds.
    """
    batches, size = (5, 2_000) if quick else (20, 20_000)
    found: dict[str, list[float]] = {"variance": [], "potential_1": [], "potential_half": []}
    for child in np.random.SeedSequence(seed).spawn(batches):
        rng = np.random.default_rng(child)
        total = np.zeros(size)
        for block in IndependentCoins(size).gains(round(6 / ALPHA), rng):
            for coins in block:
                total *= 1.0 - ALPHA
                total += coins
        found["variance"].append(float(total.var()) * ALPHA)
        for name, c in (("potential_1", 1.0), ("potential_half", 0.5)):
            found[name].append(NormalPotential(c).average(math.sqrt(ALPHA) * total))
    return {name: np.array(values) for name, values in found.items()}


SWITCH_SETTINGS = tuple((gamma, f) for f in (0.001, 0.01, 0.1, 0.5) for gamma in GAMMAS)
SWITCH_EVERY = 10


def switch(seed: int, *, quick: bool) -> Arrays:
    """Measure how long the weights take to follow a shift of the good set, in units of 1/alpha.

    Return for each setting, each c, each run and each shift the time until the good experts carry
    more than half of the weight; infinity where that did not happen before the next shift.
    """
    runs, shifts = (1, 3) if quick else (3, 9)
    times = np.full((len(SWITCH_SETTINGS), len(PRINTED_C), runs, shifts), math.inf)
    for s, (gamma, f) in enumerate(SWITCH_SETTINGS):
        nature = GoodAndBad(1000, gamma, f, ALPHA)
        seeds = np.random.SeedSequence([seed, s]).spawn(runs)
        for run, child in enumerate(seeds):
            carried = good_weight(nature, (shifts + 1) * nature.shift, np.random.default_rng(child))
            per_shift = carried.reshape(len(PRINTED_C), shifts + 1, -1)[:, 1:]
            ahead = per_shift > 0.5
            first = (ahead.argmax(axis=2) + 1) * SWITCH_EVERY * ALPHA
            times[s, :, run] = np.where(ahead.any(axis=2), first, math.inf)
    return {"times": times}


def good_weight(nature: GoodAndBad, rounds: int, rng: np.random.Generator) -> Floats:
    """Return the weight on the good set every ten rounds, a row for each printed c."""
    hedgers = [NormalHedge(ALPHA, c) for c in PRINTED_C]
    states = [hedger.init(nature.experts) for hedger in hedgers]
    carried = np.empty((len(hedgers), rounds // SWITCH_EVERY))
    start = 0
    for block in nature.gains(rounds, rng):
        # The weights are looked at after rounds 10, 20, ..., wherever the blocks end.
        cuts = range(SWITCH_EVERY - start % SWITCH_EVERY, len(block), SWITCH_EVERY)
        for a, b in pairwise((0, *cuts, len(block))):
            for h, hedger in enumerate(hedgers):
                states[h] = hedger.run(block[a:b], state=states[h]).state
                if (start + b) % SWITCH_EVERY == 0:
                    good = nature.good_set(start + b - 1)
                    carried[h, (start + b) // SWITCH_EVERY - 1] = states[h].weights[good].sum()
        start += len(block)
    return carried


MEASURES: dict[str, Callable[..., Any]] = {
    "theorem-1": theorem_1,
    "hedge-bound": hedge_bound,
    "variance": variance,
    "switch": switch,
}
