"""The best move of Nature against NormalHedge in one round, by linear programming."""

from typing import NamedTuple

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees._program import Program, growth


class Mass(NamedTuple):
    """A share of the experts that all have the scaled regret x and get the same gain, +1 or -1."""

    x: float
    gain: int
    share: float


def worst_measure(program: Program, m: float, potential: float) -> tuple[Mass, ...]:
    """Return the distribution of experts and gains with which Nature raises the potential most.

    The unknowns are shares times Phi(x), so that they are of similar size.
    """
    optimize = extras.require("scipy.optimize")
    x, h = np.append(program.x, 0.0), np.append(program.h, program.h.max())
    rows, values = [], []
    for r in (1.0 - m, -1.0 - m):
        rows.append(np.stack([np.exp(-x * x / (2.0 * program.c)), np.ones_like(x), x * r]))
        values.append(growth(x, h, r, program.c))
    solution = optimize.linprog(
        -np.concatenate(values), A_eq=np.concatenate(rows, axis=1), b_eq=[1.0, potential, 0.0]
    )
    if solution.x is None:
        return ()
    shares = solution.x * np.tile(rows[0][0], 2)
    return _merged(np.tile(x, 2), np.repeat([1, -1], len(x)), shares, float(x.max()) / 100.0)


def _merged(x: Floats, gains: np.ndarray, shares: Floats, distance: float) -> tuple[Mass, ...]:
    """Return the masses, with masses on neighbouring grid points merged into one."""
    masses: list[Mass] = []
    order = np.lexsort((x, -gains))
    for i in order[shares[order] > 1e-9]:
        mass = Mass(float(x[i]), int(gains[i]), float(shares[i]))
        if masses and masses[-1].gain == mass.gain and mass.x - masses[-1].x < distance:
            last = masses.pop()
            share = last.share + mass.share
            middle = (last.x * last.share + mass.x * mass.share) / share
            mass = Mass(middle, mass.gain, share)
        masses.append(mass)
    return tuple(masses)
