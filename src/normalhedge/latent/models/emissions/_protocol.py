"""The interface of emissions: parameters in rows, a column for each state."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats

Path = npt.NDArray[np.intp]
"""A state for each round."""

ROOM = 2.0**53
"""Whole numbers up to here are exact in float64."""


@dataclass(frozen=True, eq=False)
class Emission(ABC):
    """The distributions of observations in k hidden states.

    All attributes are arrays; their first axis has the k states.
    """

    family: ClassVar[str]
    """The name of the family in the core."""
    numbers: ClassVar[str] = "finite numbers"
    """The accepted observations, in words."""
    scaled: ClassVar[bool] = False
    """Whether observations can be standardised: real numbers can, counts and symbols cannot."""

    def __post_init__(self) -> None:
        states = set()
        for field in fields(self):
            values = inputs.numbers_array(field.name, getattr(self, field.name))
            values = np.array(values, dtype=np.float64)
            if values.ndim < 1 or 0 in values.shape or not np.isfinite(values).all():
                raise ValueError(
                    f"{field.name} must be finite numbers, with the states on the first axis"
                )
            values.setflags(write=False)
            object.__setattr__(self, field.name, values)
            states.add(len(values))
        if len(states) > 1:
            raise ValueError(
                f"all parameters must have the same number of states, got {sorted(states)}"
            )

    @property
    def states(self) -> int:
        """The number of states, k."""
        return len(getattr(self, fields(self)[0].name))

    @property
    def columns(self) -> int:
        """The number of columns of an observation."""
        return 1

    @abstractmethod
    def parameters(self) -> Floats:
        """Return the parameters as the core reads them, rows x k, in a fresh array."""

    @classmethod
    @abstractmethod
    def from_parameters(cls, rows: Floats) -> Self:
        """Return the emission with these parameters, rows x k, as `parameters` returns them."""

    @abstractmethod
    def moments(self) -> tuple[Floats, Floats]:
        """Return mean and variance in each state."""

    @abstractmethod
    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        """Draw an observation for each state of a path."""

    def sample(self, states: npt.ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw an observation for each state of a path, T or T x columns.

        Parameters
        ----------
        states
            The path, T whole numbers. An autoregressive series starts as if it had always been in
            the first state.
        rng
            The generator of random numbers.
        """
        return self._draw(states_array(states, self.states), rng)

    def log_density(self, observations: npt.ArrayLike) -> Floats:
        """Return ln b_s(y_t), T x k; 0 where an observation is missing (NaN)."""
        seen = self.accepted(observations)
        result = np.empty((len(seen), self.states))
        _core.em_log_densities(self.family, seen, self.parameters(), result)
        return result

    def accepted(self, observations: npt.ArrayLike) -> Floats:
        """Return observations as T x columns for the core, checked."""
        return checked(type(self), observations, self.columns)

    def order(self) -> npt.NDArray[np.intp]:
        """Return the states by their mean, then by their variance."""
        means, variances = self.moments()
        keys = np.column_stack([means, variances])
        return np.lexsort(keys.T[::-1])

    def permuted(self, order: npt.ArrayLike) -> Self:
        """Return the emission with its states in another order."""
        places = np.asarray(order)
        if sorted(places.tolist()) != list(range(self.states)):
            raise ValueError(f"order must name each of the {self.states} states once, got {places}")
        return type(self)(*(getattr(self, field.name)[places] for field in fields(self)))

    @classmethod
    @abstractmethod
    def starting_parameters(cls, observations: Floats) -> Floats:
        """Return the parameters of a state, rows x 1, from which a fit to a series can start.

        Parameters
        ----------
        observations
            The series, T x columns; NaN where missing. Real numbers are standardised.
        """


@dataclass(frozen=True, eq=False)
class RealEmission(Emission):
    """Emissions of real numbers, which can be standardised."""

    scaled: ClassVar[bool] = True

    def rescaled(self, centre: Floats, width: Floats) -> Self:
        """Return the emission of centre + width y.

        Parameters
        ----------
        centre, width
            The new origin and unit, one number for each column.
        """
        return self._rescaled(centre, width)

    @abstractmethod
    def _rescaled(self, centre: Floats, width: Floats) -> Self:
        """Return the emission of centre + width y."""


def checked(family: type[Emission], observations: npt.ArrayLike, columns: int | None) -> Floats:
    """Return observations as T x columns, checked; a row with a missing value becomes all NaN."""
    array = inputs.numbers_array("observations", observations).astype(np.float64)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] == 0 or columns not in {None, array.shape[1]}:
        wanted = "T x columns" if columns is None else f"T x {columns}"
        wanted = "T" if columns == 1 else wanted
        raise ValueError(f"observations must have shape {wanted}, got {np.shape(observations)}")
    known = ~np.isnan(array)
    if not (np.abs(array[known]) <= inputs.LARGEST).all():
        raise ValueError(
            f"observations must be {family.numbers} within ±{inputs.LARGEST:g}, NaN where missing"
        )
    family_check(family, array[known])
    array[~known.all(axis=1)] = np.nan
    return np.ascontiguousarray(array)


def family_check(family: type[Emission], known: Floats) -> None:
    """Refuse values that are not whole numbers, in families of counts and symbols."""
    if family.scaled:
        return
    wrong = ~((known >= 0.0) & (known == np.floor(known)) & (known < ROOM))
    if wrong.any():
        raise ValueError(
            f"observations must be {family.numbers}, NaN where missing, got {known[wrong][0]:g}"
        )


def states_array(states: npt.ArrayLike, most: int) -> Path:
    """Return a path through the states, checked."""
    path = np.asarray(states)
    if path.ndim != 1 or path.dtype.kind not in "iu" or not ((path >= 0) & (path < most)).all():
        raise ValueError(f"states must be whole numbers below {most}, one for each observation")
    return path.astype(np.intp)


def positive(name: str, values: Floats) -> None:
    """Refuse parameters that are not larger than zero."""
    if not (values > 0.0).all():
        raise ValueError(f"{name} must be larger than zero")
