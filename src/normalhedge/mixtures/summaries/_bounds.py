"""The regret bound of a mixture, in units of its loss.

A hedger bounds its regrets R in gains. A mixture keeps the regrets D in units of the loss beside
them, discounted in the same way (``src/core/gains.hpp``). With a range s of the losses,

    D_i <= (s/2) R_i + gap,    gap = max_i [D_i - (s/2) R_i]+

so the bound on R, times s/2, plus the gap bounds the regret that the user computes. The gap is zero
for a convex loss of known range, combined by the mean, with outcomes known at once. Otherwise it
measures the cost of clipped losses, of changes of the range, of the median or the vote, of even
weights and of late outcomes: see docs/theory/losses.md.
"""

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from normalhedge._core import Live
from normalhedge.guarantees import Bound, at_most, best_known, scaled_limit
from normalhedge.hedgers import CompiledHedger, NormalHedge
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.state import STEPS, MixtureSettings, MixtureState

NEGLIGIBLE = 1e-9
"""A gap below this share of the bound is rounding, and needs no words."""


def regret_bound(state: MixtureState) -> Bound:
    """Return the bound on the regret of a mixture: see `Mixture.bound`."""
    recipe, live = state.settings, state.live
    hedger, loss = recipe.hedger, recipe.loss
    if isinstance(hedger, Automatic):
        return hedger.bound(loss, live)
    if not isinstance(hedger, CompiledHedger):
        return Bound(inf, f"nothing is known of {type(hedger).__name__}")
    several = recipe.shared and len(state.items) > 1
    if several and not loss.width:
        return Bound(
            inf,
            "no theorem covers items that share their weights: the losses of each are measured in "
            "a range of its own",
        )
    in_gains = _bound_in_gains(state)
    if not in_gains:
        return in_gains
    reason = _uncovered(state)
    if reason:
        return Bound(inf, f"no theorem covers {type(hedger).__name__} where {reason}")
    units = 0.5 * live.ranges[:, 0][: len(live.weights)]
    if several:
        units = 0.5 * units * live.pool_ranges[:, 0]
    gaps = (live.loss_regrets - units[:, np.newaxis] * state.regrets).max(axis=1, initial=0.0)
    regrets = units * in_gains.regret + gaps
    worst = int(np.argmax(regrets)) if len(regrets) else 0
    regret, gap = (float(a[worst]) if len(a) else 0.0 for a in (regrets, gaps))
    source = in_gains.source
    if gap > NEGLIGIBLE * regret:
        source += (
            f"; {at_most(gap, 4)} of it is the measured cost of {_causes(recipe, _delays(live))}"
        )
    return replace(in_gains, regret=regret, source=source, unit=_unit(recipe, state), measured=gap)


def _uncovered(state: MixtureState) -> str:
    """Return why the theorem of the hedger does not apply; empty if it does."""
    hedger: Any = state.settings.hedger
    if state.live.seeded:
        return "an expert or an item started from the record of another"
    if not state.settings.loss.width and not hedger.free_of_scale:
        return "the range of losses is learned"
    if "a_sleeper_changes_nothing" in hedger.breaks:
        if state.live.joined_late:
            return "experts join later"
        if state.live.left:
            return "experts leave"
    return ""


def _bound_in_gains(state: MixtureState) -> Bound:
    """Return the bound of the hedger, for all experts that ever joined and the largest delay."""
    recipe, live, hedger = state.settings, state.live, state.settings.hedger
    assert isinstance(hedger, CompiledHedger)
    experts = max(len(state.names) + state.live.left, 1)
    rounds = int(live.total_sums[STEPS]) if recipe.shared else state.rounds
    delay = _delays(live)
    if not isinstance(hedger, NormalHedge) or not delay:
        return hedger.bound(experts, max(rounds, 1))
    what = _not_a_mean(recipe)
    if what:
        return Bound(inf, f"no theorem covers {what} where outcomes are late")
    alpha, c = hedger.alpha, recipe.c_for(delay)
    bound = best_known(alpha, experts, c, delay=delay)
    if not bound:
        return bound
    # Theorem E does not cover rounds that were predicted before the delay was known, with another
    # c. Nor does it where the blend lost more than the weights that were played: its loss is not
    # convex, or clipping hid their losses.
    potentials = np.exp(alpha * np.maximum(state.regrets, 0.0) ** 2 / (2.0 * c))
    highest = float(potentials.sum(axis=1).max() + state.live.left) / experts
    if highest <= bound.potential:
        return bound
    limit = scaled_limit(highest, 1.0 / experts, c) / alpha**0.5
    source = (
        f"no theorem covers rounds in which the delay grew, to {delay}, or in which a loss was "
        f"clipped or not convex: average potential now {at_most(highest, 4)}"
    )
    return Bound(limit, source, highest)


def _not_a_mean(recipe: MixtureSettings) -> str:
    """Return why the blend is not the mean by the weights that were played; empty if it is."""
    if recipe.combine != "mean":
        return f"the {recipe.combine}"
    if not recipe.loss.continuous:
        return f"the {recipe.loss.kind} loss"
    return "even weights" if recipe.even else ""


def _delays(live: Live) -> int:
    """Return the largest number of outcomes learned between a prediction and its own outcome."""
    return int((live.delays[:, 0] * (1.0 + live.delays[:, 2])).max(initial=0.0))


def _causes(recipe: MixtureSettings, delay: int) -> str:
    """Return the possible causes of a gap, in words."""
    causes = []
    if recipe.combine != "mean":
        causes.append(f"combining by the {recipe.combine}")
    if not recipe.loss.convex:
        causes.append("a loss that is not convex")
    if recipe.even:
        causes.append("even weights")
    if delay and not isinstance(recipe.hedger, NormalHedge):
        causes.append(f"outcomes up to {delay} rounds late")
    if not recipe.loss.width:
        causes.append("clipped losses and changes of their range")
    return ", ".join(causes) or "rounding"


def _unit(recipe: MixtureSettings, state: MixtureState) -> str:
    """Return the unit of the regret and the rounds that it counts, in words."""
    alpha: float = getattr(recipe.hedger, "alpha", 0.0)
    counted = f"discounted at {alpha:g} a round" if alpha else "over all settled rounds"
    several = "mean over the items, " if recipe.shared and len(state.items) > 1 else ""
    return f"in {recipe.loss.name} loss, {several}{counted}"
