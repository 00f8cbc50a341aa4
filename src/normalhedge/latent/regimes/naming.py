"""What the states of candidates mean: regimes, defined by one of them and matched by the others."""

import math
from typing import Any, NamedTuple

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.latent.models.fitted import Fitted, stationary
from normalhedge.latent.regimes.candidates import Candidate, LearningRecipe
from normalhedge.latent.regimes.matching import Identity, Labels, likeness, merged, overlap

MEMORY = 1000
"""Rounds after which a log score counts for 1/e, in the choice of the number of states."""

EVIDENCE = 4.0
"""Nats that a further state must be worth in all."""

HOLD = 3.0
"""Nats by which another candidate must be ahead to define the regimes."""

WHOLE = 10.0
"""Nats by which a model of the last rounds must be ahead of one of all rounds to define them."""

RARE, RARITY = 0.01, 20.0
"""A model with a state that has a smaller share of rounds must be ahead by so many nats."""

RECENT = 500
"""Rounds by which the states of candidates are matched."""


class Parameters(NamedTuple):
    """What a regime is like.

    Attributes
    ----------
    mean, deviation
        Of observations, a number or one for each column.
    stay
        The probability that the regime stays for another round.
    share
        The share of rounds it has in the long run.
    """

    mean: Any
    deviation: Any
    stay: float
    share: float


class Naming:
    """The regimes: how many there are, and which states of the candidates mean which of them.

    The number of regimes is the least number of states k whose models, weighed as they are, are
    not much behind those with another number j:

        sum_t (1 - 1/1000)^(now - t) (ln p_j(y_t) - ln p_k(y_t)) <= max(4, worth * rounds)

    where rounds are counted with the same forgetting. Of the candidates with k states the one that
    was best, with the same forgetting, defines the regimes; another takes over when it is 3 nats
    ahead. A model of the last rounds, which may all be calm, must be 10 nats ahead of one of all
    rounds, and one with a state that is rare 20. States of it that are much alike are one regime. A
    state of any other candidate means each regime with the share of its recent rounds in which the
    regime was there.

    Parameters
    ----------
    most
        The largest number of states.
    worth
        Nats a round that a further state must add.
    """

    def __init__(self, most: int, worth: float) -> None:
        self._most, self._worth = most, worth
        self._identity = Identity(most)
        self._ahead = np.zeros(most + 1)
        self._rounds = 0.0
        self._groups = np.empty((0, 0))
        self._leave, self._alike = np.empty((0, most)), np.empty(0)
        self.maps = np.empty((0, most, most))
        self.model: Fitted | None = None
        self._recipe: LearningRecipe | None = None

    def remember(self, ahead: Floats, weights: Floats) -> Floats:
        """Learn how far candidates were ahead of the mixture, T x N, in nats, weighed like this.

        Returns
        -------
        ndarray
            What is left of what was remembered before, and how far each was ahead in these rounds.
        """
        fading = (1.0 - 1.0 / MEMORY) ** np.arange(len(ahead) - 1, -1, -1)
        left = (1.0 - 1.0 / MEMORY) ** len(ahead)
        weights = weights + 1e-9
        mixed = (weights * np.exp(np.clip(ahead, -600.0, 600.0))) @ self._groups
        gained = np.log(mixed + 1e-290) - np.log(weights @ self._groups + 1e-290)
        self._ahead = left * self._ahead + fading @ gained
        self._rounds = left * self._rounds + float(fading.sum())
        return np.concatenate([[left], fading @ np.clip(ahead, -20.0, 20.0)])

    def match(self, candidates: list[Candidate], standing: Floats, seen: Floats) -> None:
        """Define the regimes anew, after a review of the candidates.

        Parameters
        ----------
        candidates
            Those there are now.
        standing
            How far each is ahead of the mixture, in nats, with forgetting.
        seen
            All observations so far, T x d.
        """
        recent = seen[-RECENT:]
        states = np.array([candidate.recipe.states for candidate in candidates])
        self._groups = np.eye(self._most + 1)[states]
        known = seen[~np.isnan(seen[:, 0])]
        leader = self._choice(candidates, standing, known)
        models = [candidate.now() for candidate in candidates]
        beliefs = [model.smoothed(recent)[0] for model in models]
        chosen = _simplified(models[leader])
        current = chosen.smoothed(recent)[0]
        shared = None
        if self.model is not None:
            alike = likeness(chosen.emission, self.model.emission)
            shared = overlap(current, self.model.smoothed(recent)[0], alike)
        numbers = self._identity.follow(chosen.emission, shared)
        self.model = chosen
        self._alike = (states == states[leader]).astype(np.float64)
        self.maps = np.zeros((len(models), self._most, self._most))
        self._leave = np.zeros((len(models), self._most))
        for n, model in enumerate(models):
            alike = likeness(model.emission, chosen.emission)
            table = overlap(beliefs[n], current, alike)
            table /= table.sum(axis=1, keepdims=True)
            k = model.states
            self.maps[n, :k, numbers] = table.T
            if self._alike[n]:
                regime = table.argmax(axis=1)
                other = regime[:, np.newaxis] != regime
                self._leave[n, :k] = (model.transition * other).sum(axis=1)

    def _choice(self, candidates: list[Candidate], standing: Floats, seen: Floats) -> int:
        """Return which candidate defines the regimes."""
        there = sorted({candidate.recipe.states for candidate in candidates})
        constant = not np.ptp(seen, axis=0).any()
        number = there[0] if constant else self._number(there)
        worth = np.full(len(candidates), -np.inf)
        for n, candidate in enumerate(candidates):
            recipe = candidate.recipe
            if recipe.states != number:
                continue
            worth[n] = standing[n] + HOLD * (recipe == self._recipe)
            worth[n] += WHOLE * (not recipe.window and not recipe.memory)
            worth[n] -= RARITY * (stationary(candidate.transition).min() < RARE)
        leader = int(worth.argmax())
        self._recipe = candidates[leader].recipe
        return leader

    def _number(self, there: list[int]) -> int:
        """Return the least number of states that no other number is much better than."""
        slack = max(EVIDENCE, self._worth * self._rounds)
        best = self._ahead[there].max()
        return next(k for k in there if self._ahead[k] >= best - slack)

    def regimes(self, weights: Floats, filtered: Floats) -> Floats:
        """Return the probability of each regime, T x most, from states, T x N x most."""
        states = weights[..., np.newaxis] * filtered
        return np.asarray(states.reshape(len(states), -1) @ self.maps.reshape(-1, self._most))

    def switching(self, weights: Floats, filtered: Floats) -> Floats:
        """Return the probability of another regime next, by models with as many states."""
        states = weights[..., np.newaxis] * filtered
        total = np.maximum(weights @ self._alike, 1e-300)
        return np.asarray(states.reshape(len(states), -1) @ self._leave.ravel() / total)

    def renumber(self) -> Labels:
        """Renumber the regimes, in their order; return the new number of each old one."""
        if self.model is None:
            return np.arange(self._most)
        new = self._identity.in_order(self.model.emission)
        self._identity.renumber(new)
        maps = np.empty_like(self.maps)
        maps[..., new] = self.maps
        self.maps = maps
        return new

    def parameters(self) -> dict[int, Parameters]:
        """Return what each regime is like now, by its number."""
        if self.model is None:
            return {}
        means, variances = self.model.emission.moments()
        shares = self.model.stationary()
        states = {int(number): s for s, number in enumerate(self._identity.numbers)}
        return {
            number: Parameters(
                _plain(means[s]),
                _plain(np.sqrt(variances[s])),
                float(self.model.transition[s, s]),
                float(shares[s]),
            )
            for number, s in sorted(states.items())
        }


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def _simplified(model: Fitted) -> Fitted:
    """Return a model with one state for those that are much alike, that with the largest share."""
    groups = merged(model.emission)
    if groups.max() + 1 == model.states:
        return model
    shares = model.stationary() + 1e-12
    member = np.eye(groups.max() + 1)[groups]
    within = shares[:, np.newaxis] * member
    within /= within.sum(axis=0)
    kept = within.argmax(axis=0)
    emission = type(model.emission).from_parameters(model.emission.parameters()[:, kept])
    transition = within.T @ model.transition @ member
    return Fitted(model.initial @ member, transition, emission, math.nan, 0, np.empty(0))
