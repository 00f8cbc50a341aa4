r"""The game in continuous time, as the discount rate goes to zero.

With time ``s = alpha t`` and scaled regrets ``x = sqrt(alpha) R`` a round becomes

.. math:: dx_i = -x_i\, ds + \Big(z_i - \sum_j p_j z_j\Big)\, dB, \qquad p_i \propto \Phi'(x_i),

where Nature chooses the gains z in [-1, 1], and the signs of the rounds add up to B: a Wiener
process if they are coins, or a path that Nature chooses. (With gains of independent coins each
expert has a Wiener process of its own.) Because
``sum_i Phi'(x_i) (z_i - p z) = 0`` the noise cancels in the average potential Psi, which has a
drift only:

.. math:: \frac{d\Psi}{ds} = \frac1N \sum_i \left[\tfrac12 \Phi''(x_i)\, r_i^2
          - x_i \Phi'(x_i)\right], \qquad r_i = z_i - \sum_j p_j z_j .
"""

import math
from typing import Literal, NamedTuple, get_args

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats

Drive = Literal["coins", "shared", "turns"]
"""What moves the regrets: a coin of each expert, one for two halves, or the halves in turns."""

LARGEST_STEP = 0.1
"""The longest step of `simulate`, in units of 1/alpha rounds."""

POINTS = 501
"""The points of the first grid on a level of the potential."""


class RegretPaths(NamedTuple):
    """Simulated paths.

    Attributes
    ----------
    times
        The time after each step, in units of 1/alpha rounds.
    potential, leader
        The average potential, and the largest scaled regret, paths x steps.
    regrets
        The scaled regrets at the end, paths x experts.
    """

    times: Floats
    potential: Floats
    leader: Floats
    regrets: Floats


def simulate(
    n_experts: int,
    c: float,
    drive: Drive = "coins",
    *,
    time: float = 10.0,
    step: float = 1e-3,
    paths: int = 1,
    seed: int = 0,
) -> RegretPaths:
    """Simulate the scaled regrets to NormalHedge, driven by Wiener processes.

    A step decays by ``exp(-step)`` and has the exact variance of the decaying process, with the
    weights of its beginning (Euler in the weights only).

    Parameters
    ----------
    n_experts, c
        N, at least 2, and the c of NormalHedge, above 1/2.
    drive
        ``"coins"``: each expert has a Wiener process of its own. ``"shared"``: one half of the
        experts gains what the other loses, by one Wiener process. ``"turns"``: Nature chooses the
        sign, so that the half that is behind gains. That is the worst drift for small c, see
        `two_experts`.
    time, step
        The length of a path and of a step, at least 1e-6, in units of 1/alpha rounds. A step of
        ``1e-3`` is a round at alpha = .001.
    paths, seed
        How many paths, and the seed of their noise.

    Examples
    --------
    >>> paths = simulate(100, c=1.0, drive="turns", time=5.0)
    >>> bool(abs(paths.potential[0, -1] - math.exp(1 / 2)) < 0.01)    # exp(1/(4c - 2))
    True
    """
    n, paths = inputs.count("n_experts", n_experts, 2), inputs.count("paths", paths)
    c = inputs.number("c", c, 0.5, 1e3)
    step = inputs.number("step", step, 1e-6, LARGEST_STEP, closed=True)
    steps = math.ceil(inputs.number("time", time, step, 1e6, closed=True) / step)
    if drive not in get_args(Drive):
        raise ValueError(f"drive must be one of {', '.join(get_args(Drive))}, got {drive!r}")
    rng, x = np.random.default_rng(seed), np.zeros((paths, n))
    kept, noise = math.exp(-step), math.sqrt(-0.5 * math.expm1(-2.0 * step))
    potential, leader = np.empty((2, paths, steps))
    halves = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    for k in range(steps):
        p = weights(x, c)
        if drive == "coins":
            move = rng.standard_normal((paths, n))
        elif drive == "shared":
            move = halves * rng.standard_normal((paths, 1))
        else:
            move = halves * np.where((x * halves).sum(axis=1, keepdims=True) <= 0.0, 1.0, -1.0)
        x = kept * x + noise * (move - (p * move).sum(axis=1, keepdims=True))
        potential[:, k] = np.exp(np.maximum(x, 0.0) ** 2 / (2.0 * c)).mean(axis=1)
        leader[:, k] = x.max(axis=1)
    times: Floats = np.asarray(step * np.arange(1.0, steps + 1.0), dtype=np.float64)
    return RegretPaths(times, potential, leader, x)


def weights(x: Floats, c: float) -> Floats:
    """Return the weights of NormalHedge, one distribution in each row."""
    ahead = np.maximum(x, 0.0)
    top = ahead.max(axis=1, keepdims=True)
    raw = ahead * np.exp((ahead**2 - top**2) / (2.0 * c))
    raw[top[:, 0] == 0.0] = 1.0
    return np.asarray(raw / raw.sum(axis=1, keepdims=True))


class GameValue(NamedTuple):
    """The value of the game of two experts in continuous time.

    Attributes
    ----------
    potential
        The supremum of the average potential.
    error
        How far it may be off: the change when the grid was last doubled, and the tolerance.
    regrets
        The two scaled regrets at which Nature holds the potential there.
    """

    potential: float
    error: float
    regrets: tuple[float, float]


def two_experts(c: float) -> GameValue:
    r"""Return the supremum of the average potential of two experts as alpha -> 0.

    The noise moves the regrets along a level of the potential at a speed of order
    :math:`\alpha^{-1/2}`, so Nature chooses where on the level the two regrets are. The potential
    rises while its drift is positive somewhere on the level, and its supremum is the first level on
    which the drift is nowhere positive:

    .. math:: \Psi^* = \min\Big\{B > 1 : \max_{\Phi(x) + \Phi(y) = 2B}
              \big[2 \Phi''(x) p_y^2 + 2 \Phi''(y) p_x^2 - x \Phi'(x) - y \Phi'(y)\big]
              \le 0\Big\}.

    Parameters
    ----------
    c
        The c of NormalHedge, above 1/2.

    Notes
    -----
    If it is attained at x = y, it is ``exp(1/(4c-2))``, by two experts that win in turns.

    Examples
    --------
    >>> two_experts(1.0).potential.__round__(4), round(math.exp(1 / 2), 4)
    (1.6487, 1.6487)
    """
    c = inputs.number("c", c, 0.5, 1e3)
    coarse, fine = (_first_level(c, points)[0] for points in (POINTS, 2 * POINTS))
    level, share = _first_level(c, 4 * POINTS)
    x, y = (math.sqrt(2.0 * c * math.log1p(2.0 * (level - 1.0) * u)) for u in (share, 1.0 - share))
    return GameValue(level, max(abs(level - fine), abs(fine - coarse)) + 1e-9 * level, (x, y))


def drift(level: float | Floats, share: Floats, c: float) -> Floats:
    """Return the drift of the potential of two experts, the first with a share of the excess."""
    excess = 2.0 * (np.asarray(level) - 1.0) * np.stack([share, 1.0 - share])
    squares = 2.0 * c * np.log1p(excess)
    potentials, x = 1.0 + excess, np.sqrt(squares)
    slopes = x / c * potentials
    p = slopes / slopes.sum(axis=0)
    second = (1.0 / c + squares / c**2) * potentials
    return np.asarray((second * p[::-1] ** 2).sum(axis=0) - 0.5 * (x * slopes).sum(axis=0))


def _first_level(c: float, points: int) -> tuple[float, float]:
    """Return the first level without a positive drift on a grid, and the share of its maximum."""
    # Close to the end of the grid the other regret is close to zero.
    shares = 0.5 + 0.5 * (1.0 - np.linspace(1.0, 1e-6, points) ** 2)
    low, high = math.log(1e-6), math.log(1e-6)
    while drift(1.0 + math.exp(high), shares, c).max() > 0.0:
        low, high = high, high + 0.05
        if high > 690.0:
            raise ValueError(f"c must be above 1/2 by more: the potential overflows at c = {c!r}")
    for _ in range(40):
        middle = 0.5 * (low + high)
        rises = drift(1.0 + math.exp(middle), shares, c).max() > 0.0
        low, high = (middle, high) if rises else (low, middle)
    level = 1.0 + math.exp(high)
    return level, float(shares[drift(level, shares, c).argmax()])
