"""Two groups, one of them held at a fixed share of the weight; then one expert breaks away."""

import math
from itertools import product
from typing import NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge.games.attacks.lower_bound import Attack, Goal, carry_out, settings

LONGEST = 40.0
"""Holding goes on for at most so many times 1/alpha rounds, breaking away for a quarter of it."""

PATIENCE = 4.0
"""Holding ends when the potential has not risen for so many times 1/alpha rounds."""


class _Plan(NamedTuple):
    """How many experts are held at which share of the weight; and until one has which weight."""

    held: int
    share: float
    climb: float = 0.0


def hold(alpha: float, n_experts: int, c: float, goal: Goal = "potential") -> Attack:
    r"""Return the best attack that holds a group of experts at a share of the weight.

    While ``held`` experts together weigh less than ``share`` they gain +1 and the others -1, else
    the other way round. With q the share, the increments are 2(1-q) and -2q or their opposites.
    To first order they cancel in the average potential; what is left for ``alpha -> 0`` is

    .. math:: \frac{d\Psi}{\alpha\,dt} = \frac{1}{N} \sum_i
              \left[\tfrac12 \Phi''(x_i) r_i^2 - x_i \Phi'(x_i)\right],

    and it comes to rest where the two terms cancel. One half held at 1/2 is alternation: all rest
    at ``x^2 = c/(2c-1)``, ``Psi = exp(1/(4c-2))``. For c >= 2 a fifth of the experts held near 1
    reaches more, and for c < 2 and enough experts, one alone held near 1/3. Then the first of the
    held experts breaks away: it gains +1 in every round, while the others are still held until it
    has a certain weight, and then lose.

    Parameters
    ----------
    alpha, c
        The settings of NormalHedge.
    n_experts
        N, at least 2.
    goal
        What to make large.

    Notes
    -----
    One alone, at X far ahead of the others at x, gains as long as ``2(1-q)^2 > c``, and they lose.
    For ``alpha -> 0`` and N so large that both are large, that balances at ``x = kappa X``,

    .. math:: \kappa = \max_q \frac{q\,(2(1-q)^2/c - 1)}{(1-q)(1 - 2q^2/c)},
              \qquad \Psi \sim N^{\kappa^2/(1-\kappa^2)},

    since ``Psi ~ Phi(x)`` and ``N Psi ~ Phi(X)``. So for 1/2 < c < 2 no bound on Psi would hold
    for all N: the exponent is 0.18 at c = 0.6, 0.065 at 0.7 and 0.0069 at 1, where it takes some
    10^28 experts to reach more than by alternation. These are leading terms, not a proof.
    It costs some 300 games of at most ``50/alpha`` rounds, whatever N.
    """
    alpha, n_experts, c = settings(alpha, n_experts, c, goal)
    tried: dict[_Plan, float] = {}

    def reached(plan: _Plan) -> float:
        if plan not in tried:
            _, log_potential, regret = _play(plan, alpha, n_experts, c)
            tried[plan] = regret if goal == "regret" else log_potential
        return tried[plan]

    parts = (n_experts // part for part in (10, 6, 5, 4, 3, 2))
    counts = sorted({k for k in (1, 2, *parts) if 1 <= k <= n_experts // 2})
    shares = (0.05 * np.arange(1, 20)).round(12)
    refined = []
    for climb in (0.0, 0.1) if goal == "regret" else (0.0,):
        plan = max((_Plan(k, float(q), climb) for k in counts for q in shares), key=reached)
        for finer in (0.02, 0.01, 0.005, 0.002):
            plan = max(_near(plan, finer, n_experts), key=reached)
        refined.append(plan)
    best = max(refined, key=reached)
    table, _, _ = _play(best, alpha, n_experts, c)
    name = f"hold {best.held} of {n_experts} at weight {best.share:g}"
    return carry_out(name, alpha, c, _sizes(best.held, n_experts), table)


def _near(plan: _Plan, step: float, n_experts: int) -> list[_Plan]:
    """Return the plan and those around it."""
    change = max(round(step * 5.0 * plan.held), 1)
    counts = {min(max(plan.held + d * change, 1), n_experts - 1) for d in (-1, 0, 1)}
    shares = {round(plan.share + d * step, 12) for d in (-2, -1, 0, 1, 2)}
    climbs = {round(plan.climb * (1.0 + d * 20.0 * step), 6) for d in (-1, 0, 1)}
    around = product(sorted(counts), sorted(shares), sorted(climbs))
    return [plan, *(_Plan(*other) for other in around if 0.0 < other[1] < 1.0)]


def _sizes(held: int, n_experts: int) -> tuple[int, ...]:
    """Return the groups: who breaks away, the others that are held, the rest."""
    return (1, held - 1, n_experts - held) if held > 1 else (1, n_experts - 1)


def _play(plan: _Plan, alpha: float, n_experts: int, c: float) -> tuple[np.ndarray, float, float]:
    sizes = np.array(_sizes(plan.held, n_experts), dtype=np.float64)
    longest = math.ceil(LONGEST / alpha)
    table = np.empty((longest + longest // 4, sizes.size), dtype=np.int8)
    patience = math.ceil(PATIENCE / alpha)
    rounds, log_potential, regret = _core.hold_groups(
        sizes, plan.share, plan.climb, alpha, c, patience, longest, table
    )
    return table[:rounds], log_potential, regret
