"""Hold a group of experts at a fixed share of the weight; then one expert breaks away."""

import math
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge.research.games.attacks._lower_bound import Attack, Goal, carry_out, settings

LONGEST = 40.0
"""The longest time of holding, in units of 1/alpha rounds; breaking away takes a quarter of it."""

PATIENCE = 4.0
"""Holding ends if the potential has not risen for this time, in units of 1/alpha rounds."""


class _Holding(NamedTuple):
    """The parameters of the attack."""

    held: int  # how many experts are held
    share: float  # the share of the weight at which they are held
    climb: float = 0.0  # while one expert breaks away, the others are held until it has this weight


def hold(alpha: float, n_experts: int, c: float, goal: Goal = "potential") -> Attack:
    r"""Return the best attack that holds a group of experts at a share of the weight.

    While the ``held`` experts together have less weight than ``share`` they gain +1 and the others
    -1, else the other way round. With q the share, the increments are 2(1-q) and -2q or their
    opposites. To first order they cancel in the average potential; as ``alpha -> 0`` it changes by

    .. math:: \frac{d\Psi}{\alpha\,dt} = \frac{1}{N} \sum_i
              \left[\tfrac12 \Phi''(x_i) r_i^2 - x_i \Phi'(x_i)\right],

    until the two terms cancel. One half held at 1/2 is alternation: all experts settle at
    ``x^2 = c/(2c-1)``, ``Psi = exp(1/(4c-2))``. For c >= 2 it is better to hold a fifth of the
    experts near 1; for c < 2 and enough experts, to hold a single expert near 1/3. Then the first
    of the held experts breaks away: it gains +1 in every round, while the others are held until it
    has a certain weight, and then gain -1.

    Parameters
    ----------
    alpha, n_experts, c, goal
        As for `attack`; there must be at least two experts.

    Notes
    -----
    A single expert that is held far ahead gains as long as ``2(1-q)^2 > c``, while the others lose.
    So for 1/2 < c < 2 no bound on Psi holds for all N; `growth_exponent` says how it grows. At
    c = 1 some 10^28 experts are needed to beat alternation. docs/many-experts.md has the proof.
    The search plays about 300 games of at most ``50/alpha`` rounds, for any N.
    """
    alpha, n_experts, c = settings(alpha, n_experts, c, goal)

    @cache
    def reached(plan: _Holding) -> float:
        _, log_potential, regret = _play(plan, alpha, n_experts, c)
        return regret if goal == "regret" else log_potential

    parts = (n_experts // part for part in (10, 6, 5, 4, 3, 2))
    counts = sorted({k for k in (1, 2, *parts) if 1 <= k <= n_experts // 2})
    shares = (0.05 * np.arange(1, 20)).round(12)
    refined = []
    for climb in (0.0, 0.1) if goal == "regret" else (0.0,):
        plan = max((_Holding(k, float(q), climb) for k in counts for q in shares), key=reached)
        for finer in (0.02, 0.01, 0.005, 0.002):
            plan = max(_near(plan, finer, n_experts), key=reached)
        refined.append(plan)
    best = max(refined, key=reached)
    table, _, _ = _play(best, alpha, n_experts, c)
    name = f"hold {best.held} of {n_experts} at weight {best.share:g}"
    return carry_out(name, alpha, c, _sizes(best.held, n_experts), table)


def _near(plan: _Holding, step: float, n_experts: int) -> list[_Holding]:
    """Return the plan and its neighbours."""
    change = max(round(step * 5.0 * plan.held), 1)
    counts = {min(max(plan.held + d * change, 1), n_experts - 1) for d in (-1, 0, 1)}
    shares = {round(plan.share + d * step, 12) for d in (-2, -1, 0, 1, 2)}
    climbs = {round(plan.climb * (1.0 + d * 20.0 * step), 6) for d in (-1, 0, 1)}
    around = product(sorted(counts), sorted(shares), sorted(climbs))
    return [plan, *(_Holding(*other) for other in around if 0.0 < other[1] < 1.0)]


def _sizes(held: int, n_experts: int) -> tuple[int, ...]:
    """Return the group sizes: the expert that breaks away, the other held experts, the rest."""
    return (1, held - 1, n_experts - held) if held > 1 else (1, n_experts - 1)


def _play(
    plan: _Holding, alpha: float, n_experts: int, c: float
) -> tuple[np.ndarray, float, float]:
    sizes = np.array(_sizes(plan.held, n_experts), dtype=np.float64)
    longest = math.ceil(LONGEST / alpha)
    table = np.empty((longest + longest // 4, sizes.size), dtype=np.int8)
    patience = math.ceil(PATIENCE / alpha)
    rounds, log_potential, regret = _core.hold_groups(
        sizes, plan.share, plan.climb, alpha, c, patience, longest, table
    )
    return table[:rounds], log_potential, regret
