"""Matching the states of one model with the states of another."""

from itertools import permutations
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import Categorical, Emission

Labels = npt.NDArray[np.intp]

# what it is worth, as a share of the rounds, that two states lie to each other as two before
ORDER = 0.25
PRIOR = 5.0  # the number of shared rounds that a likeness of 1 counts for
ALIKE = 0.98  # states of a model with a larger likeness are one regime
FEW = 7  # the largest number of states for which all permutations are tried


def assignment(worth: Floats, pairs: Floats | None = None) -> Labels:
    """Return a different column for each row, with the largest sum; -1 for rows left over.

    Two rows add what they are worth together, at each two columns: rows x rows x columns x columns.
    This is ignored if there are too many states to try all permutations.

    Examples
    --------
    >>> assignment(np.array([[5.0, 4.0], [4.0, 1.0], [0.0, 0.0]]))
    array([ 1,  0, -1])
    """
    rows, columns = worth.shape
    result = np.full(rows, -1)
    if rows > columns:
        turned = None if pairs is None else pairs.transpose(2, 3, 0, 1)
        result[assignment(worth.T, turned)] = np.arange(columns)
        return result
    if columns > FEW:
        from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 -- heavy

        places, chosen = linear_sum_assignment(worth, maximize=True)
        result[places] = chosen
        return result
    ways = np.array(list(permutations(range(columns), rows)))
    totals = worth[np.arange(rows), ways].sum(axis=1)
    if pairs is not None:
        first, second = np.triu_indices(rows, 1)
        totals += pairs[first, second, ways[:, first], ways[:, second]].sum(axis=1)
    return np.asarray(ways[totals.argmax()])


def likeness(one: Emission, other: Emission) -> Floats:
    """Return how similar states are, k x m, in [0, 1]: the Bhattacharyya coefficient.

    Emissions that are not categorical are compared as normal distributions with the same moments,
    column by column:

        sqrt(2 a b / (a^2 + b^2)) exp(-(m - n)^2 / (4 (a^2 + b^2)))
    """
    if isinstance(one, Categorical) and isinstance(other, Categorical):
        return np.asarray(np.sqrt(one.probabilities) @ np.sqrt(other.probabilities).T)
    moments, others = (
        [part.reshape(emission.states, -1) for part in emission.moments()]
        for emission in (one, other)
    )
    return likeness_of_normals(*moments, *others)


def likeness_of_normals(m: Floats, v: Floats, n: Floats, w: Floats) -> Floats:
    """Return the Bhattacharyya coefficients of normal distributions, ... k x d, with m x d."""
    m, v = m[..., np.newaxis, :], v[..., np.newaxis, :]
    v, w = np.maximum(v, 1e-300), np.maximum(w, 1e-300)
    both = v + w
    logs = 0.5 * np.log(2.0 * np.sqrt(v) * np.sqrt(w) / both)
    logs -= np.square(m - n) / (4.0 * both)
    return np.asarray(np.exp(logs.sum(axis=-1)))


def relations(m: Floats, v: Floats) -> Floats:
    """Return how two states lie to each other, k x k x 2 d: drift of all states leaves it alone.

    For each column, the difference of means by the root of the sum of variances, and the
    difference of the logarithms of deviations; m and v are k x d.
    """
    v = np.maximum(v, 1e-300)
    apart = (m[:, np.newaxis] - m) / np.sqrt(v[:, np.newaxis] + v)
    wider = 0.5 * np.log(v[:, np.newaxis] / v)
    return np.concatenate([apart, wider], axis=2)


def likeness_of_pairs(new: Floats, old: Floats) -> Floats:
    """Return how similar relations r, q are, r.q / (1 + |r| |q|), in [-1, 1], k x k x m x m."""
    dots = np.einsum("std,uvd->stuv", new, old)
    sizes = [np.linalg.norm(part, axis=2) for part in (new, old)]
    return np.asarray(dots / (1.0 + np.multiply.outer(*sizes)))


def merge_similar(emission: Emission) -> Labels:
    """Return a group for each state, from 0: very similar states are in the same group.

    Examples
    --------
    >>> from normalhedge.latent.models.emissions import Gaussian
    >>> merge_similar(Gaussian(np.array([0.0, 0.1, 5.0]), np.ones(3)))
    array([0, 0, 1])
    """
    same = likeness(emission, emission) > ALIKE
    first = same.argmax(axis=1)
    first = first[first]  # in a chain, the group of the first
    return np.unique(first, return_inverse=True)[1]


def overlap(beliefs: Floats, others: Floats, alike: Floats) -> Floats:
    """Return the number of rounds that states share, ... k x m, plus a little for similarity."""
    return np.asarray(np.swapaxes(beliefs, -1, -2) @ others + PRIOR * alike + 1e-12)


class Identity(NamedTuple):
    """Numbers of regimes that survive the replacement of the model that defines them.

    A state of the new model takes the number of the old state with which it shares most rounds.
    Rounds count sqrt(1 + age) times, with the age in models, so that old numbers come before young
    ones. If there are as many states as before, it also counts whether two states lie to each other
    as the two regimes did, so that numbers outlast a drift of all states. An additional state takes
    the free number of the most similar earlier regime, or else the smallest unused one. Nothing in
    it is ever changed in place.
    """

    age: Floats  # the number of models that had each regime
    numbers: Labels  # the number of each state of the current model
    known: dict[int, Emission]  # the last emission of each regime, by its number

    @classmethod
    def init(cls, most: int) -> Self:
        """Return the identity before the first model, of at most so many regimes."""
        return cls(np.zeros(most), np.empty(0, dtype=np.intp), {})

    def follow(self, emission: Emission, shared: Floats | None) -> Self:
        """Return the identity after a new model, given the number of each of its states."""
        k = emission.states
        if shared is None:
            numbers = np.empty(k, dtype=np.intp)
            numbers[order(emission)] = np.arange(k)
        else:
            old = np.sqrt(1.0 + self.age[self.numbers])
            pairs = None
            if k == len(old) and not isinstance(emission, Categorical):
                pairs = ORDER * shared.sum() * np.sqrt(np.outer(old, old)) * self._pairs(emission)
            chosen = assignment(shared * old, pairs)
            numbers = np.where(chosen >= 0, self.numbers[chosen], -1)
            for new in np.flatnonzero(numbers < 0).tolist():
                numbers[new] = self._free(emission, new, set(numbers.tolist()))
        age = self.age.copy()
        age[numbers] += 1.0
        now = {number: _single(emission, s) for s, number in enumerate(numbers.tolist())}
        return self._replace(age=age, numbers=numbers, known=self.known | now)

    def in_order(self) -> Labels:
        """Return a new number for each old one: current regimes come first, in their order."""
        most = len(self.age)
        singles = [self.known[number] for number in self.numbers.tolist()]
        rows = np.concatenate([single.parameters() for single in singles], axis=1)
        today = self.numbers[order(type(singles[0]).from_core(rows))].tolist()
        gone = [number for number in range(most) if number not in today]
        result = np.empty(most, dtype=np.intp)
        result[[*today, *gone]] = np.arange(most)
        return result

    def renumber(self, new: Labels) -> Self:
        """Return the identity with all regimes renumbered: ``new[k]`` is the new number of k."""
        age = np.empty_like(self.age)
        age[new] = self.age
        known = {int(new[old]): emission for old, emission in self.known.items()}
        return self._replace(age=age, numbers=new[self.numbers], known=known)

    def _pairs(self, emission: Emission) -> Floats:
        """Return how similar two states lie to each other as two regimes did, k x k x m x m."""
        before = [self.known[number].moments() for number in self.numbers.tolist()]
        means, variances = (
            np.array([np.ravel(moments[part]) for moments in before]) for part in (0, 1)
        )
        now = (part.reshape(emission.states, -1) for part in emission.moments())
        return likeness_of_pairs(relations(*now), relations(means, variances))

    def _free(self, emission: Emission, state: int, taken: set[int]) -> int:
        free = [number for number in range(len(self.age)) if number not in taken]
        before = [number for number in free if number in self.known]
        single = _single(emission, state)
        alike = {n: float(likeness(single, self.known[n])[0, 0]) for n in before}
        best = max(alike, key=alike.__getitem__, default=None)
        new = [number for number in free if number not in self.known]
        if best is None or (alike[best] < 0.5 and new):
            return new[0]
        return best


def order(emission: Emission) -> Labels:
    """Return the states ordered by mean, or by variance if the means are similar.

    Means are similar if their range is less than half of a typical deviation.
    """
    means, variances = (part.reshape(emission.states, -1)[:, 0] for part in emission.moments())
    if np.ptp(means) < 0.5 * np.sqrt(variances.mean()):
        return np.argsort(variances, kind="stable")
    return np.lexsort((variances, means))


def _single(emission: Emission, state: int) -> Emission:
    return type(emission).from_core(emission.parameters()[:, state : state + 1])
