"""The common part of all predictors that use a bank."""

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.latent.banks.bank_state import BankState
from normalhedge.latent.banks.hmm_bank import HMMBank
from normalhedge.latent.banks.predictors import BLOCK, BatchPredictor


def block(bank: HMMBank) -> int:
    """Return the number of rounds of a bank that can be processed in little memory."""
    return max(BLOCK // (bank.states * bank.candidates), 1)


class BankPredictor(BatchPredictor):
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
        self.bank = bank
        self.rounded = rounded
        self.block = block(bank)
        self.state: BankState = bank.init()

    @property
    def impossible(self) -> int:
        """The number of observations that every candidate found impossible."""
        return self.state.impossible

    def check(self, symbols: Floats) -> None:
        """Refuse a sequence with an observation that `observe` would refuse."""
        self.bank.sequence(symbols)


def most_probable(probabilities: Floats, axis: int = 0) -> Floats:
    """Return one for the most probable symbol, the first in a tie, and zero for the others.

    Parameters
    ----------
    probabilities
        Distributions over symbols.
    axis
        The axis that has the symbols.
    """
    result = np.zeros_like(probabilities)
    best = np.expand_dims(probabilities.argmax(axis=axis), axis)
    np.put_along_axis(result, best, 1.0, axis=axis)
    return result
