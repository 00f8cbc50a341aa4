"""The insurance of the default: its memory on the meta level, and the bounds that it keeps.

``shares`` are the prior of the insurance: of the levels together, and of each way. The theorems
stand in ``docs/two-levels.md``.
"""

from math import inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from normalhedge._core import MOST_STACKED, STEADY_EQUATIONS, STEADY_RIDGE, Live
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import Bound, LinearBound
from normalhedge.guarantees.potentials import exp_or_inf
from normalhedge.mixtures.losses import Loss


class Levels(NamedTuple):
    """The memory of the meta level in each game: see ``src/core/automatic.hpp``."""

    # weights of the plain components, of the components that all items share, and of the components
    # of an item alone
    ways: Floats
    choice: Floats  # weights of the level that all items share, and of the level of an item alone
    # insurance, regrets, clocks, losses: weights, regrets and clocks of the insurance, and its
    # regrets in units of the loss: of the levels together, then of the ways
    insurance: Floats
    regrets: Floats
    clocks: Floats
    losses: Floats
    excess: Floats  # how much the bound on its potential has grown


def part_of(live: Live, name: str) -> Floats:
    """Return a part of the memory of an automatic mixture; `Live.parts` has their places."""
    field, first, end = live.parts[name]
    return np.asarray(getattr(live, field)[:, first:end])


def levels_of(live: Live) -> Levels:
    """Return the memory of the meta level in each game."""
    return Levels(
        *(part_of(live, name) for name in ("ways", "choice", "insurance")),
        *(part_of(live, f"insured_{name}") for name in ("regrets", "clocks", "losses", "excess")),
    )


def present_bound(shares: Floats, loss: Loss, games: Live, place: int | None) -> Bound:
    """Return the bound up to now, for `Automatic.bound`.

    ``place`` is the place of the steady correction among the bounds; None if it has no theorem.
    """
    if not len(games.totals):
        return Bound(0.0, "nothing was predicted yet")
    regrets = bounds(shares, loss, games)
    if not np.isfinite(regrets).all():
        return Bound(inf, "no theorem covers this delay: Theorem F was violated by far")
    unit, linear = f"in {loss.name} loss over all settled rounds", None
    if _share_weights(games):
        unit = f"in units of {_unit(loss)}, mean over the items"
    elif place is not None:
        linear = _linear_bound(games, regrets, place)
    highest = _potential(shares, games).max() / shares.sum()
    source = "Theorem F, to each component"
    return Bound(float(regrets.max(initial=0.0)), source, float(highest), unit=unit, linear=linear)


def bounds(shares: Floats, loss: Loss, games: Live) -> Floats:
    """Return the bound on the regret to the levels together, and to each way; for each game."""
    clocks = levels_of(games).clocks
    with np.errstate(invalid="ignore"):  # a clock at zero, where the excess is not finite
        logs = np.log(_potential(shares, games) / shares)
        regrets = np.sqrt(3.0 * clocks * logs)
    if _share_weights(games):
        return np.asarray(regrets)
    units = part_of(games, "largest_difference")[: len(clocks)]
    return np.asarray(units * (regrets + (0.0 if loss.width else 1.0)))


def regrets(games: Live) -> Floats:
    """Return the regrets that `bounds` bounds."""
    levels = levels_of(games)
    return levels.regrets if _share_weights(games) else levels.losses


def with_losses(shares: Floats, games: Live, totals: Floats) -> Floats:
    """Return the totals of a file before version 4 as they are kept now."""
    count = part_of(games, "insurance").shape[1]
    before, last = totals[:, :-2], totals[:, -2:].copy()
    regrets, clocks = before[:, -2 * count : -count], before[:, -count:]
    last[:, 0] += 0.5 * (shares * (1.0 + np.log1p(clocks))).sum(axis=1)
    units = part_of(games, "largest_difference")[: len(totals)]
    losses = regrets if len(units) < len(totals) else units * regrets
    return np.concatenate([before, losses, last], axis=1)


def bound_ahead(shares: Floats, loss: Loss, rounds: int, delay: int, wide: int) -> Bound:
    """Return the bound before the game, for `Automatic.bound_ahead`."""
    rounds = inputs.count("rounds", rounds)
    delay, wide = inputs.count("delay", delay, 0), inputs.count("wide", wide, 0)
    if not loss.convex:
        return Bound(inf, f"no theorem covers the loss {loss.name}, not known to be convex")
    size = 1 + delay
    clock = min(rounds, (rounds + size) / 4.0 + wide) if delay else float(rounds)
    grown = 0.5 * size + 2.0 * log1p(clock) if delay else 0.5 * (1.0 + log1p(clock))
    violated = wide / (3.0 * size) if delay else 0.0
    logarithm = log((1.0 + grown) * shares.sum() / shares.min()) + violated
    regret = delay + sqrt(3.0 * size * clock * logarithm)
    source = f"in units of {_unit(loss)}; Theorem {'G' if delay else 'F'}"
    return Bound(min(regret, float(rounds)), source, (1.0 + grown) * exp_or_inf(violated))


def _linear_bound(games: Live, regrets: Floats, place: int) -> LinearBound | None:
    """Return the bound on the regret to linear combinations, the largest over the games."""
    experts = len(games.names) + games.left
    if games.seeded or not 0 < experts <= MOST_STACKED:  # equations are inherited, or forgotten
        return None
    units = part_of(games, "largest_error")[: len(regrets), 0]
    totals = regrets[:, place] + units * [_excess(games, g) for g in range(len(regrets))]
    return LinearBound(float(totals.max()), STEADY_RIDGE * float(units.max()))


def _potential(shares: Floats, games: Live) -> Floats:
    """Return the bound on the potential of the insurance, in each game."""
    return np.asarray(shares.sum() + levels_of(games).excess)


def _excess(games: Live, game: int) -> float:
    """Return the excess of the steady correction in a game, in units of its largest error.

    Its squared errors, less the least penalised sum of squares of a linear combination, and the
    largest cost of the errors that were clipped: Theorem L.
    """
    losses, squares, clipped = part_of(games, "steady")[game]
    right = games.equation_rows[game, 3 * STEADY_EQUATIONS + 1]
    lower = np.tril(games.equation_squares[game, STEADY_EQUATIONS])
    matrix = lower + np.tril(lower, -1).T + STEADY_RIDGE * np.eye(len(right))
    return float(losses - squares + right @ np.linalg.solve(matrix, right) + clipped)


def _share_weights(games: Live) -> bool:
    """Tell whether several items share their weights: then there is a game more than items."""
    return len(games.weights) > max(len(games.ranges), 1)


def _unit(loss: Loss) -> str:
    """Return the unit of regrets, in words."""
    return "the range of the loss" if loss.width else "the largest difference between losses so far"
