"""Section 3.2: the time that the weights take to follow a shift of the good experts."""

import math
from itertools import pairwise

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import NormalHedge
from normalhedge.research._cells import Arrays
from normalhedge.research.games import GoodAndBad
from normalhedge.research.paper._claim import FAILS, HOLDS, PaperClaim, holds_only
from normalhedge.research.paper._part import ALPHA, GAMMAS, PRINTED_C, PaperSettings, part_of_one

SWITCH_SETTINGS = tuple((gamma, f) for f in (0.001, 0.01, 0.1, 0.5) for gamma in GAMMAS)
"""The gamma and f of all panels of Figures 1 and 2."""

SWITCH_EVERY = 10
"""The weights are looked at in every tenth round."""


def measure(settings: PaperSettings) -> Arrays:
    """Measure how long the weights take to follow a shift of the good set, in units of 1/alpha.

    Return for each setting, each c, each run and each shift the time until the good experts carry
    more than half of the weight; infinity if that did not happen before the next shift.
    """
    runs, shifts = (1, 3) if settings.quick else (3, 9)
    times = np.full((len(SWITCH_SETTINGS), len(PRINTED_C), runs, shifts), math.inf)
    for s, (gamma, f) in enumerate(SWITCH_SETTINGS):
        nature = GoodAndBad(1000, gamma, f, ALPHA)
        seeds = np.random.SeedSequence([settings.seed, s]).spawn(runs)
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


def switching_claim(arrays: Arrays) -> PaperClaim:
    """Judge how fast the weights follow."""
    times = arrays["times"]
    settings, cs, runs, shifts = times.shape
    medians = np.median(times.reshape(settings, cs, -1), axis=2)
    slow = {
        f"γ = {gamma:g}, f = {f:g}": row
        for (gamma, f), row in zip(SWITCH_SETTINGS, medians, strict=True)
        if row.max() > 1.0
    }
    fast = medians[medians.max(axis=1) <= 1.0]
    numbers = "nowhere within 1/α"
    if len(fast):
        numbers = f"{fast.min():.2f} to {fast.max():.2f} in {len(fast)} of {settings} settings"
    verdict = HOLDS
    if slow:
        places = (f"{place} ({', '.join(map(_time, row))})" for place, row in slow.items())
        numbers += f"; not at {'; '.join(places)}"
        verdict = holds_only(f"if not {' or '.join(slow)}") if len(fast) else FAILS
    return PaperClaim(
        "If the best expert changes, NormalHedge switches to the new one within about 1/α rounds.",
        "Section 3.2",
        "median time until half of the weight has followed, in units of 1/α, for c = 1, 2, 4: "
        f"{numbers}. Two experts that swap their gains are level again after ln(2 − 1/e) = 0.49, "
        "whatever the weights: discounting alone",
        f"{runs} runs of {shifts} shifts each in every setting of Figures 1 and 2; over all, from "
        f"{_time(times.min())} to {_time(times.max())}",
        "holds if the median is at most 1 in every setting for every c",
        verdict,
    )


def _time(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "never"


PART = part_of_one("switch", __name__, measure, claims=[switching_claim])
