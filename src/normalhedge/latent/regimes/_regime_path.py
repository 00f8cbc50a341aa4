"""Predictions and regimes of a series, round by round."""

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted


@dataclass(frozen=True, eq=False)
class RegimePath:
    """Predictions and regimes of T rounds, each computed from the rounds before it."""

    # means, variances: of the predictive distribution before each observation, T or T x d; NaN
    # before the first fit
    means: Floats
    variances: Floats
    # ln p(y_t | y_1..y_{t-1}) of the mixture; NaN before the first fit and where y is missing
    log_scores: Floats
    # the probability of each regime given the observations up to this round, T x regimes; zero for
    # regimes that do not exist yet
    probabilities: Floats
    switching: Floats  # the probability that the regime changes after this round, T
    # the probability that something new has begun, and whether there was an alarm, T; NaN before
    # the first fit
    novelty: Floats
    alarms: npt.NDArray[np.bool_]

    @property
    def states(self) -> npt.NDArray[np.intp]:
        """The most probable regime in each round; -1 before the first fit."""
        return np.where(self.probabilities.any(axis=1), self.probabilities.argmax(axis=1), -1)

    @property
    def certainty(self) -> Floats:
        """The probability of the most probable regime in each round."""
        return np.asarray(self.probabilities.max(axis=1))

    def __len__(self) -> int:
        return len(self.log_scores)

    def __repr__(self) -> str:
        known = self.log_scores[~np.isnan(self.log_scores)]
        mean = f"{known.mean():.4f}" if len(known) else "none"
        used = int((np.bincount(self.states + 1, minlength=2)[1:] > 0).sum())
        size = f"{counted(len(self), 'round')}, {counted(used, 'regime')}"
        return f"<RegimePath: {size}, mean log score {mean}>"

    def renumber(self, new: npt.NDArray[np.intp]) -> Self:
        """Return the path with regimes renumbered: ``new[k]`` is the new number of regime k."""
        probabilities = np.empty_like(self.probabilities)
        probabilities[:, new] = self.probabilities
        return replace(self, probabilities=probabilities)

    @classmethod
    def join(cls, parts: list[Self]) -> Self:
        """Return several paths as one, in their order."""
        return cls(
            *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls))
        )
