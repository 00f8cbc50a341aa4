"""The common part of all predictors that use a bank."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.banks._bank_state import BankState
from normalhedge.latent.banks._hmm_bank import HMMBank
from normalhedge.latent.banks._predictors import BLOCK, BatchPredictor
from normalhedge.live.live_object import LiveObject


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
    """A predictor that filters with the candidates of a bank.

    Parameters
    ----------
    bank
        The candidates.
    rounded
        Whether to predict the most probable symbol with probability one.
    """

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
        """Refuse a sequence with an observation that `observe` would refuse."""
        self.bank.sequence(symbols)


def most_probable(probabilities: Floats, axis: int = 0) -> Floats:
    """Return one for the most probable symbol, the first in a tie, and zero for the others."""
    result = np.zeros_like(probabilities)
    best = np.expand_dims(probabilities.argmax(axis=axis), axis)
    np.put_along_axis(result, best, 1.0, axis=axis)
    return result
