"""Follow a sequence with a predictor, round by round, or with each candidate in hindsight."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.banks._hmm_bank import HMMBank
from normalhedge.latent.banks._predictor import BatchPredictions, BatchPredictor, Predictor, block


@dataclass(frozen=True)
class Followed:
    """The rounds of a predictor along a sequence.

    Attributes
    ----------
    predictions
        The distribution over symbols before each observation, T x m; the mean of real numbers,
        T x 1.
    losses
        1 - p(x) of each observation (see `HMMBank.bounded`); NaN where it is missing.
    wrong
        Whether the most probable symbol was not the observed one; False where the observation is
        missing, and for real numbers.
    states
        The hidden state with the largest weight before each observation; -1 for predictors without
        states.
    state_weights
        The weight of each hidden state before each observation, T x k; T x 0 without states.
    candidates
        The weight of each candidate before each observation, T x N; T x 0 without candidates. If
        the bank changes on the way, a column does not stand for one candidate.
    """

    predictions: Floats
    losses: Floats
    wrong: np.ndarray
    states: np.ndarray
    state_weights: Floats
    candidates: Floats

    @property
    def loss(self) -> float:
        """The total L1 loss."""
        return float(np.nansum(self.losses))

    @property
    def errors(self) -> int:
        """The number of rounds in which the most probable symbol was wrong."""
        return int(self.wrong.sum())

    def time_to_switch(self, start: int, candidate: int, share: float = 0.5) -> int | None:
        """Return the number of rounds until a candidate has a share of the weight.

        Parameters
        ----------
        start
            The round to count from.
        candidate
            The index of the candidate.
        share
            The share of the weight that it must reach.

        Returns
        -------
        int or None
            The number of rounds after ``start``; None if the candidate never reaches the share.
        """
        rounds = np.flatnonzero(self.candidates[start:, candidate] >= share)
        return int(rounds[0]) if len(rounds) else None


def follow(
    predictor: Predictor,
    symbols: Iterable[float | None],
    *,
    keep_weights: bool = True,
) -> Followed:
    """Predict each observation of a sequence, then learn it; the predictor changes.

    Parameters
    ----------
    predictor
        The predictor.
    symbols
        The observations; NaN or None where missing.
    keep_weights
        Whether to keep the weights of all candidates in all rounds.

    Examples
    --------
    >>> from normalhedge.latent import Persistence
    >>> followed = follow(Persistence(2), [0, 0, 1, None, 1])
    >>> followed.loss, followed.errors
    (1.5, 1)
    """
    numbers = np.array(list(symbols), dtype=np.float64)
    if not len(numbers):
        raise ValueError("symbols must hold at least one observation")
    pieces = []
    for part, rounds in _rounds(predictor, numbers):
        known = ~np.isnan(numbers[part])
        observed = np.where(known, numbers[part], 0.0)
        decided = known & (rounds.predictions.shape[1] > 1)
        by_state = rounds.weights.sum(axis=2)
        pieces.append(
            (
                rounds.predictions,
                np.where(known, 1.0 - rounds.scores, np.nan),
                decided & (rounds.predictions.argmax(axis=1) != observed),
                by_state.argmax(axis=1) if by_state.shape[1] else np.full(len(observed), -1),
                by_state,
                rounds.weights.sum(axis=1) if keep_weights else np.empty((len(observed), 0)),
            )
        )
    return Followed(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


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


def _rounds(predictor: Predictor, numbers: Floats) -> Iterator[tuple[slice, BatchPredictions]]:
    """Yield the rounds of the predictor, slice by slice."""
    if not (isinstance(predictor, BatchPredictor) and predictor.steady):
        for t in range(len(numbers)):
            yield slice(t, t + 1), _round(predictor, float(numbers[t]))
        return
    predictor.check(numbers)  # before anything is learned
    for first in range(0, len(numbers), predictor.block):
        part = slice(first, first + predictor.block)
        yield part, predictor.run(numbers[part])


def _round(predictor: Predictor, number: float) -> BatchPredictions:
    """Play one round with any predictor; the number may be missing."""
    weights: Floats = getattr(predictor, "weights", np.empty((0, 0)))
    prediction = predictor.predict()
    score = np.nan if np.isnan(number) else predictor.score(number)
    predictor.observe(number)
    return BatchPredictions(prediction[np.newaxis], np.array([score]), weights[np.newaxis].copy())
