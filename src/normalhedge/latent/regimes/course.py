"""What was said of a series, round by round, each from the rounds before."""

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from normalhedge._inputs import Floats


@dataclass(frozen=True, eq=False)
class Course:
    """Predictions and regimes of T rounds, all causal.

    Attributes
    ----------
    means, variances
        Of the observation, known before it came, T or T x d; NaN before the first fit.
    log_scores
        ln p(y_t | y_1..y_{t-1}) of the mixture; NaN before the first fit and where y is missing.
    probabilities
        Of each regime, given the observations up to this one, T x regimes; zero for regimes that
        are not there.
    switching
        P(the regime changes after this round), T.
    """

    means: Floats
    variances: Floats
    log_scores: Floats
    probabilities: Floats
    switching: Floats

    @property
    def states(self) -> npt.NDArray[np.intp]:
        """The most probable regime in each round; -1 before the first fit."""
        found = self.probabilities.argmax(axis=1)
        return np.where(self.probabilities.any(axis=1), found, -1)

    @property
    def certainty(self) -> Floats:
        """How probable that regime is."""
        return np.asarray(self.probabilities.max(axis=1))

    def __len__(self) -> int:
        return len(self.log_scores)

    def __repr__(self) -> str:
        known = self.log_scores[~np.isnan(self.log_scores)]
        mean = f"{known.mean():.4f}" if len(known) else "none"
        used = int((np.bincount(self.states + 1, minlength=2)[1:] > 0).sum())
        return f"<Course: {len(self):,} rounds, {used} regimes, mean log score {mean}>"

    def renumbered(self, new: npt.NDArray[np.intp]) -> Self:
        """Return the course with a new number for each old one."""
        probabilities = np.empty_like(self.probabilities)
        probabilities[:, new] = self.probabilities
        return replace(self, probabilities=probabilities)

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        """Return one course after the other."""
        return cls(
            *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls))
        )
