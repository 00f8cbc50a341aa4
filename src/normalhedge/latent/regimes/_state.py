"""Everything that regimes have learned, as a value."""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import Fits
from normalhedge.latent.regimes._candidates import CandidatePool
from normalhedge.latent.regimes._filter_bank import CandidateFilters, FilterBank
from normalhedge.latent.regimes._matching import Labels
from normalhedge.latent.regimes._recipes import Pending
from normalhedge.latent.regimes._regime_labels import Parameters, RegimeLabels
from normalhedge.latent.regimes._surprise import Surprise

T = TypeVar("T")
# a number of rounds, and a value for each regime by then
History = tuple[tuple[int, dict[int, T]], ...]


class RegimesState(NamedTuple):
    """Everything that regimes have learned; nothing in it is ever changed in place."""

    emission: str | None  # the family of the observations; None before the first one
    # rounds, observed: the number of rounds, and of rounds with an observation
    rounds: int
    observed: int
    # seen, previous: the last observations, in blocks of T x d, and the very last one
    seen: tuple[Floats, ...]
    previous: Floats
    pool: CandidatePool  # the candidates at the last review, and their standings
    filters: CandidateFilters  # the filters of the candidates since then
    game: Any  # the state of the hedger's game; None before the first fit
    labels: RegimeLabels  # the regimes
    # now, switch: the probability of each regime, and of a switch after this round
    now: Floats
    switch: float
    # the parameters of the regimes after each review, with the number of rounds
    history: History[Parameters]
    # the generator of random numbers of the next review, which uses a copy of it
    rng: np.random.Generator
    # the candidates as they are filtered together, which follows from the pool; None before the
    # first fit
    bank: FilterBank | None = None
    surprise: Surprise = Surprise.init()  # what says that something new has begun
    # the places of the last observations in their predictions, whose surprise is not learned yet
    waiting: tuple[Floats, ...] = ()
    # pending, fits: the fits that were begun at reviews, and how far each has come; None if it has
    # not begun. No file holds `fits`: the result does not depend on it
    pending: tuple[Pending, ...] = ()
    fits: tuple[Fits | None, ...] = ()

    @property
    def weights(self) -> Floats:
        """The current weights of the candidates."""
        return np.empty(0) if self.game is None else np.asarray(self.game.weights)


def renumber_history(history: Iterable[tuple[int, dict[int, T]]], new: Labels) -> History[T]:
    """Return the history of regimes with their new numbers."""
    return tuple(
        (rounds, dict(sorted((int(new[old]), value) for old, value in regimes.items())))
        for rounds, regimes in history
    )
