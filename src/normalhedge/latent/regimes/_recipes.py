"""Recipes of models, the models learned by them, and the fits that are under way."""

import copy
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import (
    Fits,
    Fitted,
    Job,
    OnlineEM,
    begin_fits,
    stationary,
    units_for,
)
from normalhedge.latent.regimes import _series_models
from normalhedge.latent.regimes._series_models import SeriesModel

FIRST = 4  # observations needed for the first fit of all
ENOUGH = 25  # observations needed for each state of a model before the first fit
# a model of all observations is fitted again when their number has grown by this factor
GROWTH = 1.25
PARTS = 2.5  # a model of the last observations is fitted again after this part of its window
ITERATIONS = 25  # iterations of a fit that starts from the last one
TOLERANCE = 0.2  # a fit ends when an iteration adds fewer nats than this
# starts of a fit from nothing, which is due after each window, when the observations have doubled,
# or when something new may have begun
FRESH = 3
WINDOWS = (250, 500)  # the numbers of last observations to which models are fitted
MEMORY = 100  # the memory of online EM, in observations
# the memory, and the rate of the common drift, of a few normal states that drift together
DRIFT_MEMORY, DRIFT, DRIFT_STATES = 200, 0.04, (2, 3)
# a share of the work is done whenever this many observations have come
EVERY, LONG_EVERY = 2, 10


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
            source = f"online, memory {self.memory}" + ", drift" * (self.drift > 0.0)
        elif self.window:
            source = f"the last {self.window} rounds"
        return f"{self.family}, {self.states} {plural}, {source}"

    @property
    def drift(self) -> float:
        """The rate at which all states drift together."""
        return DRIFT if self.memory == DRIFT_MEMORY else 0.0

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

    def stationary(self) -> Floats:
        """Return the stationary distribution of the states."""
        return self.fitted.stationary() if self.online is None else stationary(self.transition)

    def now(self) -> Fitted:
        """Return the model with its current parameters."""
        if self.online is None:
            return self.fitted
        even = np.full(self.recipe.states, 1.0 / self.recipe.states)
        return Fitted(even, self.online.transition, self.online.emission)

    @property
    def transition(self) -> Floats:
        """The current transition probabilities."""
        return self.fitted.transition if self.online is None else self.online.transition


class SeriesCandidate(NamedTuple):
    """A model without hidden states."""

    recipe: LearningRecipe  # its name
    numbers: Floats  # all that it has learned, see `SeriesModel`

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
    return SeriesCandidate(recipe, _series_models.MODELS[recipe.family].learn(seen, symbols))


class Order(NamedTuple):
    """A fit that was begun at a review."""

    recipe: LearningRecipe
    job: Job
    # due, fresh: the number of observations at the next fit, and at the next from nothing
    due: int
    fresh: int


class Pending(NamedTuple):
    """Fits that were begun at a review, and the time at which their models take their places.

    The work is divided among the rounds between. How far it has come is no part of the state: what
    is missing is done at the end, with the same result.
    """

    seen: Floats  # the observations at the review
    orders: tuple[Order, ...]
    # begun, due: the number of observations at the review, and at the end of the fits
    begun: int
    due: int

    def due_now(self, observed: int) -> float:
        """Return the share of the rest of the work that is due in this round; often none."""
        every = EVERY if self.due - self.begun < 10 * LONG_EVERY else LONG_EVERY
        if observed % every or observed == self.begun:
            return 0.0
        return 1.0 / max((self.due - observed) // every, 1)

    def fits(self, rng: np.random.Generator, symbols: int | None) -> Fits:
        """Return the fits before their first iteration."""
        jobs = [order.job for order in self.orders]
        return begin_fits(self.seen, jobs, copy.deepcopy(rng), TOLERANCE, symbols=symbols)

    def candidates(self, models: Iterable[Fitted]) -> list[Candidate]:
        """Return the candidates of the fitted models, which have not been filtered yet."""
        return [
            Candidate(order.recipe, model, np.empty(0), self.begun, order.due, order.fresh, None)
            for order, model in zip(self.orders, models, strict=True)
        ]


def order_fit(
    recipe: LearningRecipe,
    seen: Floats,
    warm: Fitted | None,
    last: Candidate | None,
    *,
    novel: bool = False,
) -> Order:
    """Return the fit of a recipe after the observations so far."""
    known = int((~np.isnan(seen[:, 0])).sum())
    after = known + recipe.window if recipe.window else 2 * known
    fresh = after if last is None else last.fresh
    starts = FRESH if warm is None else 0
    if known >= fresh or (novel and recipe.window):
        starts, fresh = FRESH, after
    first = max(len(seen) - recipe.window, 0) if recipe.window else 0
    if last is not None and recipe.window == 0:
        warm = last.fitted
    if np.isnan(seen[first:, 0]).all():
        first = 0
    iterations = ITERATIONS if starts == 0 else 3 * ITERATIONS
    step = int(recipe.window / PARTS) if recipe.window else max(int((GROWTH - 1.0) * known), FIRST)
    job = Job(recipe.family, recipe.states, first, starts, iterations, warm)
    return Order(recipe, job, known + step, fresh)


def learn_online(recipe: LearningRecipe, seen: Floats, warm: Fitted) -> Candidate:
    """Return online EM that starts from a model."""
    known = int((~np.isnan(seen[:, 0])).sum())
    filtered = warm.smooth(seen[-max(recipe.memory, 50) :])[0][-1]
    forgetting, units = 1.0 - 1.0 / recipe.memory, units_for(warm, seen)
    online = OnlineEM(
        warm, forgetting, beliefs=filtered, previous=seen[-1], units=units, drift=recipe.drift
    )
    return Candidate(recipe, warm, filtered, known, 2**62, 2**62, online)


def recipes(families: Sequence[str], states: Sequence[int]) -> list[LearningRecipe]:
    """Return all recipes, with few states first."""
    recipes = []
    for k in sorted(states):
        for family in families:
            recipes.append(LearningRecipe(family, k))
            if k > 1:
                recipes += [LearningRecipe(family, k, window=window) for window in WINDOWS]
            memories = [MEMORY]
            if k in DRIFT_STATES and family == "gaussian":
                memories.insert(0, DRIFT_MEMORY)
            recipes += [LearningRecipe(family, k, memory=memory) for memory in memories]
    return recipes
