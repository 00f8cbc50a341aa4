"""The map from states of candidates to regimes, which one of the candidates defines."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import Fitted, scale
from normalhedge.latent.models.emissions import Categorical, Emission, Regression
from normalhedge.latent.regimes._candidates import CandidatePool
from normalhedge.latent.regimes._filter_bank import FilterBank
from normalhedge.latent.regimes._matching import (
    Identity,
    Labels,
    likeness,
    likeness_of_normals,
    merge_similar,
    overlap,
)
from normalhedge.latent.regimes._recipes import Candidate, LearningRecipe

# the memory of the choice of the number of states: after this many rounds a score counts 1/e
MEMORY = 1000
EVIDENCE = 4.0  # the total nats that an additional state must add
HOLD = 3.0  # the nats by which another candidate must lead to define the regimes
# the nats by which a model of the last rounds must lead a model of all rounds to define them
WHOLE = 10.0
# a model with a state rarer than this share of rounds must lead by this many nats
RARE, RARITY = 0.01, 20.0
LEAST = 1e-12  # added to each weight, as some hedgers give all of it to a few models
# the kinds of models, by how the series changes
KINDS = ("nothing", "regimes", "breaks", "wandering")
RECENT = 500  # the number of last rounds on which the states of candidates are matched


class Parameters(NamedTuple):
    """The parameters of a regime."""

    # mean, deviation: of observations, a number, or an array with one for each column
    mean: Any
    deviation: Any
    stay: float  # the probability that the regime lasts for another round
    share: float  # the share of rounds that the regime has in the long run
    # the change of the mean by each covariate, whose mean is where all covariates are 0; else None
    slopes: Any = None


class RegimeLabels(NamedTuple):
    """The regimes: their number, and the regimes that each state of a candidate stands for.

    The number of regimes is the smallest number of states k whose models, with their weights, are
    not far behind the models with any other number j:

        sum_t (1 - 1/1000)^(now - t) (ln p_j(y_t) - ln p_k(y_t)) <= max(4, worth * rounds)

    where rounds are counted with the same discount. The candidate with k states and the best
    discounted score defines the regimes; another one takes over when it is 3 nats ahead. A model of
    the last rounds, which may all be calm, must be 10 nats ahead of a model of all rounds, and a
    model with a rare state 20. Very similar states of the model are one regime. A state of any
    other candidate stands for each regime with the share of its recent rounds in which that regime
    was present.

    Nothing in it is ever changed in place.
    """

    identity: Identity  # the numbers of the regimes
    # ahead, rounds: the discounted lead of the models with each number of states (0: of the models
    # without hidden states), and number of rounds
    ahead: Floats
    rounds: float
    groups: Floats  # whether each candidate has each number of states, N x (most + 1)
    maps: Floats  # the share of each regime in each state of each candidate, N x most x most
    leave: Floats  # the probability that the regime of each state ends, N x most
    alike: Floats  # whether each candidate has as many states as there are regimes, N
    # model, recipe: the model that defines the regimes, and the recipe that it was learned by
    model: Fitted | None = None
    recipe: LearningRecipe | None = None
    # kinds, evidence: whether each candidate is of each of `KINDS`, N x kinds; and by how many nats
    # each kind has predicted better than the first one, over all rounds
    kinds: Floats = np.zeros((0, len(KINDS)))
    evidence: Floats = np.zeros(len(KINDS))

    @classmethod
    def init(cls, most: int) -> Self:
        """Return the labels before the first model, of at most so many states."""
        maps, leave = np.empty((0, most, most)), np.empty((0, most))
        identity, ahead = Identity.init(most), np.zeros(most + 1)
        return cls(identity, ahead, 0.0, np.empty((0, 0)), maps, leave, np.empty(0))

    @property
    def most(self) -> int:
        """The largest number of states."""
        return len(self.ahead) - 1

    def remember(
        self,
        logs: Floats,
        weights: Floats,
        states: npt.NDArray[np.int64],
        known: npt.NDArray[np.bool_],
        standing: Floats,
    ) -> tuple[Self, Floats, Floats]:
        """Learn the log densities of candidates with these weights and numbers of states.

        Returns the labels, the discounted lead of each candidate, and the log densities of the
        mixture. These are leads over the hidden Markov models together: a number of states that is
        not tried yet must not have the score of a break.
        """
        ahead, standing, mixed = self.ahead.copy(), standing.copy(), np.empty(len(logs))
        lead = self.evidence.copy()
        keep = 1.0 - 1.0 / MEMORY
        rounds = _core.remember_logs(
            logs,
            weights,
            states,
            known,
            keep,
            self.rounds,
            ahead,
            standing,
            self.kinds,
            lead,
            mixed,
        )
        labels = self._replace(ahead=ahead, rounds=rounds, evidence=lead)
        return labels, standing, mixed

    def match(
        self, pool: CandidatePool, bank: FilterBank, seen: Floats, worth: float
    ) -> tuple[Self, Floats]:
        """Define the regimes again, after a review of the candidates.

        Returns the labels, and where the candidates stand after the last rounds, N x most.
        """
        candidates, most, recent = pool.candidates, self.most, seen[-RECENT:]
        hidden = {n: c for n, c in enumerate(candidates) if isinstance(c, Candidate)}
        known = seen[~np.isnan(seen[:, 0])]
        leader = self._choice(hidden, pool.standing, known, worth)
        beliefs = bank.smooth(recent)
        units = scale(known) if bank.emission.predicted < bank.emission.columns else None
        chosen = _simplify(hidden[leader].now(), units)
        current, alike_by = chosen.smooth(recent)[0], _compared(chosen, units)
        shared = None
        if self.model is not None:
            similar = likeness(alike_by, _compared(self.model, units))
            shared = overlap(current, self.model.smooth(recent)[0], similar)
        identity = self.identity.follow(alike_by, shared)
        if isinstance(chosen.emission, Categorical):
            similar = np.zeros((len(candidates), most, chosen.states))
            for n, candidate in hidden.items():
                emission = candidate.now().emission
                similar[n, : candidate.recipe.states] = likeness(emission, chosen.emission)
        else:
            moments = (part.reshape(chosen.states, -1) for part in alike_by.moments())
            similar = likeness_of_normals(*bank.moments(units), *moments)
        tables = overlap(beliefs, current, similar)
        tables /= tables.sum(axis=2, keepdims=True)
        maps, leave = np.zeros((len(candidates), most, most)), np.zeros((len(candidates), most))
        alike = (bank.states == bank.states[leader]).astype(np.float64)
        for n, candidate in hidden.items():
            k = candidate.recipe.states
            maps[n, :k, identity.numbers] = tables[n, :k].T
            if alike[n]:
                regime = tables[n, :k].argmax(axis=1)
                other = regime[:, np.newaxis] != regime
                leave[n, :k] = (candidate.transition * other).sum(axis=1)
        labels = self._replace(
            identity=identity,
            groups=np.eye(most + 1)[bank.states],
            kinds=np.array(
                [[c.recipe.kind() == kind for kind in KINDS] for c in candidates], float
            ),
            maps=maps,
            leave=leave,
            alike=alike,
            model=chosen,
            recipe=candidates[leader].recipe,
        )
        return labels, beliefs[:, -1]

    def _choice(
        self,
        candidates: Mapping[int, Candidate],
        standing: Floats,
        seen: Floats,
        worth: float,
    ) -> int:
        """Return the index of the candidate that defines the regimes."""
        there = sorted({candidate.recipe.states for candidate in candidates.values()})
        constant = not np.ptp(seen, axis=0).any()
        number = there[0] if constant else self._number(there, worth)
        places = np.full(len(standing), -np.inf)
        for n, candidate in candidates.items():
            recipe = candidate.recipe
            if recipe.states != number:
                continue
            places[n] = standing[n] + HOLD * (recipe == self.recipe)
            places[n] += WHOLE * (not recipe.window and not recipe.memory)
            places[n] -= RARITY * (candidate.stationary().min() < RARE)
        return int(places.argmax())

    def _number(self, there: list[int], worth: float) -> int:
        """Return the smallest number of states that no other number clearly beats."""
        slack = max(EVIDENCE, worth * self.rounds)
        best = self.ahead[there].max()
        return next(k for k in there if self.ahead[k] >= best - slack)

    def without_breaks(self, weights: Floats) -> Floats:
        """Return the weights of the models that a break surprises, T x N, summing to one."""
        if not len(self.kinds):  # of a file from before there were models of breaks
            return weights
        rest = (weights + LEAST) * (1.0 - self.kinds[:, KINDS.index("breaks")])
        return np.asarray(rest / rest.sum(axis=1, keepdims=True))

    def regimes(self, weights: Floats, filtered: Floats) -> tuple[Floats, Floats]:
        """Return the probability of each regime, T x most, and of a switch after the round, T.

        Models without hidden states have no say in regimes, and only models with as many states as
        there are regimes in switches.
        """
        shares, switching = np.empty((len(weights), self.most)), np.empty(len(weights))
        hidden = 1.0 - self.groups[:, 0]
        _core.regime_shares(
            weights + LEAST, filtered, self.maps, self.leave, hidden, self.alike, shares, switching
        )
        return shares, switching

    def renumber(self) -> tuple[Self, Labels]:
        """Return the labels with the regimes in their order, and the new number of each old one."""
        if self.model is None:
            return self, np.arange(self.most)
        new = self.identity.in_order()
        maps = np.empty_like(self.maps)
        maps[..., new] = self.maps
        return self._replace(identity=self.identity.renumber(new), maps=maps), new

    def parameters(self) -> dict[int, Parameters]:
        """Return the current parameters of each regime, by its number."""
        if self.model is None:
            return {}
        emission, shares = self.model.emission, self.model.stationary()
        means, variances = emission.moments()
        slopes = emission.slopes if isinstance(emission, Regression) else None
        states = {int(number): s for s, number in enumerate(self.identity.numbers)}
        return {
            number: Parameters(
                _plain(means[s]),
                _plain(np.sqrt(variances[s])),
                float(self.model.transition[s, s]),
                float(shares[s]),
                None if slopes is None else slopes[s],
            )
            for number, s in sorted(states.items())
        }


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def _compared(model: Fitted, units: tuple[Floats, Floats] | None) -> Emission:
    """Return the distributions by which the states of a model are compared."""
    return model.emission if units is None else model.emission.compared(*units)


def _simplify(model: Fitted, units: tuple[Floats, Floats] | None) -> Fitted:
    """Return a model in which each group of very similar states is one state, the most frequent."""
    groups = merge_similar(_compared(model, units))
    if groups.max() + 1 == model.states:
        return model
    shares = model.stationary() + 1e-12
    member = np.eye(groups.max() + 1)[groups]
    within = shares[:, np.newaxis] * member
    within /= within.sum(axis=0)
    kept = within.argmax(axis=0)
    emission = type(model.emission).from_core(model.emission.parameters()[:, kept])
    transition = within.T @ model.transition @ member
    return Fitted(model.initial @ member, transition, emission)
