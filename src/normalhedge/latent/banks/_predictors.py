"""The interface of predictors of symbols or real numbers: `predict`, then `observe`."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple, Protocol

from normalhedge.boundary.inputs import Floats

BLOCK = 2**16
"""About how many numbers an array may hold: rounds x states x candidates.

Larger fresh arrays cost more than the arithmetic, because the system hands out their pages one by
one.
"""


class Predictor(Protocol):
    """The interface of every predictor."""

    def predict(self) -> Floats:
        """Return the distribution over the next symbol; for real numbers, the mean alone."""
        ...

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol; for a real number see `HMMBank.bounded`."""
        ...

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol; if it is missing (NaN or None), let time pass."""
        ...


class BatchPredictions(NamedTuple):
    """Many rounds of a predictor."""

    predictions: Floats  # the prediction before each observation, T x m, or T x 1 for real numbers
    scores: Floats  # the score of the predictor in each round; NaN where the observation is missing
    weights: Floats  # the weights of each candidate's states before each observation, T x k x N


class BatchPredictor(ABC):
    """A predictor that can process many rounds in one call."""

    steady: ClassVar[bool] = True
    """Whether `run` may be used: not if the bank changes on the way."""

    block: int = BLOCK
    """The number of rounds that `run` processes in little memory."""

    @abstractmethod
    def check(self, symbols: Floats) -> None:
        """Refuse a sequence with an observation that `observe` would refuse."""

    @abstractmethod
    def run(self, symbols: Floats) -> BatchPredictions:
        """Predict and learn symbols, NaN where missing, as `observe` does one by one."""
