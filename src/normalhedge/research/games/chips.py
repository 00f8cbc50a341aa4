r"""The chip game: the ancestors of NormalHedge, Binomial Weights and Boost-by-Majority.

Each expert is a chip on the integers, and a round moves each chip by one. Both algorithms come from
a potential that is the chance of a chip whose moves are coins; the weight of a chip is how much its
next move changes that chance. docs/theory/chip-game.md leads from here to the potential of
NormalHedge.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import Run, fold, read_round

MOST = 10**4
"""The largest number of mistakes or rounds; binomial coefficients are exact."""


class Chips(NamedTuple):
    """The state of a chip game.

    Attributes
    ----------
    weights
        The distribution over the experts in the next round.
    positions
        The position of each chip: its mistakes, or its right predictions less its mistakes.
    rounds
        The number of rounds.
    errors
        The number of rounds in which the majority of the weight was wrong; ties count.
    """

    weights: Floats
    positions: Floats
    rounds: int
    errors: int


class _ChipHedger:
    """A hedger of chips, whose gains are +1 (right) or -1 (wrong)."""

    def _weigh(self, positions: Floats, rounds: int, errors: int) -> Floats:
        raise NotImplementedError

    def init(self, n: int) -> Chips:
        """Return the state before the first round."""
        positions = np.zeros(inputs.count("n", n))
        return Chips(self._weigh(positions, 0, 0), positions, 0, 0)

    def play(self, state: Chips, confidence: npt.ArrayLike | None = None) -> Floats:
        """Return the weights; a weighted vote of the experts is right if their gain is positive.

        Parameters
        ----------
        state, confidence
            As for `Hedger.play`; all experts must be awake.
        """
        _check_awake(confidence)
        return state.weights.copy()

    def _moved(self, positions: Floats, gains: Floats) -> Floats:
        return positions + gains

    def step(
        self, state: Chips, gains: npt.ArrayLike, confidence: npt.ArrayLike | None = None
    ) -> Chips:
        """Return the state after one round.

        Parameters
        ----------
        state, gains, confidence
            As for `Hedger.step`; gains are -1 or +1, and all experts must be awake.
        """
        _check_awake(confidence)
        row, _ = read_round(gains, None, len(state.weights))
        if not (np.abs(row) == 1.0).all():
            raise ValueError(
                "gains must be -1 or +1 in a chip game, where predictions are right or wrong, got "
                f"{row[np.abs(row) != 1.0][0]}"
            )
        errors = state.errors + int(state.weights @ row <= 1e-12)
        positions, rounds = self._moved(state.positions, row), state.rounds + 1
        return Chips(self._weigh(positions, rounds, errors), positions, rounds, errors)

    def run(
        self, gains: npt.ArrayLike, confidence: npt.ArrayLike | None = None, **options: Any
    ) -> Run[Chips]:
        """Play many rounds.

        Parameters
        ----------
        gains, confidence, **options
            As for `Hedger.run`.
        """
        return fold(self, gains, confidence, **options)


@dataclass(frozen=True)
class BinomialWeights(_ChipHedger):
    r"""Vote with the fewest mistakes in the worst case, when some expert makes at most k.

    .. math:: w_i = \binom{q - e}{k - m_i}, \qquad
              q = \max\left\{q : 2^q \le N \sum_{j \le k} \binom qj\right\},

    for an expert that made :math:`m_i` mistakes, after e mistakes of the vote. The vote makes at
    most q mistakes. For k = 0 it is the halving algorithm, and q is log2 N.

    Parameters
    ----------
    mistakes
        k, the number of mistakes of the best expert. If all experts exceed it, those with the
        fewest mistakes have equal weights.

    Notes
    -----
    Let W be the sum over the experts of the number of ways in which an expert may be wrong in r
    further mistakes of the vote and stay within k: :math:`\sum_{j \le k - m_i} \binom rj`. The two
    outcomes of a round have sums for r - 1 that add up to W, and the vote avoids the larger one.
    So each of its mistakes halves W at least, from W below 2^(q+1) at r = q + 1; after q + 1
    mistakes no expert would be left.

    References
    ----------
    Cesa-Bianchi, Freund, Helmbold and Warmuth, "On-line prediction and conversion strategies",
    Machine Learning 25, 1996.

    Examples
    --------
    >>> hedger = BinomialWeights(mistakes=1)
    >>> hedger.most_mistakes(4)
    4
    >>> state = hedger.step(hedger.init(4), [1, 1, 1, -1])
    >>> state.weights.round(3).tolist()
    [0.308, 0.308, 0.308, 0.077]
    """

    mistakes: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "mistakes", inputs.count("mistakes", self.mistakes, 0, MOST))

    def most_mistakes(self, n_experts: int) -> int:
        """Return the most mistakes that the vote of N experts makes.

        Parameters
        ----------
        n_experts
            The number of experts.
        """
        return _most_mistakes(inputs.count("n_experts", n_experts), self.mistakes)

    def _moved(self, positions: Floats, gains: Floats) -> Floats:
        return positions + (gains < 0.0)

    def _weigh(self, positions: Floats, rounds: int, errors: int) -> Floats:
        del rounds
        left = _most_mistakes(len(positions), self.mistakes) - errors
        counts = np.unique(positions)
        ways = {m: _choose(left, self.mistakes - int(m)) for m in counts}
        return _shares(positions, ways, positions == counts[0])


def ways(errors: int, mistakes: int) -> int:
    """Return the number of subsets of at most ``mistakes`` of ``errors`` things, exactly.

    Parameters
    ----------
    errors, mistakes
        Numbers of things; negative ``mistakes`` have no subset.

    Examples
    --------
    >>> ways(4, 1), ways(4, 9), ways(4, -1)
    (5, 16, 0)
    """
    return sum(math.comb(errors, j) for j in range(min(errors, mistakes) + 1))


@lru_cache(maxsize=256)
def _most_mistakes(n_experts: int, mistakes: int) -> int:
    if n_experts == 1:
        return mistakes
    # ways(q, k) / 2^q falls with q, and is at least 1/2 up to q = 2 k.
    low, high = 2 * mistakes, 2 * mistakes + 1
    while 2**high <= n_experts * ways(high, mistakes):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        fits = 2**middle <= n_experts * ways(middle, mistakes)
        low, high = (middle, high) if fits else (low, middle)
    return low


@dataclass(frozen=True)
class BoostByMajority(_ChipHedger):
    r"""Keep most experts below zero for as long as the hedger itself loses 2 gamma a round.

    .. math:: w_t(s) = \Phi_{t+1}(s+1) - \Phi_{t+1}(s-1), \qquad
              \Phi_t(s) = \Pr\left[s + Z_{t+1} + \dots + Z_T \ge 0\right],

    where a step Z of a coin is +1 with probability 1/2 - gamma, else -1. If the gain of the hedger
    is at most -2 gamma in every round, the share of experts whose total gain is not negative after
    T rounds is at most :math:`\Phi_0(0)`. In boosting, experts are examples, a gain of +1 is a
    mistake of a weak classifier, and the share is the error of the majority vote.

    Parameters
    ----------
    rounds
        T, the length of the game.
    gamma
        The edge, in (0, 1/2).

    Notes
    -----
    The potential of a coin is the mean of the next two: :math:`\Phi_t(s) = (1/2 - \gamma)
    \Phi_{t+1}(s+1) + (1/2 + \gamma) \Phi_{t+1}(s-1)`. With weights w a round changes the average
    potential by half of :math:`\sum_i w_i (g_i + 2\gamma) / N`, which is not positive.

    References
    ----------
    Freund, "Boosting a weak learning algorithm by majority", Information and Computation 121, 1995.

    Examples
    --------
    >>> BoostByMajority(rounds=99, gamma=0.1).share().__round__(4)
    0.0219
    """

    rounds: int
    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", inputs.count("rounds", self.rounds, 1, MOST))
        object.__setattr__(self, "gamma", inputs.number("gamma", self.gamma, 0.0, 0.5))

    def potential(self, position: int, after: int) -> float:
        """Return the chance that a chip ends at zero or above.

        Parameters
        ----------
        position
            Where the chip is.
        after
            The number of rounds that were played.
        """
        left = self.rounds - inputs.count("after", after, 0, self.rounds)
        # With k steps up it ends at position + 2 k - left.
        least = max(-((position - left) // 2), 0)
        return math.fsum(self._chance(left, k) for k in range(least, left + 1))

    def share(self) -> float:
        """Return the largest share of experts whose total gain is not negative."""
        return self.potential(0, 0)

    def _chance(self, steps: int, up: int) -> float:
        if not 0 <= up <= steps:
            return 0.0
        log = math.lgamma(steps + 1) - math.lgamma(up + 1) - math.lgamma(steps - up + 1)
        log += up * math.log(0.5 - self.gamma) + (steps - up) * math.log(0.5 + self.gamma)
        return math.exp(log)

    def _weigh(self, positions: Floats, rounds: int, errors: int) -> Floats:
        del errors
        left = self.rounds - rounds - 1  # the rounds after the one that is played
        if left < 0:
            return np.full(len(positions), 1.0 / len(positions))
        # The chance that the coins bring a chip to where its next move decides.
        weights = {
            s: self._chance(left, math.ceil((left - int(s) - 1) / 2)) for s in np.unique(positions)
        }
        return _shares(positions, weights, np.ones(len(positions), dtype=bool))


def _choose(n: int, k: int) -> int:
    return math.comb(n, k) if 0 <= k <= n else 0


def _shares(positions: Floats, by_position: dict[Any, Any], rest: np.ndarray) -> Floats:
    """Return weights in proportion to those of the positions; even ones of the rest if all are 0.

    Whole numbers may be larger than any float: they are divided by the largest first.
    """
    largest = max(by_position.values())
    if not largest:
        return np.asarray(rest / rest.sum())
    parts = {s: weight / largest for s, weight in by_position.items()}
    weights = np.array([parts[s] for s in positions])
    return np.asarray(weights / weights.sum())


def _check_awake(confidence: npt.ArrayLike | None) -> None:
    if confidence is not None and not (np.asarray(confidence) == 1.0).all():
        raise ValueError("all experts must be awake in a chip game: confidence must be 1")
