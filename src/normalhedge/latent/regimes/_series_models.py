"""Models without hidden states that predict a series beside the hidden Markov models.

A model is an object without a state of its own: its functions take and return arrays, its
*numbers*. The distribution of the next observation is a mixture of the distributions of one family
of emissions, so densities, moments and quantiles need no code of the model.

To add one, write a class with the functions of `SeriesModel`; give it a line in `MODELS`, and its
name in `TRIED`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np

from normalhedge import _core
from normalhedge.boundary.inputs import Floats

# the chance of a break in a round is one of these, with these prior probabilities
RARE = ((0.005, 0.01), (0.5, 0.5))
FREQUENT = ((0.03,), (1.0,))
# the ratio of the variances of level and noise is one of these; the last is a random walk
RATIOS = ((0.003, 0.03, 0.3, 3.0, 100.0), (0.2,) * 5)
# the relative growth of the variance of a rate, or of probabilities, in a round is one of these
GROWTHS = ((0.003, 0.01, 0.03, 0.1, 0.3), (0.2,) * 5)
STEADY = ((0.0,), (1.0,))  # neither: the parameters are unknown, but do not change
MEMORY = 0.99  # of the noise of a level that wanders, a factor for each observation
# with more symbols than this, the probability of each in each run would take too much room
SYMBOLS = 50
RUNS, BREAKS = 40, 4  # the numbers of runs, and of breaks before each, that the core keeps


class SeriesRounds(NamedTuple):
    """The results of a model in T rounds, each predicted from the rounds before it."""

    logs: Floats  # ln p(y_t | y_1..y_{t-1}), T; 0 where the observation is missing
    # means, variances: of y_t given the observations before it, T x d
    means: Floats
    variances: Floats


class SeriesModel(Protocol):
    """A way to predict a series without hidden states."""

    @property
    def kind(self) -> str:
        """How the series changes: ``"breaks"``, ``"wandering"`` or ``"nothing"``."""

    @property
    def family(self) -> str:
        """The family of emissions that the predictive distribution is a mixture of."""

    def learn(self, seen: Floats, symbols: int | None) -> Floats:
        """Return the numbers of the model after a series, T x d, that it learns from nothing.

        Rows are NaN where an observation is missing; at least one is not. Symbols are counted.
        """

    def run(self, numbers: Floats, seen: Floats) -> tuple[Floats, SeriesRounds]:
        """Return the numbers after some more rounds, T x d, and their results.

        The given numbers are not changed. The result is the same to the bit whether rounds come one
        by one or together.
        """

    def components(self, numbers: Floats, rounds: int = 1) -> tuple[Floats, Floats]:
        """Return the distribution of the observation so many rounds ahead, as a mixture.

        The first result holds m shares that sum to one; the second the parameters of the family,
        rows x m, as `Emission.parameters` returns them.
        """


@dataclass(frozen=True)
class Conjugate:
    """A series whose parameters change for good: at breaks, or by wandering all the time.

    The core keeps what is known of the parameters as a conjugate distribution, so a prediction is
    an integral over them. See ``run_lengths.hpp``, ``wandering.hpp`` and ``conjugate.hpp``. The
    first of the numbers is the number of columns, or of symbols.
    """

    process: Literal["breaks", "wandering"]
    family: str
    # an unknown constant: its values and their prior probabilities
    grid: tuple[tuple[float, ...], tuple[float, ...]]
    memory: float = 1.0

    @property
    def kind(self) -> str:
        """How the series changes."""
        return "nothing" if self.grid == STEADY else self.process

    def learn(self, seen: Floats, symbols: int | None) -> Floats:
        """Return the numbers of the model after a series."""
        width = symbols or seen.shape[1]
        size = _core.series_size(self.process, self.family, width, len(self.grid[0]))
        numbers = np.zeros(1 + size)
        numbers[0] = width
        _core.series_learn(*self.shape(numbers), np.ascontiguousarray(seen), numbers[1:])
        return numbers

    def run(self, numbers: Floats, seen: Floats) -> tuple[Floats, SeriesRounds]:
        """Return the numbers after some more rounds, and their results."""
        after = numbers.copy()
        rounds = SeriesRounds(np.empty(len(seen)), np.empty(seen.shape), np.empty(seen.shape))
        _core.series_run(*self.shape(after), np.ascontiguousarray(seen), after[1:], *rounds)
        return after, rounds

    def components(self, numbers: Floats, rounds: int = 1) -> tuple[Floats, Floats]:
        """Return the distribution of the observation so many rounds ahead."""
        most = 1 + RUNS if self.process == "breaks" else len(self.grid[0])
        shares, rows = np.zeros(most), np.zeros((self._rows(numbers), most))
        count = _core.series_ahead(*self.shape(numbers), numbers[1:], rounds, shares, rows)
        return shares[:count], rows[:, :count]

    def runs(self, numbers: Floats) -> Floats:
        """Return the runs of a model of breaks, a row for each.

        A row holds how many rounds ago the run began, its probability, and how many rounds ago
        there were breaks, the latest first, where the run began among them; NaN where there was
        none.
        """
        _, family, width, grid, _ = self.shape(numbers)
        table = np.zeros((RUNS, 3 + BREAKS))
        return table[: _core.series_breaks(family, width, grid, numbers[1:], table)]

    def shape(self, numbers: Floats) -> tuple[str, str, int, Floats, float]:
        """Return what the core needs to know of a model: process, family, width, grid, memory."""
        return self.process, self.family, int(numbers[0]), self._grid, self.memory

    @cached_property
    def _grid(self) -> Floats:
        return np.array(self.grid)

    def _rows(self, numbers: Floats) -> int:
        """Return the number of rows of parameters."""
        width = int(numbers[0])
        return {"student": 3, "negative_binomial": 2, "categorical": width}.get(
            self.family, 2 * width
        )


MODELS: dict[str, SeriesModel] = {
    "steady": Conjugate("wandering", "student", STEADY),
    "steady_counts": Conjugate("wandering", "negative_binomial", STEADY),
    "steady_symbols": Conjugate("wandering", "categorical", STEADY),
    "steady_columns": Conjugate("wandering", "diagonal", STEADY),
    "breaks": Conjugate("breaks", "student", RARE),
    "frequent_breaks": Conjugate("breaks", "student", FREQUENT),
    "breaks_of_counts": Conjugate("breaks", "negative_binomial", RARE),
    "frequent_breaks_of_counts": Conjugate("breaks", "negative_binomial", FREQUENT),
    "breaks_of_symbols": Conjugate("breaks", "categorical", RARE),
    "frequent_breaks_of_symbols": Conjugate("breaks", "categorical", FREQUENT),
    "breaks_of_columns": Conjugate("breaks", "diagonal", RARE),
    "frequent_breaks_of_columns": Conjugate("breaks", "diagonal", FREQUENT),
    "wandering_level": Conjugate("wandering", "student", RATIOS, MEMORY),
    "wandering_rate": Conjugate("wandering", "negative_binomial", GROWTHS),
    "wandering_symbols": Conjugate("wandering", "categorical", GROWTHS),
    "wandering_levels": Conjugate("wandering", "diagonal", RATIOS, MEMORY),
}
"""The models, by the names that their recipes have as a family; files name them so."""

NUMBERS = ("steady", "breaks", "frequent_breaks", "wandering_level")
COUNTS = ("steady_counts", "breaks_of_counts", "frequent_breaks_of_counts", "wandering_rate")
COLUMNS = ("steady_columns", "breaks_of_columns", "frequent_breaks_of_columns", "wandering_levels")
TRIED: Mapping[str, tuple[str, ...]] = {
    "gaussian": NUMBERS,
    "student": NUMBERS,
    "regression": NUMBERS,
    "poisson": COUNTS,
    "negative_binomial": COUNTS,
    "categorical": (
        "steady_symbols",
        "breaks_of_symbols",
        "frequent_breaks_of_symbols",
        "wandering_symbols",
    ),
    "full": COLUMNS,
    "diagonal": COLUMNS,
}
"""The names of the models that are tried, by the family of emissions that was requested."""


def tried(emission: str, symbols: int | None) -> tuple[str, ...]:
    """Return the names of the models that are tried."""
    return () if symbols is not None and symbols > SYMBOLS else TRIED.get(emission, ())
