"""Weights of candidates, by a hedger whose gains are log densities."""

from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge._inputs import Floats
from normalhedge.hedgers import FixedShare, Hedger

NATS = 10.0
"""Half the largest difference of log densities that a round can count."""

SHARE = 0.002
"""The share of the weight that is redistributed: the best candidate changes every 500 rounds."""


class Weighing:
    """The weights of candidates that join and leave.

    The gain of a candidate is 1 + (ln p_n(y) - max_m ln p_m(y)) / 10, at least -1. With
    `FixedShare` at the rate 10 the weights are those of Bayes' rule for a best candidate that
    changes now and then:

        w_n <- (1 - share) w_n p_n(y) / sum_m w_m p_m(y) + share / N

    Parameters
    ----------
    hedger
        A hedger whose experts may join and leave; `FixedShare` with the share 0.002 by default.
    """

    def __init__(self, hedger: Hedger[Any] | None) -> None:
        chosen = FixedShare(eta=NATS, share=SHARE) if hedger is None else hedger
        if not (hasattr(chosen, "join") and hasattr(chosen, "leave")):
            raise TypeError(f"hedger must let experts join and leave, got {chosen!r}")
        self._hedger: Any = chosen
        self._state: Any = None

    @property
    def weights(self) -> Floats:
        """The current weights of the candidates."""
        return np.empty(0) if self._state is None else np.asarray(self._state.weights)

    def change(self, left: list[int], joined: int) -> None:
        """Let candidates leave, and let others join at the end as if they had been asleep.

        Parameters
        ----------
        left
            The indices of the candidates that leave.
        joined
            The number of candidates that join.
        """
        if self._state is None:
            self._state = self._hedger.init(joined)
            return
        if joined:  # first, because none might be left
            self._state = self._hedger.join(self._state, joined)
        if left:
            self._state = self._hedger.leave(self._state, left)

    def observe(self, logs: Floats, known: npt.NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
        """Learn log densities.

        Parameters
        ----------
        logs
            The log density of each candidate in each round, T x N.
        known
            Whether each round has an observation; the others teach nothing.

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
        run = self._hedger.run(gains, state=self._state, keep_weights=True)
        self._state = run.state
        played = np.concatenate([run.weights, run.state.weights[np.newaxis]])
        places = np.cumsum(known)
        return played[places - known], played[places]
