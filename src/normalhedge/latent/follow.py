"""A predictor led along a sequence: what it said, what it lost and what it inferred."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.latent.predictors import Predictor


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
    candidates
        The weight of each candidate before each observation, T x N; T x 0 without candidates.
    """

    said: Floats
    losses: Floats
    wrong: np.ndarray
    states: np.ndarray
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


def follow(predictor: Predictor, symbols: Iterable[float | None]) -> Followed:
    """Lead a predictor along a sequence, causally; it is changed by it.

    Parameters
    ----------
    predictor
        Who predicts.
    symbols
        What comes; NaN or None where it is missing.

    Examples
    --------
    >>> from normalhedge.latent import Persistence
    >>> went = follow(Persistence(2), [0, 0, 1, None, 1])
    >>> went.loss, went.errors
    (1.5, 1)
    """
    said, losses, wrong, states, candidates = [], [], [], [], []
    for symbol in symbols:
        weights: Floats | None = getattr(predictor, "weights", None)
        states.append(-1 if weights is None else int(weights.sum(axis=1).argmax()))
        candidates.append(np.empty(0) if weights is None else weights.sum(axis=0))
        prediction = predictor.predict()
        missing = symbol is None or symbol != symbol  # noqa: PLR0124 -- NaN
        said.append(prediction)
        losses.append(np.nan if missing else 1.0 - predictor.score(float(symbol or 0)))
        decided = len(prediction) > 1 and not missing
        wrong.append(decided and int(prediction.argmax()) != int(symbol or 0))
        predictor.observe(symbol)
    if not said:
        raise ValueError("symbols must hold at least one observation")
    return Followed(
        np.array(said), np.array(losses), np.array(wrong), np.array(states), np.array(candidates)
    )
