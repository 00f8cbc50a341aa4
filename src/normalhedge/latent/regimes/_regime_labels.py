"""The map from states of candidates to regimes, which one of the candidates defines."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import Fitted
from normalhedge.latent.regimes._candidates import AnyCandidate, Candidate, LearningRecipe
from normalhedge.latent.regimes._matching import Identity, Labels, likeness, merge_similar, overlap

# the memory of the choice of the number of states: after this many rounds a score counts 1/e
MEMORY = 1000
EVIDENCE = 4.0  # the total nats that an additional state must add
HOLD = 3.0  # the nats by which another candidate must lead to define the regimes
# the nats by which a model of the last rounds must lead a model of all rounds to define them
WHOLE = 10.0
# a model with a state rarer than this share of rounds must lead by this many nats
RARE, RARITY = 0.01, 20.0
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

    def remember(self, ahead: Floats, weights: Floats) -> tuple[Self, float, Floats]:
        """Learn how far the candidates were ahead of the mixture.

        Returns the labels, and by which factor the leads of the candidates fade, and how much they
        gain. These are leads over the hidden Markov models together: a number of states that is not
        tried yet must not have the score of a break.
        """
        fading = (1.0 - 1.0 / MEMORY) ** np.arange(len(ahead) - 1, -1, -1)
        left = (1.0 - 1.0 / MEMORY) ** len(ahead)
        weights = weights + 1e-9
        densities = weights * np.exp(np.clip(ahead, -600.0, 600.0))
        mixed, shares = densities @ self.groups, weights @ self.groups
        hidden = np.log(mixed[:, 1:].sum(axis=1)) - np.log(shares[:, 1:].sum(axis=1))
        gained = np.log(mixed + 1e-290) - np.log(shares + 1e-290)
        gained[shares > 0.0] -= np.broadcast_to(hidden[:, np.newaxis], shares.shape)[shares > 0.0]
        labels = self._replace(
            ahead=left * self.ahead + fading @ gained,
            rounds=left * self.rounds + float(fading.sum()),
            evidence=self.evidence + lead_of_kinds(densities, weights, self.kinds),
        )
        lead = np.clip(ahead - hidden[:, np.newaxis], -20.0, 20.0)
        return labels, left, np.asarray(fading @ lead)

    def match(
        self, candidates: Sequence[AnyCandidate], standing: Floats, seen: Floats, worth: float
    ) -> Self:
        """Define the regimes again, after a review of the candidates."""
        recent, most = seen[-RECENT:], self.most
        states = np.array([candidate.recipe.states for candidate in candidates])
        known = seen[~np.isnan(seen[:, 0])]
        models = {n: c.now() for n, c in enumerate(candidates) if isinstance(c, Candidate)}
        leader = self._choice(candidates, models, standing, known, worth)
        beliefs = {n: model.smooth(recent)[0] for n, model in models.items()}
        chosen = _simplify(models[leader])
        current = chosen.smooth(recent)[0]
        shared = None
        if self.model is not None:
            similar = likeness(chosen.emission, self.model.emission)
            shared = overlap(current, self.model.smooth(recent)[0], similar)
        identity = self.identity.follow(chosen.emission, shared)
        alike = (states == states[leader]).astype(np.float64)
        maps, leave = np.zeros((len(states), most, most)), np.zeros((len(states), most))
        for n, model in models.items():
            table = overlap(beliefs[n], current, likeness(model.emission, chosen.emission))
            table /= table.sum(axis=1, keepdims=True)
            k = model.states
            maps[n, :k, identity.numbers] = table.T
            if alike[n]:
                regime = table.argmax(axis=1)
                other = regime[:, np.newaxis] != regime
                leave[n, :k] = (model.transition * other).sum(axis=1)
        return self._replace(
            identity=identity,
            groups=np.eye(most + 1)[states],
            kinds=np.array(
                [[c.recipe.kind() == kind for kind in KINDS] for c in candidates], float
            ),
            maps=maps,
            leave=leave,
            alike=alike,
            model=chosen,
            recipe=candidates[leader].recipe,
        )

    def _choice(
        self,
        candidates: Sequence[AnyCandidate],
        models: Mapping[int, Fitted],
        standing: Floats,
        seen: Floats,
        worth: float,
    ) -> int:
        """Return the index of the candidate that defines the regimes."""
        there = sorted({candidates[n].recipe.states for n in models})
        constant = not np.ptp(seen, axis=0).any()
        number = there[0] if constant else self._number(there, worth)
        places = np.full(len(candidates), -np.inf)
        for n, model in models.items():
            recipe = candidates[n].recipe
            if recipe.states != number:
                continue
            places[n] = standing[n] + HOLD * (recipe == self.recipe)
            places[n] += WHOLE * (not recipe.window and not recipe.memory)
            places[n] -= RARITY * (model.stationary().min() < RARE)
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
        rest = weights * (1.0 - self.kinds[:, KINDS.index("breaks")])
        return np.asarray(rest / rest.sum(axis=1, keepdims=True))

    def regimes(self, weights: Floats, filtered: Floats) -> Floats:
        """Return the probability of each regime, T x most.

        Models without hidden states have no say.
        """
        states = weights[..., np.newaxis] * filtered
        result = states.reshape(len(states), -1) @ self.maps.reshape(-1, self.most)
        if self.groups[:, 0].any():
            hidden = weights @ (1.0 - self.groups[:, 0])
            result /= np.maximum(hidden, 1e-300)[:, np.newaxis]
        return np.asarray(result)

    def switching(self, weights: Floats, filtered: Floats) -> Floats:
        """Return the probability that the next regime differs.

        Only models with as many states as there are regimes have a say.
        """
        states = weights[..., np.newaxis] * filtered
        total = np.maximum(weights @ self.alike, 1e-300)
        return np.asarray(states.reshape(len(states), -1) @ self.leave.ravel() / total)

    def renumber(self) -> tuple[Self, Labels]:
        """Return the labels with the regimes in their order, and the new number of each old one."""
        if self.model is None:
            return self, np.arange(self.most)
        new = self.identity.in_order(self.model.emission)
        maps = np.empty_like(self.maps)
        maps[..., new] = self.maps
        return self._replace(identity=self.identity.renumber(new), maps=maps), new

    def parameters(self) -> dict[int, Parameters]:
        """Return the current parameters of each regime, by its number."""
        if self.model is None:
            return {}
        means, variances = self.model.emission.moments()
        shares = self.model.stationary()
        states = {int(number): s for s, number in enumerate(self.identity.numbers)}
        return {
            number: Parameters(
                _plain(means[s]),
                _plain(np.sqrt(variances[s])),
                float(self.model.transition[s, s]),
                float(shares[s]),
            )
            for number, s in sorted(states.items())
        }


def lead_of_kinds(densities: Floats, weights: Floats, kinds: Floats) -> Floats:
    """Return by how many nats each kind of models was ahead of the first kind, in all rounds.

    A kind without models counts as the first one.
    """
    if not len(kinds):
        return np.zeros(kinds.shape[1])
    mixed, shares = densities @ kinds, weights @ kinds
    there = shares > 0.0
    logs = np.log(np.where(there, mixed, 1.0) + 1e-290) - np.log(np.where(there, shares, 1.0))
    return np.asarray(np.where(there, logs - logs[:, :1], 0.0).sum(axis=0))


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def _simplify(model: Fitted) -> Fitted:
    """Return a model in which each group of very similar states is one state, the most frequent."""
    groups = merge_similar(model.emission)
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
