"""The search for the best models: which recipes are tried, and when they are fitted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import (
    Fitted,
)
from normalhedge.latent.models.emissions import Regression
from normalhedge.latent.regimes._recipes import (
    FIRST,
    AnyCandidate,
    Candidate,
    LearningRecipe,
    Order,
    Pending,
    SeriesCandidate,
    hidden_only,
    learn_online,
    learn_series,
    order_fit,
    recipes,
)

NOVEL = 0.5  # the probability that something new has begun from which on fits start from nothing
# more than three states are tried if models with the next smaller number have this weight
SUPPORT = 0.05
# online EM that is this many nats behind the best of its kind starts again from that model
BEHIND = 20.0
# models of the last rounds that are this many nats behind the best are fitted this times as rarely
HOPELESS, RARELY = 15.0, 4
# before this number of observations fits are done at once
AT_ONCE = 100
REVIEW = 50  # the number of observations between reviews of the candidates
# the number of observations from the beginning of a fit to its end. A fit of more than SHORT rounds
# takes a review more for each LONG of them; where it starts from an earlier one, for each WARM
LAG, SHORT, LONG, WARM = 10, 500, 5000, 5000
RETRY = 1000  # the number of observations after which a closed recipe may be tried again


class CandidatePool(NamedTuple):
    """The current candidates; nothing in it is ever changed in place."""

    candidates: tuple[AnyCandidate, ...]  # the candidates at the last review
    standing: Floats  # the discounted lead of each candidate over the mixture, in nats
    # the number of observations from which on a closed recipe may be tried again
    closed: dict[LearningRecipe, int]


class CandidateSearch:
    """The choice of the candidates: at most ``budget`` hidden Markov models, and other models."""

    def __init__(
        self,
        families: Sequence[str],
        states: Sequence[int],
        budget: int,
        symbols: int | None = None,
        models: Sequence[str] = (),
    ) -> None:
        self._recipes = recipes(families, states)
        self._models = [LearningRecipe(name, 0) for name in models]
        self._always = LearningRecipe(families[0], min(states))
        self._numbers = sorted(states)
        self._freely = max(3, self._numbers[0])
        self._budget, self._symbols = budget, symbols

    def begin(
        self,
        pool: CandidatePool,
        pending: Sequence[Pending],
        seen: Floats,
        weights: Floats,
        *,
        novel: bool,
    ) -> tuple[Pending, ...]:
        """Return the fits that are due after these observations, in the order of their ends.

        When something new may have begun, models of the last rounds are fitted from nothing.
        """
        known = int((~np.isnan(seen[:, 0])).sum())
        begun = {order.recipe for fits in pending for order in fits.orders}
        review = _Review(list(pool.candidates), pool.standing)
        orders = []
        for n, candidate in enumerate(review.candidates):
            if isinstance(candidate, SeriesCandidate) or candidate.online is not None:
                continue
            due = novel and candidate.recipe.window and known > candidate.since
            if candidate.recipe not in begun and (due or known >= review.due(n)):
                warm = review.best(candidate.recipe)
                orders.append(order_fit(candidate.recipe, seen, warm, candidate, novel=novel))
        new = self._openings(pool, review.candidates, known, weights)
        room = self._room(review, len(new))
        new = [recipe for recipe in new[:room] if not recipe.memory and recipe not in begun]
        orders += [order_fit(recipe, seen, review.best(recipe), None) for recipe in new]
        ends: dict[int, list[Order]] = {}
        for order in orders:
            rounds = len(seen) - order.job.first
            reviews = rounds // WARM
            if order.job.starts and rounds > SHORT:
                reviews = 1 + rounds // LONG
            lag = LAG + REVIEW * reviews if known >= AT_ONCE else 0
            ends.setdefault(known + lag, []).append(order)
        return tuple(Pending(seen, tuple(ends[due]), known, due) for due in sorted(ends))

    def end(
        self, pool: CandidatePool, fitted: Iterable[Candidate], seen: Floats, weights: Floats
    ) -> tuple[CandidatePool, list[int], int]:
        """Let fitted models take their places, then open and close recipes.

        Returns the pool, the candidates that left, and the number of those that joined.
        """
        known = int((~np.isnan(seen[:, 0])).sum())
        review = _Review(list(pool.candidates), pool.standing.copy())
        places = {candidate.recipe: n for n, candidate in enumerate(review.candidates)}
        opened = {}
        for learned in fitted:
            if learned.recipe in places:
                review.candidates[places[learned.recipe]] = learned
            else:
                opened[learned.recipe] = learned
        review.renew(seen)
        new = list(opened)
        there = {recipe[:2] for recipe in (*places, *opened) if not recipe.memory}
        new += [
            recipe
            for recipe in self._openings(pool, review.candidates, known, weights)
            if recipe.memory and recipe[:2] in there
        ]
        left = self._closings(review, len(new))
        closed = {review.candidates[n].recipe: known + RETRY for n in left}
        review.leave(left)
        room = max(self._budget - len(hidden_only(review.candidates)), 0)
        before = len(review.candidates)
        for recipe in sorted(new, key=self._recipes.index)[:room]:
            review.join(recipe, opened.get(recipe), seen)
        if review.candidates and known >= FIRST:
            # models without hidden states know nothing of covariates
            own = seen[:, :1] if self._always.family == Regression.family else seen
            review.join_series(self._models, own, self._symbols)
        after = CandidatePool(tuple(review.candidates), review.standing, pool.closed | closed)
        return after, left, len(review.candidates) - before

    def _room(self, review: "_Review", wanted: int) -> int:
        """Return how many candidates may join, once the worst have made room."""
        there = len(hidden_only(review.candidates)) - len(self._closings(review, wanted))
        return self._budget - there

    def _openings(
        self, pool: CandidatePool, candidates: list[AnyCandidate], known: int, weights: Floats
    ) -> list[LearningRecipe]:
        """Return the recipes for which there are now enough observations, in order."""
        there = {candidate.recipe for candidate in candidates}
        # The weight of models with the next smaller number of states.
        by_states = dict.fromkeys(self._numbers, 0.0)
        following = dict(pairwise(self._numbers))
        for candidate, weight in zip(candidates, weights, strict=True):
            larger = following.get(candidate.recipe.states)
            if larger is not None:
                by_states[larger] += float(weight)
        return [
            recipe
            for recipe in self._recipes
            if recipe not in there
            and known >= max(recipe.opens(), pool.closed.get(recipe, 0))
            and (recipe.states <= self._freely or by_states[recipe.states] >= SUPPORT)
        ]

    def _closings(self, review: "_Review", wanted: int) -> list[int]:
        """Return the worst candidates, which make room for new ones."""
        excess = len(hidden_only(review.candidates)) + wanted - self._budget
        if excess <= 0 or not review.candidates:
            return []
        standing = review.standing
        mixed = float(np.median(standing))
        worst = [
            int(n)
            for n in np.argsort(standing, kind="stable")
            if isinstance(review.candidates[n], Candidate)
            and review.candidates[n].recipe != self._always
            and standing[n] < min(mixed, 0.0)
        ]
        return sorted(worst[:excess])


@dataclass
class _Review:
    """The candidates and their standings while they are reviewed."""

    candidates: list[AnyCandidate]
    standing: Floats
    # the candidates of a family and number of states; and whether only these without online EM
    kinds: dict[tuple[str, int, bool], list[int]] | None = None

    def renew(self, seen: Floats) -> None:
        """Let models that are lost begin again."""
        for n, candidate in enumerate(self.candidates):
            if isinstance(candidate, Candidate) and self.stuck(n):
                warm = self.best(candidate.recipe, beside=n)
                if warm is not None:
                    self.candidates[n] = learn_online(candidate.recipe, seen, warm)

    def leave(self, places: list[int]) -> None:
        """Let candidates leave."""
        kept = [n for n in range(len(self.candidates)) if n not in places]
        self.candidates, self.kinds = [self.candidates[n] for n in kept], None
        self.standing = self.standing[kept]

    def join(self, recipe: LearningRecipe, fitted: Candidate | None, seen: Floats) -> None:
        """Let a fitted candidate join; without it, online EM from the best model of its kind."""
        candidate, warm = fitted, self.best(recipe)
        if candidate is None and warm is not None:
            candidate = learn_online(recipe, seen, warm)
        if candidate is not None:
            self._append(candidate, self.kin(recipe))

    def join_series(
        self, recipes: Iterable[LearningRecipe], seen: Floats, symbols: int | None
    ) -> None:
        """Let models without hidden states join that are not there."""
        there = {candidate.recipe for candidate in self.candidates}
        for recipe in recipes:
            if recipe not in there:
                self._append(learn_series(recipe, seen, symbols), 0.0)

    def _append(self, candidate: AnyCandidate, standing: float) -> None:
        self.candidates.append(candidate)
        self.kinds = None
        self.standing = np.append(self.standing, standing)

    def due(self, n: int) -> int:
        """Return the number of observations at the next fit of a candidate."""
        candidate = self.candidates[n]
        assert isinstance(candidate, Candidate)
        if not candidate.recipe.window or self.standing[n] > self.standing.max() - HOPELESS:
            return candidate.due
        return candidate.due + (RARELY - 1) * (candidate.due - candidate.since)

    def best(self, recipe: LearningRecipe, beside: int | None = None) -> Fitted | None:
        """Return the best model with fixed parameters from which a recipe can start."""
        alike = [n for n in self._alike(recipe, fixed=True) if n != beside]
        if not alike:
            return None
        best = self.candidates[max(alike, key=self.standing.__getitem__)]
        return best.fitted if isinstance(best, Candidate) else None

    def kin(self, recipe: LearningRecipe) -> float:
        """Return the standing of a new candidate: the best of its family and number of states."""
        alike = self.standing[self._alike(recipe)].tolist()
        return float(min(max(alike, default=0.0), 0.0))

    def stuck(self, n: int) -> bool:
        """Return whether online EM is far behind the fits of the same family and states."""
        mine = self.candidates[n]
        if isinstance(mine, SeriesCandidate) or mine.online is None:
            return False
        lead = self.standing[self._alike(mine.recipe, fixed=True)].max(initial=-np.inf)
        if lead - self.standing[n] < BEHIND:
            return False
        self.standing[n] = lead - 0.5 * BEHIND  # another chance
        return True

    def _alike(self, recipe: LearningRecipe, *, fixed: bool = False) -> list[int]:
        """Return the candidates of the same family and states; on request, without online EM."""
        if self.kinds is None:
            self.kinds = {}
            for n, candidate in enumerate(self.candidates):
                family, states, _, memory = candidate.recipe
                self.kinds.setdefault((family, states, False), []).append(n)
                if not memory:
                    self.kinds.setdefault((family, states, True), []).append(n)
        return self.kinds.get((recipe.family, recipe.states, fixed), [])
