"""Weights of candidates, by a hedger whose gains are log densities."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import FixedShare

NATS = 10.0  # half the largest difference of log densities that a round can count
# the share of the weight that is redistributed: the best candidate changes every 500 rounds
SHARE = 0.002


@dataclass(frozen=True)
class ModelAveraging:
    """The weights of candidates that join and leave.

    The gain of a candidate is 1 + (ln p_n(y) - max_m ln p_m(y)) / 10, at least -1. With
    `FixedShare` at the rate 10 the weights follow Bayes' rule for a best candidate that changes
    now and then:

        w_n <- (1 - share) w_n p_n(y) / sum_m w_m p_m(y) + share / N

    The state of the hedger's game is None before the first candidate joins.
    """

    hedger: Any  # A hedger whose experts may join and leave

    def change(self, game: Any, left: list[int], joined: int) -> Any:
        """Let candidates leave, and let others join at the end as if they had been asleep."""
        if game is None:
            return self.hedger.init(joined)
        if joined:  # first, because none might be left
            game = self.hedger.join(game, joined)
        return self.hedger.leave(game, left) if left else game

    def observe(
        self, game: Any, logs: Floats, known: npt.NDArray[np.bool_]
    ) -> tuple[Any, Floats, Floats]:
        """Learn log densities; return the game, and the weights before and after each round."""
        weights = np.asarray(game.weights)[np.newaxis]
        if len(logs) == 1:
            if not known[0]:
                return game, weights, weights
            later = self.hedger.step(game, _gains(logs)[0])
            return later, weights, np.asarray(later.weights)[np.newaxis]
        if not known.any():
            same = np.repeat(weights, len(logs), axis=0)
            return game, same, same
        run = self.hedger.run(_gains(logs[known]), state=game, keep_weights=True)
        played = np.concatenate([run.weights, run.state.weights[np.newaxis]])
        places = np.cumsum(known)
        return run.state, played[places - known], played[places]


def _gains(logs: Floats) -> Floats:
    gains = np.empty_like(logs)
    _core.log_gains(logs, NATS, gains)
    return gains


def default_hedger() -> FixedShare:
    """Return the hedger that weighs candidates by default."""
    return FixedShare(eta=NATS, share=SHARE)
