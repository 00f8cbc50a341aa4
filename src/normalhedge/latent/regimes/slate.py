"""The choice of recipes: new ones open, bad ones close."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.latent.regimes.candidates import Candidate, LearningRecipe, learned

WINDOWS = (250, 500)
"""The numbers of last observations to which models are fitted."""

MEMORIES = (100,)
"""The memories of online EM, in observations."""

SUPPORT = 0.05
"""More than three states are tried if models with the next smaller number have this weight."""

BEHIND = 20.0
"""Online EM that is this many nats behind the best of its kind starts again from that model."""

HOPELESS = 15.0
"""Models of the last rounds that are this many nats behind the best are fitted half as often."""

RETRY = 1000
"""The number of observations after which a closed recipe may be tried again."""


class Slate:
    """The current candidates, at most ``budget`` of them.

    Parameters
    ----------
    families
        The families of emissions. The first family with the fewest states is always a candidate.
    states
        The numbers of states to try.
    budget
        The largest number of candidates.
    rng
        The generator of random numbers for fits.
    symbols
        The number of symbols, for categorical emissions.
    """

    def __init__(
        self,
        families: Sequence[str],
        states: Sequence[int],
        budget: int,
        rng: np.random.Generator,
        symbols: int | None = None,
    ) -> None:
        self.candidates: list[Candidate] = []
        self.standing = np.empty(0)
        self._recipes = _recipes(families, states)
        self._always = LearningRecipe(families[0], min(states))
        self._numbers = sorted(states)
        self._freely = max(3, self._numbers[0])
        self._budget, self._rng, self._symbols = budget, rng, symbols
        self._closed: dict[LearningRecipe, int] = {}

    def review(self, seen: Floats, weights: Floats) -> tuple[list[int], int]:
        """Fit the candidates that are due, then open and close recipes.

        Parameters
        ----------
        seen
            All observations so far, T x d.
        weights
            The weights of the candidates.

        Returns
        -------
        list of int, int
            The indices of the candidates that left, and the number that joined at the end.
        """
        known = int((~np.isnan(seen[:, 0])).sum())
        for n, candidate in enumerate(self.candidates):
            if known >= self._due(n) or self._stuck(n):
                warm = self._best(candidate.recipe, beside=n if candidate.online else None)
                self.candidates[n] = self._learned(candidate.recipe, seen, warm, candidate)
        new = self._openings(known, weights)
        left = self._closings(len(new))
        for n in left:
            self._closed[self.candidates[n].recipe] = known + RETRY
        kept = [n for n in range(len(self.candidates)) if n not in left]
        self.candidates = [self.candidates[n] for n in kept]
        self.standing = self.standing[kept]
        room = self._budget - len(self.candidates)
        joined = 0
        for recipe in new[:room]:
            warm = self._best(recipe)
            if recipe.memory and warm is None:
                continue
            self.candidates.append(self._learned(recipe, seen, warm, None))
            self.standing = np.append(self.standing, self._kin(recipe))
            joined += 1
        return left, joined

    def _due(self, n: int) -> int:
        """Return the number of observations at the next fit of a candidate."""
        candidate = self.candidates[n]
        if not candidate.recipe.window or self.standing[n] > self.standing.max() - HOPELESS:
            return candidate.due
        return candidate.due + (candidate.due - candidate.since)

    def _learned(
        self, recipe: LearningRecipe, seen: Floats, warm: Candidate | None, last: Candidate | None
    ) -> Candidate:
        start = None if warm is None else warm.fitted
        return learned(recipe, seen, self._rng, warm=start, last=last, symbols=self._symbols)

    def _best(self, recipe: LearningRecipe, beside: int | None = None) -> Candidate | None:
        """Return the best candidate with fixed parameters from which a recipe can start."""
        alike = [
            n
            for n, candidate in enumerate(self.candidates)
            if candidate.recipe[:2] == recipe[:2] and candidate.online is None and n != beside
        ]
        return self.candidates[max(alike, key=lambda n: self.standing[n])] if alike else None

    def _kin(self, recipe: LearningRecipe) -> float:
        """Return the standing of a new candidate: the best of its family and number of states."""
        alike = [
            place
            for place, candidate in zip(self.standing, self.candidates, strict=False)
            if candidate.recipe[:2] == recipe[:2]
        ]
        return float(min(max(alike, default=0.0), 0.0))

    def _stuck(self, n: int) -> bool:
        """Return whether online EM is far behind the fits of the same family and states."""
        mine = self.candidates[n]
        if mine.online is None:
            return False
        alike = [
            self.standing[m]
            for m, candidate in enumerate(self.candidates)
            if candidate.recipe[:2] == mine.recipe[:2] and candidate.online is None
        ]
        if max(alike, default=-np.inf) - self.standing[n] < BEHIND:
            return False
        self.standing[n] = max(alike) - 0.5 * BEHIND  # another chance
        return True

    def _openings(self, known: int, weights: Floats) -> list[LearningRecipe]:
        """Return the recipes for which there are now enough observations, in order."""
        there = {candidate.recipe for candidate in self.candidates}
        # The weight of models with the next smaller number of states.
        by_states = dict.fromkeys(self._numbers, 0.0)
        following = dict(pairwise(self._numbers))
        for candidate, weight in zip(self.candidates, weights, strict=True):
            larger = following.get(candidate.recipe.states)
            if larger is not None:
                by_states[larger] += float(weight)
        return [
            recipe
            for recipe in self._recipes
            if recipe not in there
            and known >= max(recipe.opens(), self._closed.get(recipe, 0))
            and (recipe.states <= self._freely or by_states[recipe.states] >= SUPPORT)
        ]

    def _closings(self, wanted: int) -> list[int]:
        """Return the worst candidates, which make room for new ones."""
        excess = len(self.candidates) + wanted - self._budget
        if excess <= 0:
            return []
        mixed = float(np.median(self.standing))
        worst = [
            int(n)
            for n in np.argsort(self.standing, kind="stable")
            if self.candidates[n].recipe != self._always and self.standing[n] < min(mixed, 0.0)
        ]
        return sorted(worst[:excess])


def _recipes(families: Sequence[str], states: Sequence[int]) -> list[LearningRecipe]:
    """Return all recipes, with few states first."""
    found = []
    for k in sorted(states):
        for family in families:
            found.append(LearningRecipe(family, k))
            if k > 1:
                found += [LearningRecipe(family, k, window=window) for window in WINDOWS]
            found += [LearningRecipe(family, k, memory=memory) for memory in MEMORIES]
    return found
