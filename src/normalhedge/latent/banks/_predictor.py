"""Predictors of symbols or real numbers, `predict` then `observe`, and their use of a bank."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.banks._hmm_bank import BankState, HMMBank
from normalhedge.live.live_object import LiveObject

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


def block(bank: HMMBank) -> int:
    """Return the number of rounds of a bank that can be processed in little memory."""
    return max(BLOCK // (bank.states * bank.candidates), 1)


class PredictorState(NamedTuple):
    """Everything that a predictor has learned; nothing in it is ever changed in place."""

    # bank, filters: the candidates, and their beliefs
    bank: HMMBank
    filters: BankState
    game: Any = None  # the state of the hedger's game; None without a hedger
    # the number of rounds that each candidate has been behind, if the bank learns
    behind: npt.NDArray[np.int64] | None = None
    dropped: int = 0  # the number of candidates that were dropped
    draws: Any = None  # the place in the sequence of random numbers; see `Draws`


class BankPredictor(LiveObject[PredictorState], BatchPredictor):
    """A predictor that filters with the candidates of a bank."""

    def __init__(self, bank: HMMBank, *, rounded: bool = False) -> None:
        if rounded and not bank.symbol_count:
            raise ValueError("rounded needs a bank over symbols")
        self.rounded = rounded
        self.block = block(bank)
        self._state = PredictorState(bank, bank.init())

    @property
    def bank(self) -> HMMBank:
        """The candidates."""
        return self._state.bank

    @property
    def state(self) -> BankState:
        """The beliefs of the candidates."""
        return self._state.filters

    @property
    def impossible(self) -> int:
        """The number of observations that every candidate found impossible."""
        return self.state.impossible

    def check(self, symbols: Floats) -> None:
        self.bank.sequence(symbols)


def most_probable(probabilities: Floats, axis: int = 0) -> Floats:
    """Return one for the most probable symbol, the first in a tie, and zero for the others."""
    result = np.zeros_like(probabilities)
    best = np.expand_dims(probabilities.argmax(axis=axis), axis)
    np.put_along_axis(result, best, 1.0, axis=axis)
    return result


def row_of_each(table: Floats, symbols: Floats) -> Floats:
    """Return the row of the table for each symbol; NaN where the symbol is missing."""
    missing = np.isnan(symbols)
    entries = table[np.where(missing, 0.0, symbols).astype(np.intp)]
    entries[missing] = np.nan
    return entries


def entry_of_each(table: Floats, symbols: Floats) -> Floats:
    """Return the entry of each row at the place of its symbol; NaN where the symbol is missing."""
    missing = np.isnan(symbols)
    entries = table[np.arange(len(table)), np.where(missing, 0.0, symbols).astype(np.intp)]
    entries[missing] = np.nan
    return entries
