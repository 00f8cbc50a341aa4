"""The interface of emissions: parameters in rows, a column for each state."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats

Path = npt.NDArray[np.intp]  # a state for each round
ROOM = 2.0**53  # whole numbers up to here are exact in float64


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
    positive: ClassVar[tuple[str, ...]] = ()
    """The attributes that must be larger than zero."""
    squared: ClassVar[tuple[str, ...]] = ()
    """The attributes whose squares the core reads."""

    def __post_init__(self) -> None:
        for name in self._names():
            values = np.array(inputs.numbers_array(name, getattr(self, name)), dtype=np.float64)
            if values.ndim < 1 or 0 in values.shape or not np.isfinite(values).all():
                raise ValueError(
                    f"{name} must be finite numbers, with the states on the first axis"
                )
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        states = {len(getattr(self, name)) for name in self._names()}
        if len(states) > 1:
            raise ValueError(
                f"all parameters must have the same number of states, got {sorted(states)}"
            )
        for name in self.positive:
            if not (getattr(self, name) > 0.0).all():
                raise ValueError(f"{name} must be larger than zero")

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return cls.__match_args__

    @classmethod
    def _of(cls, *values: Floats) -> Self:
        """Return the emission with arrays that the package has computed, unchecked."""
        made = object.__new__(cls)
        for name, array in zip(cls._names(), values, strict=True):
            array.setflags(write=False)
            object.__setattr__(made, name, array)
        return made

    @property
    def states(self) -> int:
        """The number of states, k."""
        return len(getattr(self, self._names()[0]))

    @property
    def columns(self) -> int:
        """The number of columns of an observation."""
        return 1

    @property
    def predicted(self) -> int:
        """The number of columns that are predicted; others are covariates."""
        return self.columns

    def parameters(self) -> Floats:
        """Return the parameters as the core reads them, rows x k, in a fresh array."""
        values = ((name, getattr(self, name)) for name in self._names())
        return np.stack([array**2 if name in self.squared else array for name, array in values])

    @classmethod
    def from_parameters(cls, rows: Floats) -> Self:
        """Return the emission with these parameters, rows x k, as `parameters` returns them."""
        made = cls.from_core(rows)
        made.__post_init__()
        return made

    @classmethod
    def from_core(cls, rows: Floats) -> Self:
        """Return the emission with parameters that the core has computed, unchecked."""
        values = zip(cls._names(), rows, strict=True)
        return cls._of(*(np.sqrt(row) if name in cls.squared else row for name, row in values))

    @abstractmethod
    def moments(self) -> tuple[Floats, Floats]:
        """Return mean and variance in each state."""

    def moments_after(self, previous: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of the next observation in each state, given the last, T x d.

        The results are T x k x d, or 1 x k x d if they do not depend on the last observation.
        """
        del previous
        mean, variance = (part.reshape(1, self.states, -1) for part in self.moments())
        return mean, variance

    @abstractmethod
    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        """Draw an observation for each state of a path."""

    def compared(self, centre: Floats, width: Floats) -> "Emission":
        """Return the distributions by which states are compared, in other units.

        Parameters
        ----------
        centre, width
            The units: the location and the scale of each covariate, if there are any.
        """
        del centre, width
        return self

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
        return self._draw(_check_path(states, self.states), rng)

    def log_density(self, observations: npt.ArrayLike) -> Floats:
        """Return ln b_s(y_t), T x k; 0 where an observation is missing (NaN)."""
        return self.log_densities(self.accepted(observations))

    def log_densities(self, seen: Floats) -> Floats:
        """Return the same for observations that `accepted` has checked, T x columns."""
        result = np.empty((len(seen), self.states))
        _core.em_log_densities(self.family, seen, self.parameters(), result)
        return result

    def accepted(self, observations: npt.ArrayLike) -> Floats:
        """Return observations as T x columns for the core, checked."""
        return check_observations(type(self), observations, self.columns)

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
        return self._of(*(getattr(self, name)[places] for name in self._names()))

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
        made = self._rescaled(centre, width)
        made.__post_init__()
        return made

    @abstractmethod
    def _rescaled(self, centre: Floats, width: Floats) -> Self:
        """Return the emission of centre + width y, unchecked; units may differ between states."""


def check_observations(
    family: type[Emission], observations: npt.ArrayLike, columns: int | None
) -> Floats:
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
    if not family.scaled:
        wrong = ~((array >= 0.0) & (array == np.floor(array)) & (array < ROOM)) & known
        if wrong.any():
            raise ValueError(
                f"observations must be {family.numbers}, NaN where missing, got {array[wrong][0]:g}"
            )
    array[~known.all(axis=1)] = np.nan
    return np.ascontiguousarray(array)


def _check_path(states: npt.ArrayLike, most: int) -> Path:
    """Return a path through the states, checked."""
    path = np.asarray(states)
    if path.ndim != 1 or path.dtype.kind not in "iu" or not ((path >= 0) & (path < most)).all():
        raise ValueError(f"states must be whole numbers below {most}, one for each observation")
    return path.astype(np.intp)
