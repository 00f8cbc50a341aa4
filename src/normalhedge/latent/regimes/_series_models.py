"""Models without hidden states that predict a series beside the hidden Markov models.

A model is an object without a state of its own: its functions take and return arrays, its
*numbers*. The distribution of the next observation is a mixture of the distributions of one family
of emissions, so densities, moments and quantiles need no code of the model.

To add one, write a class with the functions of `SeriesModel`; give it a line in `MODELS`, and its
name in `TRIED`.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from normalhedge.boundary.inputs import Floats


class SeriesRounds(NamedTuple):
    """The results of a model in T rounds, each predicted from the rounds before it."""

    logs: Floats  # ln p(y_t | y_1..y_{t-1}), T; 0 where the observation is missing
    # means, variances: of y_t given the observations before it, T x d
    means: Floats
    variances: Floats


class SeriesModel(Protocol):
    """A way to predict a series without hidden states."""

    @property
    def family(self) -> str:
        """The family of emissions that the predictive distribution is a mixture of."""

    def learn(self, seen: Floats) -> Floats:
        """Return the numbers of the model after a series, T x d, that it learns from nothing.

        Rows are NaN where an observation is missing; at least one is not.
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


MODELS: dict[str, SeriesModel] = {}
"""The models, by the names that their recipes have as a family; files name them so."""

TRIED: Mapping[str, tuple[str, ...]] = {}
"""The names of the models that are tried, by the family of emissions that was requested."""
