"""Candidates weighed by a hedger, by the logarithm of the density they gave an observation."""

from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge._inputs import Floats
from normalhedge.hedgers import FixedShare, Hedger

NATS = 10.0
"""Half the largest difference of log densities that counts in a round."""

SHARE = 0.002
"""Of the weight is handed round among the candidates: about every 500 rounds another is best."""


class Weighing:
    """The weights of candidates that come and go.

    The gain of a candidate is 1 + (ln p_n(y) - max_m ln p_m(y)) / 10, at least -1. With
    `FixedShare` at the rate 10 the weights are those of Bayes' rule for a best candidate that
    changes now and then:

        w_n <- (1 - share) w_n p_n(y) / sum_m w_m p_m(y) + share / N

    Parameters
    ----------
    hedger
        One whose experts may join and leave; by default `FixedShare`, with the share 0.002.
    """

    def __init__(self, hedger: Hedger[Any] | None) -> None:
        chosen = FixedShare(eta=NATS, share=SHARE) if hedger is None else hedger
        if not (hasattr(chosen, "join") and hasattr(chosen, "leave")):
            raise TypeError(f"hedger must be one whose experts may join and leave, got {chosen!r}")
        self._hedger: Any = chosen
        self._state: Any = None

    @property
    def weights(self) -> Floats:
        """The weights of the candidates now."""
        return np.empty(0) if self._state is None else np.asarray(self._state.weights)

    def change(self, left: list[int], joined: int) -> None:
        """Let candidates leave, and others join at the end as if they had slept."""
        if self._state is None:
            self._state = self._hedger.init(joined)
            return
        if joined:  # first, as nobody might be left
            self._state = self._hedger.join(self._state, joined)
        if left:
            self._state = self._hedger.leave(self._state, left)

    def observe(self, logs: Floats, known: npt.NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
        """Learn log densities, T x N, in the rounds that are known.

        Returns
        -------
        ndarray, ndarray, ndarray
            The weights before and after each round, T x N, and the log density of the mixture, T.
        """
        before, after = self._weigh(logs, known)
        most = logs.max(axis=1)
        mixed = (before * np.exp(logs - most[:, np.newaxis])).sum(axis=1)
        return before, after, np.log(np.maximum(mixed, 1e-300)) + most

    def _weigh(self, logs: Floats, known: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        if not known.any():
            same = np.repeat(self.weights[np.newaxis], len(logs), axis=0)
            return same, same
        behind = logs[known] - logs[known].max(axis=1, keepdims=True)
        gains = np.maximum(1.0 + behind / NATS, -1.0)
        if len(logs) == 1:
            before = self.weights[np.newaxis]
            self._state = self._hedger.step(self._state, gains[0])
            return before, self.weights[np.newaxis]
        went = self._hedger.run(gains, state=self._state, keep_weights=True)
        self._state = went.state
        played = np.concatenate([went.weights, went.state.weights[np.newaxis]])
        places = np.cumsum(known)
        return played[places - known], played[places]
