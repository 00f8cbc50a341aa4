"""Which state of one model is which state of another."""

from itertools import permutations

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.latent.models.emissions import Categorical, Emission

Labels = npt.NDArray[np.intp]

PRIOR = 5.0
"""Rounds that the likeness of distributions counts for, beside the rounds two states share."""

ALIKE = 0.98
"""States of a model that are more alike are one regime."""

FEW = 7
"""Up to so many states all permutations are tried."""


def assignment(worth: Floats) -> Labels:
    """Return a column for each row, none twice, with the largest sum; -1 for rows left over.

    Examples
    --------
    >>> assignment(np.array([[5.0, 4.0], [4.0, 1.0], [0.0, 0.0]]))
    array([ 1,  0, -1])
    """
    rows, columns = worth.shape
    result = np.full(rows, -1)
    if rows > columns:
        found = assignment(worth.T)
        result[found] = np.arange(columns)
        return result
    if columns > FEW:
        from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 -- heavy

        places, chosen = linear_sum_assignment(worth, maximize=True)
        result[places] = chosen
        return result
    ways = np.array(list(permutations(range(columns), rows)))
    return np.asarray(ways[worth[np.arange(rows), ways].sum(axis=1).argmax()])


def likeness(one: Emission, other: Emission) -> Floats:
    """Return how alike states are, k x m, between 0 and 1: the coefficient of Bhattacharyya.

    Of normal distributions with the same moments, column by column:

        sqrt(2 a b / (a^2 + b^2)) exp(-(m - n)^2 / (4 (a^2 + b^2)))
    """
    if isinstance(one, Categorical) and isinstance(other, Categorical):
        return np.asarray(np.sqrt(one.probabilities) @ np.sqrt(other.probabilities).T)
    (m, v), (n, w) = (
        [part.reshape(emission.states, -1) for part in emission.moments()]
        for emission in (one, other)
    )
    v, w = np.maximum(v, 1e-300)[:, np.newaxis], np.maximum(w, 1e-300)
    both = v + w
    logs = 0.5 * np.log(2.0 * np.sqrt(v) * np.sqrt(w) / both)
    logs -= np.square(m[:, np.newaxis] - n) / (4.0 * both)
    return np.asarray(np.exp(logs.sum(axis=2)))


def merged(emission: Emission) -> Labels:
    """Return a group for each state, from 0: states that are much alike are in the same group.

    Examples
    --------
    >>> from normalhedge.latent.models.emissions import Gaussian
    >>> merged(Gaussian(np.array([0.0, 0.1, 5.0]), np.ones(3)))
    array([0, 0, 1])
    """
    same = likeness(emission, emission) > ALIKE
    first = same.argmax(axis=1)
    first = first[first]  # of a chain, the group of the first
    return np.unique(first, return_inverse=True)[1]


def overlap(beliefs: Floats, others: Floats, alike: Floats) -> Floats:
    """Return how many rounds two states share, k x m, and a little for being alike.

    Parameters
    ----------
    beliefs, others
        Of two models in the same rounds, T x k and T x m.
    alike
        `likeness` of their emissions.
    """
    return np.asarray(beliefs.T @ others + PRIOR * alike + 1e-12)


def agreement(states: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Return the share of rounds with the true state, names matched in hindsight, one to one.

    Examples
    --------
    >>> agreement([1, 1, 0, 0], [0, 0, 1, 0])
    0.75
    """
    said, true = (_inputs.numbers_array("states", part).astype(np.intp) for part in (states, truth))
    if said.shape != true.shape or not said.size:
        raise ValueError(f"states and truth must be as many, got {said.shape} and {true.shape}")
    table = np.zeros((said.max() + 1, true.max() + 1))
    np.add.at(table, (said, true), 1.0)
    chosen = assignment(table)
    kept = chosen >= 0
    return float(table[np.flatnonzero(kept), chosen[kept]].sum() / said.size)


class Identity:
    """Regimes keep their number when the model that defines them is replaced.

    The states of the new model take the numbers of the old model's states that they share most
    rounds with, where rounds count sqrt(1 + age) times and the age is in models: old numbers come
    before young ones. A further state takes a free number: that of the regime it is most like,
    among those that were there before, or else the least one.

    Parameters
    ----------
    most
        How many regimes there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[int, Emission] = {}
        self._age = np.zeros(most)
        self.numbers: Labels = np.empty(0, dtype=np.intp)

    def follow(self, emission: Emission, shared: Floats | None) -> Labels:
        """Return the number of each state of a new model.

        Parameters
        ----------
        emission
            What its states say.
        shared
            `overlap` of its states with those of the old model; none for the first model.
        """
        k = emission.states
        if shared is None:
            numbers = np.empty(k, dtype=np.intp)
            numbers[_order(emission)] = np.arange(k)
        else:
            chosen = assignment(shared * np.sqrt(1.0 + self._age[self.numbers]))
            numbers = np.where(chosen >= 0, self.numbers[chosen], -1)
            for new in np.flatnonzero(numbers < 0).tolist():
                numbers[new] = self._free(emission, new, set(numbers.tolist()))
        self.numbers = numbers
        self._age[numbers] += 1.0
        for state, number in enumerate(numbers.tolist()):
            self._known[number] = _single(emission, state)
        return numbers

    def in_order(self, emission: Emission) -> Labels:
        """Return a new number for each old one: the regimes of today come first, in their order.

        Parameters
        ----------
        emission
            What the states say whose `numbers` these are.
        """
        today = self.numbers[_order(emission)].tolist()
        gone = [number for number in range(self._most) if number not in today]
        result = np.empty(self._most, dtype=np.intp)
        result[[*today, *gone]] = np.arange(self._most)
        return result

    def renumber(self, new: Labels) -> None:
        """Give every regime the number that stands at its old number."""
        self.numbers = new[self.numbers]
        self._known = {int(new[old]): one for old, one in self._known.items()}
        age = np.empty(self._most)
        age[new] = self._age
        self._age = age

    def _free(self, emission: Emission, state: int, taken: set[int]) -> int:
        free = [number for number in range(self._most) if number not in taken]
        before = [number for number in free if number in self._known]
        one = _single(emission, state)
        alike = {n: float(likeness(one, self._known[n])[0, 0]) for n in before}
        best = max(alike, key=alike.__getitem__, default=None)
        new = [number for number in free if number not in self._known]
        if best is None or (alike[best] < 0.5 and new):
            return new[0]
        return best


def _order(emission: Emission) -> Labels:
    """Return the states by their means; by their variances where the means say little."""
    means, variances = (part.reshape(emission.states, -1)[:, 0] for part in emission.moments())
    if np.ptp(means) < 0.5 * np.sqrt(variances.min()):
        return np.argsort(variances, kind="stable")
    return np.lexsort((variances, means))


def _single(emission: Emission, state: int) -> Emission:
    return type(emission).from_parameters(emission.parameters()[:, state : state + 1])
