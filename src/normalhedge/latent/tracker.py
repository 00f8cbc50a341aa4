"""Tracking a continuous hidden state: paths as experts, and a particle filter to compare with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.hedgers import CompiledHedger, NormalHedge, State

Move = Callable[[Floats], Floats]
"""Paths (one in each row) in, where their dynamics take them, without noise, out."""

Jitter = Callable[[Floats, np.random.Generator], Floats]
"""Paths in, the same with noise out."""

Score = Callable[[Floats, Any], Floats]
"""Paths and an observation in, a number for each path out: gains in [-1, 1], or log-likelihoods."""


class HedgedTracker:
    r"""Follow a hidden state by hedging over paths.

    Every path is an expert with a regret. Those that are not ahead of the tracker are dropped, and
    refilled by copies of the others, with noise and with their parent's regret.

    .. math:: R_i \leftarrow (1 - \alpha) R_i + g_i - \textstyle\sum_j p_j g_j, \qquad
              \hat x = \textstyle\sum_i p_i x_i

    Parameters
    ----------
    paths
        Where the paths start, N x d. The state must hold all that the dynamics need, such as a
        velocity.
    move, jitter
        The dynamics, and the noise that copies get.
    gains
        How well each path explains an observation, in [-1, 1]: bounded, so that no single one can
        mislead it for long.
    rng
        Where the draws come from.
    hedger
        Who weighs the paths; ``NormalHedge(alpha=0.1)`` by default.

    Notes
    -----
    Refilling is outside of the theorem: a copy's regret is not its own. A round costs O(N).

    References
    ----------
    Chaudhuri, Freund and Hsu, "Tracking using explanation-based modeling" (arXiv 0903.2862).
    """

    def __init__(
        self,
        paths: Floats,
        move: Move,
        jitter: Jitter,
        gains: Score,
        rng: np.random.Generator,
        hedger: CompiledHedger | None = None,
    ) -> None:
        self.paths = _paths(paths)
        self.move, self.jitter, self.gains, self.rng = move, jitter, gains, rng
        self.hedger: CompiledHedger = NormalHedge(alpha=0.1) if hedger is None else hedger
        self.game: State = self.hedger.init(len(self.paths))
        self.refilled = 0

    def predict(self) -> Floats:
        """Return where the state is expected, before the next observation."""
        return np.asarray(self.game.weights @ self.move(self.paths))

    def observe(self, observation: Any) -> Floats:
        """Learn an observation; return where the state is now. None: time passes."""
        self.paths = self.move(self.paths)
        if observation is None:
            return self.estimate()
        gains = np.asarray(self.gains(self.paths, observation), dtype=np.float64)
        self.game = self.hedger.step(self.game, gains)
        now = self.estimate()
        behind = np.flatnonzero(self.game.regrets <= 0.0)
        if 0 < len(behind) < len(self.paths):
            parents = self.rng.choice(len(self.paths), size=len(behind), p=self.game.weights)
            self.paths[behind] = self.jitter(self.paths[parents], self.rng)
            ledger = self.game.ledger.copy()
            ledger[:, behind] = ledger[:, parents]
            self.game = self.hedger.reweigh(self.game, ledger)
            self.refilled += len(behind)
        return now

    def estimate(self) -> Floats:
        """Return the weighted mean of the paths."""
        return np.asarray(self.game.weights @ self.paths)


class ParticleFilter:
    """The bootstrap particle filter: as good as its likelihood is true.

    Parameters
    ----------
    particles, move, jitter, rng
        As for `HedgedTracker`; every particle gets noise in every round.
    log_likelihood
        Of an observation, for each particle.
    """

    def __init__(
        self,
        particles: Floats,
        move: Move,
        jitter: Jitter,
        log_likelihood: Score,
        rng: np.random.Generator,
    ) -> None:
        self.paths = _paths(particles)
        self.move, self.jitter, self.rng = move, jitter, rng
        self.log_likelihood = log_likelihood
        self.weights = np.full(len(self.paths), 1.0 / len(self.paths))

    def observe(self, observation: Any) -> Floats:
        """Learn an observation; return where the state is now. None: time passes."""
        self.paths = self.jitter(self.move(self.paths), self.rng)
        if observation is not None:
            with np.errstate(divide="ignore"):
                logs = np.log(self.weights) + self.log_likelihood(self.paths, observation)
            raw = np.exp(logs - logs.max())
            self.weights = raw / raw.sum()
        now = np.asarray(self.weights @ self.paths)
        if 1.0 / np.square(self.weights).sum() < 0.5 * len(self.weights):
            self._resample()
        return now

    def _resample(self) -> None:
        n = len(self.weights)
        places = (self.rng.random() + np.arange(n)) / n
        chosen = np.minimum(np.searchsorted(np.cumsum(self.weights), places), n - 1)
        self.paths = self.paths[chosen]
        self.weights = np.full(n, 1.0 / n)


def _paths(given: Floats) -> Floats:
    array = _inputs.numbers_array("paths", given).astype(np.float64)
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise ValueError(f"paths must be finite numbers, N x d, got shape {array.shape}")
    return array
