"""The best candidate of a bank in hindsight."""

from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.banks._bank_predictor import block
from normalhedge.latent.banks._hmm_bank import HMMBank


def best_candidate(bank: HMMBank, symbols: Any, start: int = 0) -> tuple[int, Floats]:
    """Return the candidate with the smallest L1 loss in hindsight, and the losses of all.

    Parameters
    ----------
    bank
        The candidates.
    symbols
        The whole sequence; NaN where missing.
    start
        The first round whose loss counts.
    """
    state, losses = bank.init(), np.zeros(bank.candidates)
    numbers = bank.sequence(symbols)
    size = block(bank)
    for first in range(0, len(numbers), size):
        filtered = bank.run(numbers[first : first + size], state)
        state = filtered.state
        lost = 1.0 - np.einsum("tsn,tsn->tn", filtered.scores, filtered.beliefs)
        losses += np.nansum(lost[max(start - first, 0) :], axis=0)
    return int(losses.argmin()), losses
