"""A predictor led along a sequence: what it said, what it lost and what it inferred."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.latent.banks.predictors import AtOnce, Predictor, Rounds


@dataclass(frozen=True)
class Followed:
    """What a predictor did, round by round.

    Attributes
    ----------
    said
        The distribution over symbols before each observation, T x m; the mean of real numbers,
        T x 1.
    losses
        1 - p(x) of each observation (see `HMMBank.bounded`); NaN where it was missing.
    wrong
        Whether the most probable symbol was not what came; False where it was missing, and for real
        numbers.
    states
        The hidden state that was most likely under all weights before each observation; -1 for
        predictors without states.
    state_weights
        The weight of each hidden state before each observation, T x k; T x 0 without states.
    candidates
        The weight of each candidate before each observation, T x N; T x 0 without candidates. Where
        the bank changes on the way, a column is not one candidate.
    """

    said: Floats
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
        """How many hard decisions were wrong."""
        return int(self.wrong.sum())

    def time_to_switch(self, start: int, candidate: int, share: float = 0.5) -> int | None:
        """Return how many rounds after ``start`` a candidate first had a share of the weight.

        None where it never had.
        """
        found = np.flatnonzero(self.candidates[start:, candidate] >= share)
        return int(found[0]) if len(found) else None


def follow(
    predictor: Predictor,
    symbols: Iterable[float | None],
    *,
    keep_weights: bool = True,
) -> Followed:
    """Lead a predictor along a sequence, causally; it is changed by it.

    Parameters
    ----------
    predictor
        Who predicts.
    symbols
        What comes; NaN or None where it is missing.
    keep_weights
        Whether the weights of all candidates in all rounds are wanted.

    Examples
    --------
    >>> from normalhedge.latent import Persistence
    >>> went = follow(Persistence(2), [0, 0, 1, None, 1])
    >>> went.loss, went.errors
    (1.5, 1)
    """
    numbers = np.array(list(symbols), dtype=np.float64)
    if not len(numbers):
        raise ValueError("symbols must hold at least one observation")
    pieces = []
    for part, rounds in _rounds(predictor, numbers):
        known = ~np.isnan(numbers[part])
        came = np.where(known, numbers[part], 0.0)
        decided = known & (rounds.said.shape[1] > 1)
        by_state = rounds.weights.sum(axis=2)
        pieces.append(
            (
                rounds.said,
                np.where(known, 1.0 - rounds.scores, np.nan),
                decided & (rounds.said.argmax(axis=1) != came),
                by_state.argmax(axis=1) if by_state.shape[1] else np.full(len(came), -1),
                by_state,
                rounds.weights.sum(axis=1) if keep_weights else np.empty((len(came), 0)),
            )
        )
    return Followed(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


def _rounds(predictor: Predictor, numbers: Floats) -> Iterator[tuple[slice, Rounds]]:
    """Yield what the predictor did, slice by slice."""
    if not (isinstance(predictor, AtOnce) and predictor.steady):
        for t in range(len(numbers)):
            yield slice(t, t + 1), _round(predictor, float(numbers[t]))
        return
    predictor.check(numbers)  # refused before anything is learned
    for first in range(0, len(numbers), predictor.block):
        part = slice(first, first + predictor.block)
        yield part, predictor.run(numbers[part])


def _round(predictor: Predictor, number: float) -> Rounds:
    """Do one round, whatever the predictor, and whether or not the number is missing."""
    weights: Floats = getattr(predictor, "weights", np.empty((0, 0)))
    said = predictor.predict()
    score = np.nan if np.isnan(number) else predictor.score(number)
    predictor.observe(number)
    return Rounds(said[np.newaxis], np.array([score]), weights[np.newaxis].copy())
