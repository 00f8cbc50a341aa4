"""Recipes to learn a hidden Markov model, and the models learned by them."""

import math
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import Fitted, OnlineEM, fit_series
from normalhedge.latent.models.emissions import Emission

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


class LearningRecipe(NamedTuple):
    """A way to learn a model: an expert of the hedger."""

    family: str  # the family of emissions
    states: int  # the number of states
    window: int = 0  # learn by EM from this many of the last observations; 0 for all observations
    memory: int = 0  # learn by online EM with this memory, in observations; 0 for EM

    def __str__(self) -> str:
        plural = "state" if self.states == 1 else "states"
        source = "all rounds"
        if self.memory:
            source = f"online, memory {self.memory}"
        elif self.window:
            source = f"the last {self.window} rounds"
        return f"{self.family}, {self.states} {plural}, {source}"

    def opens(self) -> int:
        """Return the number of observations needed before the model is learned."""
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

    @property
    def emission(self) -> Emission:
        """The current emission."""
        return self.fitted.emission if self.online is None else self.online.emission

    @property
    def transition(self) -> Floats:
        """The current transition probabilities."""
        return self.fitted.transition if self.online is None else self.online.transition

    def now(self) -> Fitted:
        """Return the model with its current parameters."""
        if self.online is None:
            return self.fitted
        k = self.recipe.states
        return Fitted(np.full(k, 1.0 / k), self.transition, self.emission, math.nan, 0, np.empty(0))


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
        filtered = warm.smoothed(seen[-max(recipe.memory, 50) :])[0][-1]
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
    filtered = fitted.smoothed(part)[0][-1]
    step = recipe.window // PARTS if recipe.window else max(int((GROWTH - 1.0) * known), FIRST)
    return Candidate(recipe, fitted, filtered, known, known + step, fresh, None)
