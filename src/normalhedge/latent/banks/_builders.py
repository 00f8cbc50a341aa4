"""Builders of banks: from arrays, at random, on a grid, or from models of hmmlearn."""

import math
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.banks._categorical_bank import CategoricalBank
from normalhedge.latent.banks._gaussian_bank import GaussianBank

ROUNDING = 2.0**-52  # the error of rounding, for each number of a sum of probabilities
SUM_TOLERANCE = 1e-6  # how far a sum of probabilities may be from one; they are then normalised
LARGEST_BANK = 10**7  # the largest number of candidates on a grid


def categorical_bank(
    initial: npt.ArrayLike, transition: npt.ArrayLike, emission: npt.ArrayLike
) -> CategoricalBank:
    """Return a bank of models over the symbols 0, 1, ..., m - 1.

    Parameters
    ----------
    initial
        The probability of each state in the first round, N x k; each row sums to one.
    transition
        The probability of each next state, N x k x k; each row (from a state) sums to one.
    emission
        The probability of each symbol in each state, N x k x m; each row sums to one.
    """
    first, moves = _dynamics(initial, transition)
    table = _check_rows("emission", emission, (*first.shape, None))
    if table.shape[2] < 2:
        raise ValueError(f"emission must have at least two symbols, got {table.shape[2]}")
    emissions = np.ascontiguousarray(table.transpose(2, 1, 0))
    return CategoricalBank(_last(first), _last(moves), emissions)


def gaussian_bank(
    initial: npt.ArrayLike,
    transition: npt.ArrayLike,
    means: npt.ArrayLike,
    deviations: npt.ArrayLike,
    width: float | None = None,
) -> GaussianBank:
    """Return a bank of models over real numbers that are normal given the state.

    Parameters
    ----------
    initial, transition
        As for `categorical_bank`.
    means, deviations
        The normal distribution of each state, N x k; deviations are positive.
    width
        The width of the interval that `HMMBank.bounded` scores; the smallest deviation by default.
    """
    first, moves = _dynamics(initial, transition)
    mean, deviation = (
        inputs.numbers_array(name, values).astype(np.float64)
        for name, values in (("means", means), ("deviations", deviations))
    )
    for name, values in (("means", mean), ("deviations", deviation)):
        if values.shape != first.shape or not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite numbers of shape {first.shape}")
    if deviation.min() <= 0.0:
        raise ValueError("deviations must be larger than zero")
    wide = float(deviation.min()) if width is None else inputs.number("width", width, 0.0)
    return GaussianBank(_last(first), _last(moves), _last(mean), _last(deviation), wide)


def random_categorical_bank(
    candidates: int,
    states: int,
    symbols: int,
    rng: np.random.Generator,
    stay: float = 0.9,
    evenness: float = 1.0,
) -> CategoricalBank:
    """Draw a bank of models over symbols, whose states tend to stay.

    Parameters
    ----------
    candidates
        The number of models, N.
    states
        The number of states of each model, k.
    symbols
        The number of symbols, m.
    rng
        The generator of random numbers.
    stay
        The mean probability to stay in a state.
    evenness
        The parameter of the Dirichlet distribution of emissions: 1 draws all distributions alike,
        less prefers distributions that are almost sure of a symbol.
    """
    first, moves = _random_dynamics(candidates, states, stay, rng)
    m = inputs.count("symbols", symbols)
    even = np.full(m, inputs.number("evenness", evenness, 0.0, inputs.LARGEST))
    return categorical_bank(first, moves, rng.dirichlet(even, size=first.shape))


def random_gaussian_bank(
    candidates: int,
    states: int,
    middle: float,
    spread: float,
    rng: np.random.Generator,
    stay: float = 0.9,
) -> GaussianBank:
    """Draw a bank of models over real numbers, whose states tend to stay.

    Parameters
    ----------
    candidates, states, rng, stay
        As for `random_categorical_bank`.
    middle
        The centre of the numbers.
    spread
        The scale of the numbers. Half of the means are drawn within 1.6 spreads of the middle, and
        all within 6; deviations between an eighth of a spread and two, evenly in the logarithm. The
        width of the bank is a quarter of a spread.
    """
    first, moves = _random_dynamics(candidates, states, stay, rng)
    middle = inputs.number("middle", middle, -inputs.LARGEST, inputs.LARGEST)
    spread = inputs.number("spread", spread, 0.0, inputs.LARGEST)
    means = middle + spread * np.sinh(rng.uniform(-2.5, 2.5, size=first.shape))
    deviations = spread * 2.0 ** rng.uniform(-3.0, 1.0, size=first.shape)
    return gaussian_bank(first, moves, means, deviations, spread / 4.0)


def categorical_grid(states: int, stay: npt.ArrayLike, emissions: npt.ArrayLike) -> CategoricalBank:
    """Return a bank of all models on a grid: each probability to stay, each choice of k emissions.

    Parameters
    ----------
    states
        The number of states of each model, k.
    stay
        Probabilities to stay in a state; the rest is spread evenly over the other states.
    emissions
        Distributions over symbols, one in each row, or probabilities of symbol 1. Each model gets k
        different ones, in their order.

    Examples
    --------
    >>> categorical_grid(2, stay=[0.9, 0.99], emissions=[0.1, 0.5, 0.9]).candidates
    6
    """
    table = inputs.numbers_array("emissions", emissions).astype(np.float64)
    if table.ndim == 1:
        table = np.column_stack([1.0 - table, table])
    table = _check_rows("emissions", table, (None, None))
    first, moves, chosen = _grid_dynamics(states, stay, len(table))
    return categorical_bank(first, moves, table[chosen])


def gaussian_grid(
    states: int, stay: npt.ArrayLike, means: npt.ArrayLike, deviations: npt.ArrayLike
) -> GaussianBank:
    """Return a bank of all models over real numbers on a grid; see `categorical_grid`.

    Parameters
    ----------
    states, stay
        As for `categorical_grid`.
    means, deviations
        Each mean with each deviation makes a normal distribution, from which states are chosen.
    """
    pair = np.meshgrid(
        *(np.atleast_1d(inputs.numbers_array(name, values)) for name, values in
          (("means", means), ("deviations", deviations))), indexing="ij"
    )  # fmt: skip
    first, moves, chosen = _grid_dynamics(states, stay, pair[0].size)
    return gaussian_bank(first, moves, pair[0].ravel()[chosen], pair[1].ravel()[chosen])


def bank_from_hmmlearn(models: Iterable[Any]) -> CategoricalBank | GaussianBank:
    """Return a bank of fitted ``CategoricalHMM`` or ``GaussianHMM`` models of hmmlearn."""
    fitted = list(models)
    if not fitted:
        raise ValueError("models must hold at least one model")
    initial = [model.startprob_ for model in fitted]
    transition = [model.transmat_ for model in fitted]
    if all(hasattr(model, "emissionprob_") for model in fitted):
        return categorical_bank(initial, transition, [model.emissionprob_ for model in fitted])
    if not all(hasattr(model, "means_") and model.means_.shape[1] == 1 for model in fitted):
        raise ValueError("models must all be CategoricalHMM or GaussianHMM of one dimension")
    means = [model.means_[:, 0] for model in fitted]
    deviations = [
        np.sqrt(np.asarray(model.covars_).reshape(len(mean), -1)[:, 0])
        for model, mean in zip(fitted, means, strict=True)
    ]
    return gaussian_bank(initial, transition, means, deviations)


def _last(array: Floats) -> Floats:
    """Return an array with the axis of the candidates, its first, at the end."""
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))


def _dynamics(initial: npt.ArrayLike, transition: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return initial and transition probabilities, checked: N x k and N x k x k."""
    first = _check_rows("initial", initial, (None, None))
    n, k = first.shape
    return first, _check_rows("transition", transition, (n, k, k))


def _check_rows(name: str, values: npt.ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Return probabilities whose last axis sums to one, up to rounding.

    Rows that sum to one up to rounding stay as they are, to the bit: probabilities that were read
    once and written are the same when they are read again.
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


def _random_dynamics(
    n: int, k: int, stay: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw initial and transition probabilities of states that tend to stay."""
    n, k = inputs.count("candidates", n), inputs.count("states", k)
    stay = inputs.number("stay", stay, 0.0, 1.0)
    moves = rng.dirichlet(np.ones(k), size=(n, k))
    keep = rng.beta(10.0 * stay, 10.0 * (1.0 - stay), size=(n, k, 1))
    return np.full((n, k), 1.0 / k), keep * np.eye(k) + (1.0 - keep) * moves


def _grid_dynamics(
    states: int, stay: npt.ArrayLike, choices: int
) -> tuple[Floats, Floats, np.ndarray]:
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
    chosen = np.array(list(combinations(range(choices), k)))
    kept = np.repeat(keeps, len(chosen))[:, np.newaxis, np.newaxis]
    moves = kept * np.eye(k) + (1.0 - kept) * (1.0 - np.eye(k)) / max(k - 1, 1)
    return np.full((len(moves), k), 1.0 / k), moves, np.tile(chosen, (len(keeps), 1))
