"""Other methods for intervals, written from their papers; and ours, with the same two methods.

All of them see residuals, and give an interval for the next one. ACI, DtACI and AgACI take
quantiles of the last 500 absolute residuals.
"""

import bisect
import math
from collections import deque
from typing import Any, Protocol

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import BOA
from normalhedge.mixtures.intervals import Conformal

ALPHA = 0.1
WINDOW = 500
RATES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)


class Method(Protocol):
    """Something that gives intervals."""

    def tell(self) -> tuple[float, float, Any]:
        """Return low, high and what `learn` wants."""
        ...

    def learn(self, token: Any, y: float, late: int) -> None:
        """Learn from an outcome."""
        ...


class Ours:
    """The method of this package."""

    def __init__(self, season: int | None) -> None:
        self.intervals = Conformal((1.0 - ALPHA,), season)
        self.games = self.intervals.init()
        self.round = 0

    def tell(self) -> tuple[float, float, Any]:
        """Return low, high and the token."""
        told = self.intervals.predict(self.games, 0.0, 0, self.round)
        self.round += 1
        return float(told.low[0]), float(told.high[0]), told.token

    def learn(self, token: Any, y: float, late: int) -> None:
        """Learn from an outcome."""
        self.intervals.observe(self.games, token, y, 0, late, in_place=True)


class Scores:
    """The last absolute residuals in their order, and their quantiles."""

    def __init__(self) -> None:
        self.ordered: list[float] = []
        self.recent: deque[float] = deque()

    def add(self, score: float) -> None:
        """Add one, and drop the oldest."""
        bisect.insort(self.ordered, score)
        self.recent.append(score)
        if len(self.recent) > WINDOW:
            del self.ordered[bisect.bisect_left(self.ordered, self.recent.popleft())]

    def quantile(self, alpha: float) -> float:
        """Return the conformal 1 - alpha quantile: the ceil((1 - alpha)(n + 1))-th smallest."""
        n = len(self.ordered)
        if alpha >= 1.0 and n:
            return -1.0
        place = math.ceil((1.0 - alpha) * (n + 1)) if alpha > 0.0 else n + 1
        return self.ordered[place - 1] if place <= n else math.inf

    def level_of(self, score: float) -> float:
        """Return the largest alpha whose interval covers a score."""
        n = len(self.ordered)
        smaller = bisect.bisect_left(self.ordered, score)
        return (n - smaller) / (n + 1)


class Aci:
    """Adaptive conformal inference (Gibbs and Candès 2021): alpha += rate (target - err)."""

    def __init__(self, rate: float) -> None:
        self.rate, self.alpha, self.scores = rate, ALPHA, Scores()

    def tell(self) -> tuple[float, float, Any]:
        """Return the interval, twice."""
        half = self.scores.quantile(self.alpha)
        return -half, half, half

    def learn(self, token: Any, y: float, late: int) -> None:  # noqa: ARG002
        """Learn from an outcome."""
        self.alpha += self.rate * (ALPHA - (abs(y) > token))
        self.scores.add(abs(y))


class DtAci:
    """Gibbs and Candès (2022), Algorithm 1, with the mean of alpha: exponential weights that share.

    The rates are those of the paper, and eta and sigma those for intervals of 500 rounds.
    """

    rates = np.array([0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128])

    def __init__(self) -> None:
        k, span = len(self.rates), 500
        spread = (1 - ALPHA) ** 2 * ALPHA**3 + ALPHA**2 * (1 - ALPHA) ** 3
        self.eta = math.sqrt(3 / span) * math.sqrt((math.log(k * span) + 2) / spread)
        self.sigma = 1 / (2 * span)
        self.alphas, self.weights = np.full(k, ALPHA), np.full(k, 1 / k)
        self.scores = Scores()

    def tell(self) -> tuple[float, float, Any]:
        """Return the interval at the mean of alpha."""
        half = self.scores.quantile(float(self.weights @ self.alphas))
        return -half, half, self.alphas.copy()

    def learn(self, token: Any, y: float, late: int) -> None:  # noqa: ARG002
        """Learn from an outcome."""
        beta = self.scores.level_of(abs(y))
        losses = ALPHA * (beta - token) - np.minimum(0.0, beta - token)
        weights = self.weights * np.exp(-self.eta * losses)
        weights /= weights.sum()
        self.weights = (1 - self.sigma) * weights + self.sigma / len(weights)
        self.alphas += self.rates * (ALPHA - (token > beta))
        self.scores.add(abs(y))


class AgAci:
    """Zaffran et al. (2022): bounds of ACI at many rates, combined by BOA on each side.

    BOA has the gradients of the pinball loss, as in opera. Infinite bounds count as the largest
    absolute residual so far.
    """

    def __init__(self) -> None:
        self.alphas, self.scores, self.largest = np.full(len(RATES), ALPHA), Scores(), 0.0
        self.boa = BOA()
        self.states = [self.boa.init(len(RATES)), self.boa.init(len(RATES))]

    def tell(self) -> tuple[float, float, Any]:
        """Return the combined interval."""
        if not self.scores.ordered:
            return -math.inf, math.inf, None
        halves = np.array([self.scores.quantile(alpha) for alpha in self.alphas])
        capped = np.clip(halves, 0.0, self.largest)
        low, high = (float(state.weights @ capped) for state in self.states)
        return -low, high, (halves, capped, low, high)

    def learn(self, token: Any, y: float, late: int) -> None:  # noqa: ARG002
        """Learn from an outcome."""
        self.largest = max(self.largest, abs(y))
        self.scores.add(abs(y))
        if token is None:
            return
        halves, capped, low, high = token
        self.alphas += np.array(RATES) * (ALPHA - (abs(y) > halves))
        for side, (score, bound) in enumerate(((-y, low), (y, high))):
            slope = ALPHA / 2 - (score > bound)  # of the pinball loss
            gains = np.clip(-slope * (capped - bound) / self.largest, -1.0, 1.0)
            self.states[side] = self.boa.step(self.states[side], gains)


def oracle(y: Floats, bias: Floats, spread: Floats, late: int) -> tuple[Floats, Floats]:
    """Return the true quantiles as of the last round whose outcome is known.

    Parameters
    ----------
    y
        The residuals.
    bias, spread
        What they were drawn from.
    late
        How many rounds ago that was.
    """
    old = np.maximum(np.arange(len(y)) - late, 0)
    return bias[old] - 1.6449 * spread[old], bias[old] + 1.6449 * spread[old]
