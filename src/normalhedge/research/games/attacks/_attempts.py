"""Try all attacks, and choose the best."""

import math

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.hedgers import NormalHedge
from normalhedge.research.games.attacks._explore import explore
from normalhedge.research.games.attacks._hold import hold
from normalhedge.research.games.attacks._lower_bound import Attack, Goal, carry_out, settings
from normalhedge.research.games.natures import Greedy

GREEDY_EXPERTS = 16
GREEDY_ROUNDS = 4000
"""`Greedy` tries many moves in every round; larger or longer games would take too long."""


def attack(alpha: float, n_experts: int, c: float = 4.0, *, goal: Goal = "potential") -> Attack:
    """Return the best known attack on NormalHedge with these settings.

    The attack really reaches its potential and regret, so no valid bound can be smaller. A better
    attack may exist.

    Parameters
    ----------
    alpha, c
        The settings of NormalHedge.
    n_experts
        The number of experts N.
    goal
        The quantity to maximise: the average potential, or the regret to the best expert.

    Examples
    --------
    >>> found = attack(0.01, 1000, c=1.0)
    >>> found.name, round(found.potential, 4), round(found.regret, 2)
    ('hold 500 of 1000 at weight 0.45', 1.6563, 3.45)
    >>> abs(found.replay().log_potential - found.log_potential) < 1e-9
    True
    """
    candidates = attempts(alpha, n_experts, c, goal=goal)
    return max(candidates.values(), key=lambda attack: attack.reached(goal))


def attempts(
    alpha: float, n_experts: int, c: float = 4.0, *, goal: Goal = "potential"
) -> dict[str, Attack]:
    """Return the best attack of each kind, by the name of the kind.

    ``"hold"`` and ``"break-away"`` work for any number of experts. ``"search"`` improves on
    ``"hold"``: it searches the states of single experts if there are two or three, else the
    states of the groups that ``"hold"`` chose. ``"greedy"`` is tried if there are few experts.

    Parameters
    ----------
    alpha, n_experts, c, goal
        As for `attack`.
    """
    alpha, n_experts, c = settings(alpha, n_experts, c, goal, least=1)
    if n_experts == 1:
        alone = np.ones((1, 1), dtype=np.int8)
        return {"alone": carry_out("one expert has no regret", alpha, c, (1,), alone)}
    held = hold(alpha, n_experts, c, goal)
    tried = {
        "hold": held,
        "break-away": _best_break_away(alpha, n_experts, c, goal),
        "search": _search_on(held, goal),
    }
    if n_experts <= GREEDY_EXPERTS:
        rounds = min(math.ceil(8.0 / alpha), GREEDY_ROUNDS)
        nature = Greedy(n_experts, NormalHedge(alpha, c))
        gains = np.concatenate(list(nature.gains(rounds, np.random.default_rng(0))))
        tried["greedy"] = carry_out("greedy", alpha, c, (1,) * n_experts, gains)
    return tried


def _search_on(held: Attack, goal: Goal) -> Attack:
    """Improve an attack of `hold` by a search that starts from it."""
    sizes, start = held.sizes, held.gains
    if held.n_experts <= 3:
        sizes, start = (1,) * held.n_experts, np.repeat(held.gains, held.sizes, axis=1)
    elif goal == "potential" and len(sizes) == 3:
        # No expert has to break away: two groups are enough, and allow a finer grid.
        sizes = (sizes[0] + sizes[1], sizes[2])
        apart = np.append(np.flatnonzero(start[:, 0] != start[:, 1]), len(start))
        start = start[: apart[0], 1:]
    return explore(held.alpha, sizes, held.c, goal, start=start)


def break_away(
    alpha: float,
    n_experts: int,
    c: float,
    *,
    half: int | None = None,
    leaders: int = 1,
    alternate: float = 8.0,
) -> Attack:
    """Return the attack in which two groups alternate and then some experts break away.

    For ``alternate/alpha`` rounds the first ``half`` experts gain +1 and the others -1 in one
    round, and the other way round in the next. Then, for ``8/alpha`` rounds, the first ``leaders``
    experts gain +1 and all others -1.

    Parameters
    ----------
    alpha, n_experts, c
        As for `hold`.
    half
        The size of the first group. None: ``N // 2``.
    leaders
        How many experts of the first group break away.
    alternate
        How long the groups alternate, in units of 1/alpha rounds.

    Examples
    --------
    >>> known = break_away(0.001, 1000, c=1.0)
    >>> round(known.potential, 4), round(known.regret, 2)
    (1.6492, 3.55)
    """
    alpha, n_experts, c = settings(alpha, n_experts, c)
    alternate = inputs.number("alternate", alternate, 0.0)
    half = n_experts // 2 if half is None else inputs.count("half", half)
    leaders = inputs.count("leaders", leaders)
    if not leaders <= half < n_experts:
        raise ValueError(
            f"leaders must be at most half, and half less than n_experts, got {leaders}, {half} "
            f"and {n_experts}"
        )
    all_sizes = (leaders, half - leaders, n_experts - half)
    nonempty = [k for k in range(3) if all_sizes[k]]
    first, then = round(alternate / alpha), round(8.0 / alpha)
    gains = np.tile(np.array([1, -1, -1], dtype=np.int8), (first + then, 1))
    gains[:first] = np.where(np.arange(first)[:, None] % 2 == 0, 1, -1) * np.array([1, 1, -1])
    name = f"alternate {half} of {n_experts}, break away {leaders}"
    return carry_out(name, alpha, c, tuple(all_sizes[k] for k in nonempty), gains[:, nonempty])


def _best_break_away(alpha: float, n_experts: int, c: float, goal: Goal) -> Attack:
    """Try a few values of ``half``, ``leaders`` and ``alternate``."""
    halves = sorted({max(n_experts // part, 1) for part in (2, 3, 5)})
    tried = (
        break_away(alpha, n_experts, c, half=half, leaders=leaders, alternate=alternate)
        for half in halves
        for leaders in sorted({1, max(half // 10, 1), half})
        for alternate in (4.0, 8.0, 32.0)
    )
    return max(tried, key=lambda attack: attack.reached(goal))
