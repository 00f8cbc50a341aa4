"""Parameters of hidden Markov models: checked, drawn at random, or on a grid.

Here the candidates are the first axis, as users write them: initial N x k, transition N x k x k,
emission N x k x m, means and deviations N x k.
"""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats

ROUNDING = 2.0**-52
"""The error of rounding, for each number of a sum of probabilities."""

SUM_TOLERANCE = 1e-6
"""How far a sum of probabilities may be from one; they are then normalised."""

LARGEST_BANK = 10**7
"""The largest number of candidates on a grid."""


class Dynamics(NamedTuple):
    """Initial and transition probabilities of each candidate."""

    initial: Floats
    transition: Floats


def dynamics(initial: npt.ArrayLike, transition: npt.ArrayLike) -> Dynamics:
    """Return initial and transition probabilities, checked."""
    first = rows("initial", initial, (None, None))
    n, k = first.shape
    return Dynamics(first, rows("transition", transition, (n, k, k)))


def rows(name: str, values: npt.ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Return probabilities whose last axis sums to one, up to rounding.

    Rows that sum to one up to rounding stay as they are, to the bit: what was read once and written
    is the same when it is read again.
    """
    array = inputs.numbers_array(name, values).astype(np.float64)
    if array.ndim != len(shape) or any(
        want is not None and want != got for want, got in zip(shape, array.shape, strict=True)
    ):
        wanted = " x ".join("any" if want is None else str(want) for want in shape)
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}")
    if 0 in array.shape:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    sums = array.sum(axis=-1, keepdims=True)
    if not (array >= 0.0).all() or not (np.abs(sums - 1.0) <= SUM_TOLERANCE).all():
        raise ValueError(f"{name} must be probabilities: not negative, each row summing to one")
    return np.where(np.abs(sums - 1.0) <= ROUNDING * array.shape[-1], array, array / sums)


def normals(
    means: npt.ArrayLike, deviations: npt.ArrayLike, shape: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """Return means and deviations, checked."""
    found = []
    for name, given in (("means", means), ("deviations", deviations)):
        values = inputs.numbers_array(name, given).astype(np.float64)
        if values.shape != shape or not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite numbers of shape {shape}")
        found.append(values)
    if found[1].min() <= 0.0:
        raise ValueError("deviations must be larger than zero")
    return found[0], found[1]


def random_dynamics(n: int, k: int, stay: float, rng: np.random.Generator) -> Dynamics:
    """Draw initial and transition probabilities of states that tend to stay."""
    n, k = inputs.count("candidates", n), inputs.count("states", k)
    stay = inputs.number("stay", stay, 0.0, 1.0)
    moves = rng.dirichlet(np.ones(k), size=(n, k))
    keep = rng.beta(10.0 * stay, 10.0 * (1.0 - stay), size=(n, k, 1))
    return Dynamics(np.full((n, k), 1.0 / k), keep * np.eye(k) + (1.0 - keep) * moves)


def grid_dynamics(states: int, stay: npt.ArrayLike, choices: int) -> tuple[Dynamics, np.ndarray]:
    """Return the dynamics of a grid, and the choices of each candidate's states, N x k.

    Each candidate has one probability to stay, with the rest spread evenly over the other states,
    and k different choices, in their order.
    """
    k = inputs.count("states", states)
    keeps = np.atleast_1d(inputs.numbers_array("stay", stay)).astype(np.float64)
    if keeps.ndim != 1 or not keeps.size or not ((keeps >= 0.0) & (keeps <= 1.0)).all():
        raise ValueError("stay must be probabilities, at least one")
    if k > choices:
        raise ValueError(f"a grid needs at least as many emissions as states, {k}, got {choices}")
    if k == 1:
        keeps = np.ones(1)  # there is no other state
    if math.comb(choices, k) * len(keeps) > LARGEST_BANK:
        raise ValueError(f"a grid may have at most {LARGEST_BANK:,} candidates")
    which = np.array(list(combinations(range(choices), k)))
    kept = np.repeat(keeps, len(which))[:, np.newaxis, np.newaxis]
    moves = kept * np.eye(k) + (1.0 - kept) * (1.0 - np.eye(k)) / max(k - 1, 1)
    n = len(moves)
    return Dynamics(np.full((n, k), 1.0 / k), moves), np.tile(which, (len(keeps), 1))


def distributions(emissions: npt.ArrayLike) -> Floats:
    """Return distributions over symbols, one a row; a single number is the probability of 1."""
    given = inputs.numbers_array("emissions", emissions).astype(np.float64)
    if given.ndim == 1:
        given = np.column_stack([1.0 - given, given])
    return rows("emissions", given, (None, None))
