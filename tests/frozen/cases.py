"""All that is frozen: a description of each case, and a function that computes it again.

A case goes through what users of the package call, and nothing else; all draws come from seeds.
"""

from dataclasses import replace

from tests.frozen import game_cases, latent_cases, later_cases, mixture_cases
from tests.frozen.case import LOOSE, Case

AMPLIFIED = {
    "long/coin-betting/alpha 0": (
        "1000 rounds without forgetting: bets go with the exponential of sums that only grow, and "
        "a coin that was near zero makes an error in the input a thousand times as large"
    ),
    **dict.fromkeys(
        ("game/flip-flop/alpha 0.02/2 experts", "game/flip-flop/alpha 0/2 experts"),
        "the gap that is added up is a small difference of numbers that are almost equal",
    ),
    **dict.fromkeys(
        ("very many/normal-hedge", "very many/hedge"),
        "sums of two million numbers depend on the order in which they are added",
    ),
}
"""The cases in which rounding grows, each with the reason."""


def _all() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for module in (game_cases, mixture_cases, latent_cases, later_cases):
        for case in module.cases():
            assert case.name not in found, f"{case.name} is there twice"
            found[case.name] = case
    for name, reason in AMPLIFIED.items():
        found[name] = replace(found[name], tolerance=LOOSE, reason=reason)
    return found


CASES = _all()
"""Every case by its name."""

CHANGED = {
    "blend/cutoff, pooled": (
        "steps that share weights were learned when the outcome of the last one was known, and are "
        "learned one by one now"
    )
}
"""Cases of the file that are not what they were, on purpose, and why."""

AGAIN = {
    ("mixture/", "blend/", "continued/", "saved/"): (
        "0.3.0: single rules learn from the loss. Gains are linear in the forecasts, ranges cover "
        "whoever could gain, NormalHedge allows for late outcomes, and regrets and bounds are in "
        "units of the loss"
    ),
    ("later/",): (
        "0.3.0: cases that were added. They came out the same, to the bit, before and after the "
        "mixture became one object of the core; the new losses were frozen after it. The default "
        "was frozen once more where outcomes are late, which count for more, or rounds have "
        "several items, of which small ones count less; and where an expert retired, which has no "
        "weight"
    ),
    ("later/corrected/",): "0.3.0: the default corrects its blend; new cases",
}
"""Cases that were frozen again by a later version, by the beginnings of their names, and why."""
