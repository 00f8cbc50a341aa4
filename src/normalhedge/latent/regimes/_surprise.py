"""The places of observations in their predictions, and what they say about something new."""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary.inputs import Floats

PATIENCE = 1000  # the least mean number of rounds between false alarms, by default
KEPT = 100  # the number of last alarms that are kept


class Surprise(NamedTuple):
    """What the surprise of the observations says about something new; see ``novelty.hpp``.

    Nothing in it is ever changed in place.
    """

    numbers: Floats  # of the test of each column; none before the first observation
    novelty: float  # the probability that something new has begun
    alarms: tuple[int, ...]  # the rounds of the last alarms

    @classmethod
    def init(cls) -> Self:
        """Return what is known before the first observation."""
        return cls(np.zeros((0, _core.novelty_size())), float("nan"), ())

    def learn(
        self, places: Floats, rounds: int, patience: float
    ) -> tuple[Self, Floats, npt.NDArray[np.bool_]]:
        """Learn the places of observations, T x d, after so many rounds.

        Returns the probability that something new has begun, and whether there was an alarm, after
        each round.
        """
        count, columns = places.shape
        numbers = self.numbers.copy() if len(self.numbers) else np.zeros((columns, WIDTH))
        novelty, alarms = np.empty(count), np.empty(count)
        _core.novelty_run(np.ascontiguousarray(places), patience, numbers, novelty, alarms)
        rung = alarms > 0.0
        new = (rounds + np.flatnonzero(rung)).tolist()
        return type(self)(numbers, float(novelty[-1]), (*self.alarms, *new)[-KEPT:]), novelty, rung


WIDTH = _core.novelty_size()


def places_of(
    observations: Floats,
    known: npt.NDArray[np.bool_],
    weights: Floats,
    means: Floats,
    variances: Floats,
    *,
    steps: bool,
) -> Floats:
    """Return the share of the predictive distribution below each observation, T x d.

    The prediction of each model is taken for normal: the test looks at ranks only. Of counts and
    symbols, which come in steps, a half of the step is below.

    Parameters
    ----------
    observations, known
        T x d, and which of them teach something; of the others the place is NaN.
    weights
        The weights of N models before each round, T x N.
    means, variances
        Their predictions, T x N x d.
    steps
        Whether observations are whole numbers.
    """
    places = np.empty((len(means), means.shape[2]))
    _core.places_below(observations, weights, means, variances, steps, places)
    places[~known] = np.nan
    return places
