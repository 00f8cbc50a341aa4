"""Recipes of models, the models learned by them, and the search for the best."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import Fitted, OnlineEM, fit_series
from normalhedge.latent.regimes import _series_models
from normalhedge.latent.regimes._series_models import SeriesModel

FIRST = 4  # observations needed for the first fit of all
ENOUGH = 25  # observations needed for each state of a model before the first fit
# a model of all observations is fitted again when their number has grown by this factor
GROWTH = 1.25
PARTS = 5  # a model of the last observations is fitted again after this part of its window
ITERATIONS = 25  # iterations of a fit that starts from the last one
TOLERANCE = 0.01  # a fit ends when an iteration adds fewer nats than this
# starts of a fit from nothing, which is due after each window, or when the observations have
# doubled
FRESH = 3
WINDOWS = (250, 500)  # the numbers of last observations to which models are fitted
MEMORIES = (100,)  # the memories of online EM, in observations
# more than three states are tried if models with the next smaller number have this weight
SUPPORT = 0.05
# online EM that is this many nats behind the best of its kind starts again from that model
BEHIND = 20.0
# models of the last rounds that are this many nats behind the best are fitted half as often
HOPELESS = 15.0
RETRY = 1000  # the number of observations after which a closed recipe may be tried again


class LearningRecipe(NamedTuple):
    """A way to learn a model: an expert of the hedger."""

    family: str  # the family of emissions; the name of a model without hidden states
    states: int  # the number of states; 0 for a model without hidden states
    window: int = 0  # learn by EM from this many of the last observations; 0 for all observations
    memory: int = 0  # learn by online EM with this memory, in observations; 0 for EM

    def __str__(self) -> str:
        if not self.states:
            return self.family.replace("_", " ")
        plural = "state" if self.states == 1 else "states"
        source = "all rounds"
        if self.memory:
            source = f"online, memory {self.memory}"
        elif self.window:
            source = f"the last {self.window} rounds"
        return f"{self.family}, {self.states} {plural}, {source}"

    def kind(self) -> str:
        """Return how the series changes, by this model: one of `KINDS` of the labels."""
        if not self.states:
            return _series_models.MODELS[self.family].kind
        if self.states > 1:
            return "regimes"
        return "wandering" if self.window or self.memory else "nothing"

    def opens(self) -> int:
        """Return the number of observations needed before the model is learned."""
        if not self.states:
            return FIRST
        if self.states == 1 and not self.window:
            return FIRST if not self.memory else ENOUGH
        return max(ENOUGH * self.states, 3 * self.window // 2)


class Candidate(NamedTuple):
    """A model learned by a recipe, which is fitted again when it is due."""

    recipe: LearningRecipe  # the way to learn it
    fitted: Fitted  # the last fit
    filtered: Floats  # P(S_t | y_1..y_t)
    # since, due: the number of observations at the last fit, and at the next
    since: int
    due: int
    fresh: int  # the number of observations at the next fit that starts from nothing
    # the online EM that updates the parameters; None in recipes without a memory
    online: OnlineEM | None

    def now(self) -> Fitted:
        """Return the model with its current parameters."""
        if self.online is None:
            return self.fitted
        even = np.full(self.recipe.states, 1.0 / self.recipe.states)
        return Fitted(even, self.online.transition, self.online.emission)


class SeriesCandidate(NamedTuple):
    """A model without hidden states, which is learned again from the start when it is due."""

    recipe: LearningRecipe  # its name
    numbers: Floats  # all that it has learned, see `SeriesModel`
    # since, due: the number of observations when it was last learned from the start, and at the
    # next time
    since: int
    due: int

    @property
    def model(self) -> SeriesModel:
        """The model, which has no state of its own."""
        return _series_models.MODELS[self.recipe.family]


AnyCandidate = Candidate | SeriesCandidate


def hidden_only(candidates: Iterable[AnyCandidate]) -> list[Candidate]:
    """Return the candidates that are hidden Markov models."""
    return [candidate for candidate in candidates if isinstance(candidate, Candidate)]


def learn_series(
    recipe: LearningRecipe, seen: Floats, symbols: int | None = None
) -> SeriesCandidate:
    """Return a model without hidden states after the observations so far."""
    known = int((~np.isnan(seen[:, 0])).sum())
    numbers = _series_models.MODELS[recipe.family].learn(seen, symbols)
    return SeriesCandidate(recipe, numbers, known, 2 * known)


def learn(
    recipe: LearningRecipe,
    seen: Floats,
    rng: np.random.Generator,
    *,
    warm: Fitted | None = None,
    last: Candidate | None = None,
    symbols: int | None = None,
) -> Candidate:
    """Return the candidate of a recipe after the observations so far."""
    known = int((~np.isnan(seen[:, 0])).sum())
    if recipe.memory:
        assert warm is not None
        filtered = warm.smooth(seen[-max(recipe.memory, 50) :])[0][-1]
        online = OnlineEM(warm, 1.0 - 1.0 / recipe.memory, beliefs=filtered, previous=seen[-1])
        return Candidate(recipe, warm, filtered, known, 2**62, 2**62, online)
    after = known + recipe.window if recipe.window else 2 * known
    fresh = after if last is None else last.fresh
    starts = FRESH if warm is None else 0
    if known >= fresh:
        starts, fresh = FRESH, after
    part = seen[-recipe.window :]
    if last is not None and recipe.window == 0:
        warm = last.fitted
    if np.isnan(part[:, 0]).all():
        part = seen
    fitted = fit_series(
        part,
        recipe.states,
        recipe.family,
        rng=rng,
        starts=starts,
        iterations=ITERATIONS if starts == 0 else 3 * ITERATIONS,
        tolerance=TOLERANCE,
        warm=warm,
        symbols=symbols,
    )
    filtered = fitted.smooth(part)[0][-1]
    step = recipe.window // PARTS if recipe.window else max(int((GROWTH - 1.0) * known), FIRST)
    return Candidate(recipe, fitted, filtered, known, known + step, fresh, None)


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
        self._recipes = _recipes(families, states)
        self._models = [LearningRecipe(name, 0) for name in models]
        self._always = LearningRecipe(families[0], min(states))
        self._numbers = sorted(states)
        self._freely = max(3, self._numbers[0])
        self._budget, self._symbols = budget, symbols

    def review(
        self, pool: CandidatePool, seen: Floats, weights: Floats, rng: np.random.Generator
    ) -> tuple[CandidatePool, list[int], int]:
        """Fit the candidates that are due, then open and close recipes."""
        known = int((~np.isnan(seen[:, 0])).sum())
        review = _Review(list(pool.candidates), pool.standing.copy())
        relearn = partial(learn, seen=seen, rng=rng, symbols=self._symbols)
        for n, candidate in enumerate(review.candidates):
            if isinstance(candidate, SeriesCandidate):
                if known >= candidate.due:
                    review.candidates[n] = learn_series(candidate.recipe, seen, self._symbols)
            elif known >= review.due(n) or review.stuck(n):
                warm = review.best(candidate.recipe, beside=n if candidate.online else None)
                review.candidates[n] = relearn(candidate.recipe, warm=warm, last=candidate)
        new = self._openings(pool, review.candidates, known, weights)
        left = self._closings(review, len(new))
        closed = {review.candidates[n].recipe: known + RETRY for n in left}
        kept = [n for n in range(len(review.candidates)) if n not in left]
        review = _Review([review.candidates[n] for n in kept], review.standing[kept])
        room, joined = self._budget - len(hidden_only(review.candidates)), 0
        for recipe in new[:room]:
            warm = review.best(recipe)
            if recipe.memory and warm is None:
                continue
            place = review.kin(recipe)
            review.candidates.append(relearn(recipe, warm=warm))
            review.standing = np.append(review.standing, place)
            joined += 1
        there = {candidate.recipe for candidate in review.candidates}
        for recipe in self._models:
            if recipe not in there and review.candidates and known >= recipe.opens():
                review.candidates.append(learn_series(recipe, seen, self._symbols))
                review.standing = np.append(review.standing, 0.0)
                joined += 1
        after = CandidatePool(tuple(review.candidates), review.standing, pool.closed | closed)
        return after, left, joined

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
        if excess <= 0:
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

    def due(self, n: int) -> int:
        """Return the number of observations at the next fit of a candidate."""
        candidate = self.candidates[n]
        if not candidate.recipe.window or self.standing[n] > self.standing.max() - HOPELESS:
            return candidate.due
        return candidate.due + (candidate.due - candidate.since)

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
        return [
            n
            for n, candidate in enumerate(self.candidates)
            if isinstance(candidate, Candidate)
            and candidate.recipe[:2] == recipe[:2]
            and not (fixed and candidate.online)
        ]


def _recipes(families: Sequence[str], states: Sequence[int]) -> list[LearningRecipe]:
    """Return all recipes, with few states first."""
    recipes = []
    for k in sorted(states):
        for family in families:
            recipes.append(LearningRecipe(family, k))
            if k > 1:
                recipes += [LearningRecipe(family, k, window=window) for window in WINDOWS]
            recipes += [LearningRecipe(family, k, memory=memory) for memory in MEMORIES]
    return recipes
