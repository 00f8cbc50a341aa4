"""Checks of the arguments of intervals."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats

LONGEST_SEASON = 1_000_000
"""The longest season, in rounds: a game has two numbers for each. The core has the same limit."""


def checked_levels(levels: object, name: str = "levels") -> tuple[float, ...]:
    """Return the levels in rising order; one number is a level, too.

    Parameters
    ----------
    levels
        The levels.
    name
        The name of the argument, for error messages.
    """
    shares = levels if isinstance(levels, Iterable) else (levels,)
    if isinstance(shares, str):
        raise TypeError(f"{name} must be numbers strictly between 0 and 1, got {shares!r}")
    noun = "a level" if name == "levels" else name
    numbers = sorted(inputs.number(noun, level, 0.0, 1.0) for level in shares)
    if not numbers:
        raise ValueError(f"{name} must have at least one level, for example 0.9")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"{name} must differ, got {numbers}")
    return tuple(numbers)


def check_season(season: object) -> int | None:
    """Return the season, from two rounds to a million, or None."""
    if season is None:
        return None
    rounds = inputs.count("season", season, most=LONGEST_SEASON)
    if rounds == 1:
        raise ValueError("season must be at least 2 rounds; None is no season")
    return rounds


def floats_of(name: str, values: npt.ArrayLike) -> Floats:
    """Return numbers as float64 in a layout that the core reads."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.float64)
    return inputs.floats(inputs.numbers_array(name, array))


def whole_numbers(
    name: str,
    values: npt.ArrayLike,
    rounds: int,
    *,
    least: int | None = None,
    below: int | None = None,
) -> np.ndarray:
    """Return one whole number for each round."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers, got dtype {array.dtype}")
    if array.shape not in {(), (rounds,)}:
        raise ValueError(f"{name} must be one whole number, or {rounds}, got {array.shape}")
    lowest = 0 if least is None and below is not None else least
    if array.size and (
        (lowest is not None and array.min() < lowest)
        or (below is not None and array.max() >= below)
    ):
        accepted = f"at least {lowest}" if below is None else f"from {lowest} to {below - 1}"
        raise ValueError(f"{name} must be {accepted}, got {array.min()} to {array.max()}")
    return np.ascontiguousarray(np.broadcast_to(array, (rounds,)), dtype=np.int64)


def known_rounds(known_at: npt.ArrayLike | None, lag: object, rounds: int) -> np.ndarray:
    """Return before which round each outcome is known."""
    numbers = np.arange(rounds)
    if known_at is None:
        return numbers + 1 + (0 if lag == 0 else inputs.count("lag", lag))
    if lag != 0:
        raise ValueError("lag and known_at set the same delay: give one of them")
    firsts = whole_numbers("known_at", known_at, rounds)
    early = firsts <= numbers
    if early.any():
        first = int(early.argmax())
        raise ValueError(
            f"known_at must be after the round itself, got {firsts[first]} for round {first}"
        )
    return firsts


def bases_of(
    center: npt.ArrayLike, levels: tuple[float, ...], *, quantiles: bool
) -> tuple[Floats, tuple[int, ...]]:
    """Return forecasts as rows, and the shape of the rounds: none for a single round."""
    array = floats_of("center", center)
    if not quantiles:
        if array.ndim > 1:
            raise ValueError(
                f"center must be a number, or one for each round, got shape {array.shape}; with "
                "quantiles=True, bounds are accepted"
            )
        return array.reshape((-1, 1)), array.shape
    inner = (len(levels), 2)
    if array.shape == (2,) and len(levels) == 1:
        array = array.reshape(inner)
    if array.ndim not in {2, 3} or array.shape[-2:] != inner:
        raise ValueError(
            f"center must be a pair (lower, upper) for each level, shape {inner}, or such pairs "
            f"for each round, got shape {array.shape}"
        )
    shape = array.shape[:-2]
    return np.sort(array, axis=-1).reshape((-1, 2 * len(levels))), shape
