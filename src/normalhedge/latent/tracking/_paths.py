"""Paths as experts, for dynamics of any kind, and a particle filter for comparison."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger, NormalHedge, State
from normalhedge.latent._draws import Draws
from normalhedge.live.live_object import LiveObject

Move = Callable[[Floats], Floats]
"""A function of paths (one in each row) that returns the paths one round later, without noise."""

Jitter = Callable[[Floats, np.random.Generator], Floats]
"""A function of paths that returns them with noise."""

Score = Callable[[Floats, Any], Floats]
"""A function of paths and an observation that returns a gain in [-1, 1], or a log-likelihood, for
each path."""

NATS = 10.0  # half the largest difference of log densities between paths that a round can count


class Cloud(NamedTuple):
    """The current paths; nothing in it is ever changed in place."""

    # paths, game: the paths, N x d, and the hedger's state
    paths: Floats
    game: State
    # the deviation of observations according to each path, N x k; None before the first
    # observation, or with gains of your own
    noise: Floats | None
    refilled: int  # the number of copies made so far
    draws: Any  # the place in the sequence of random numbers; see `Draws`


class Paths:
    r"""Paths weighed by a hedger; see `HedgedTracker`."""

    def __init__(
        self,
        paths: object,
        move: Move,
        jitter: Jitter,
        gains: Score | None,
        rng: np.random.Generator,
        hedger: CompiledHedger | None = None,
        seen: Move | None = None,
    ) -> None:
        self.start = check_paths(paths)
        self.move, self.jitter, self.gains = move, jitter, gains
        self._draws = Draws(rng)
        usual = NormalHedge(alpha=0.1) if gains is not None else NormalHedge(alpha=0.5, c=0.1)
        self.hedger: CompiledHedger = usual if hedger is None else hedger
        self.seen = seen

    def init(self) -> Cloud:
        """Return the paths before the first observation."""
        return Cloud(self.start, self.hedger.init(len(self.start)), None, 0, self._draws.first)

    def step(self, cloud: Cloud, observation: Any) -> tuple[Cloud, Floats]:
        """Return the paths after a round, and the estimated state."""
        paths, game, noise = self._move(cloud.paths), cloud.game, cloud.noise
        if observation is None:
            return cloud._replace(paths=paths), game.weights @ paths
        rng = self._draws.at(cloud.draws)
        if self.gains is None:
            logs, noise = self._log_densities(paths, noise, observation, rng)
            gains = np.maximum(1.0 + (logs - logs.max()) / NATS, -1.0)
        else:
            gains = np.asarray(self.gains(paths, observation), dtype=np.float64)
        game = self.hedger.step(game, gains)
        now, refilled = np.asarray(game.weights @ paths), cloud.refilled
        behind = np.flatnonzero(game.regrets <= 0.0)
        if 0 < len(behind) < len(paths):
            parents = rng.choice(len(paths), size=len(behind), p=game.weights)
            paths = paths.copy()
            paths[behind] = self.jitter(paths[parents], rng)
            ledger = game.ledger.copy()
            ledger[:, behind] = ledger[:, parents]
            game = self.hedger.reweigh(game, ledger)
            refilled += len(behind)
            if noise is not None:
                noise = noise.copy()
                change = np.exp(0.1 * rng.normal(size=(len(behind), noise.shape[1])))
                noise[behind] = noise[parents] * change
        return Cloud(paths, game, noise, refilled, self._draws.place(rng)), now

    def ahead(self, cloud: Cloud, steps: int) -> tuple[Floats, Floats]:
        """Return the paths some rounds later, without and with noise."""
        rng = self._draws.copy_at(cloud.draws)
        plain = noisy = cloud.paths
        for _ in range(steps):
            plain, noisy = self._move(plain), self.jitter(self._move(noisy), rng)
        return plain, noisy

    def observed_part(self, paths: Floats, columns: int) -> Floats:
        """Return the noiseless observation of each path, N x k."""
        places = paths[:, :columns] if self.seen is None else self.seen(paths)
        return np.asarray(places, dtype=np.float64).reshape(len(paths), -1)

    def _move(self, paths: Floats) -> Floats:
        moved = np.asarray(self.move(paths.copy()), dtype=np.float64)
        if moved.shape != paths.shape or not np.isfinite(moved).all():
            raise ValueError(
                f"move must return finite numbers of the same shape as its input, {paths.shape}, "
                f"got shape {moved.shape}"
            )
        return moved

    def _log_densities(
        self, paths: Floats, noise: Floats | None, y: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Return log densities of normal noise, mixed with 5 % of a wide Cauchy density.

        The Cauchy density is seven times as wide. The scales of the noise are drawn over two
        decades at first; paths with bad scales are dropped.
        """
        places = self.observed_part(paths, len(y))
        if places.shape != (len(paths), len(y)):
            raise ValueError(
                f"an observation of {len(y)} numbers does not match paths with {places.shape[1]} "
                "observed numbers: give seen, which returns the observation of each path"
            )
        known = np.isfinite(y)
        error = np.where(known, y - places, 0.0)
        if noise is None:
            far = np.maximum(np.median(np.abs(error), axis=0), 1e-12 + 1e-9 * np.abs(y).max())
            far = np.where(known, far, far[known].mean())
            noise = far * 10.0 ** rng.uniform(-2.0, 0.0, size=places.shape)
        z = error / noise
        normal = -0.5 * np.square(z) - np.log(np.sqrt(2.0 * np.pi) * noise)
        wide = 7.0 * np.median(noise, axis=0)
        cauchy = -np.log(np.pi * wide * (1.0 + np.square(error / wide)))
        both = (
            np.log(0.95) + (normal * known).sum(axis=1),
            np.log(0.05) + (cauchy * known).sum(axis=1),
        )
        return np.logaddexp(*both), noise


class Particles(NamedTuple):
    """The current particles, N x d, their weights, and the place in the random numbers."""

    paths: Floats
    weights: Floats
    draws: Any


class ParticleFilter(LiveObject[Particles]):
    """The bootstrap particle filter, which needs the true likelihood.

    Parameters
    ----------
    particles, move, jitter, rng
        As for `HedgedTracker`; every particle gets noise in every round.
    log_likelihood
        A function of the particles and an observation, which returns the log-likelihood of each.
    """

    def __init__(
        self,
        particles: Floats,
        move: Move,
        jitter: Jitter,
        log_likelihood: Score,
        rng: np.random.Generator,
    ) -> None:
        paths = check_paths(particles)
        self.move, self.jitter, self.log_likelihood = move, jitter, log_likelihood
        self._draws = Draws(rng)
        self._state = Particles(paths, np.full(len(paths), 1.0 / len(paths)), self._draws.first)

    @property
    def paths(self) -> Floats:
        """The current particles, N x d."""
        return self._state.paths

    @property
    def weights(self) -> Floats:
        """The current weights of the particles."""
        return self._state.weights

    def observe(self, observation: Any) -> Floats:
        """Learn an observation; return the estimated state. If it is None, let time pass."""
        before = self._state
        rng, weights = self._draws.at(before.draws), before.weights
        paths = self.jitter(self.move(before.paths.copy()), rng)
        if observation is not None:
            with np.errstate(divide="ignore"):
                logs = np.log(weights) + self.log_likelihood(paths, observation)
            raw = np.exp(logs - logs.max())
            weights = raw / raw.sum()
        now = np.asarray(weights @ paths)
        if 1.0 / np.square(weights).sum() < 0.5 * len(weights):
            paths, weights = _resample(paths, weights, rng)
        self._change(before, Particles(paths, weights, self._draws.place(rng)))
        return now


def _resample(paths: Floats, weights: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return particles with equal weights, drawn by their weights at even distances."""
    n = len(weights)
    places = (rng.random() + np.arange(n)) / n
    chosen = np.minimum(np.searchsorted(np.cumsum(weights), places), n - 1)
    return paths[chosen], np.full(n, 1.0 / n)


def check_paths(values: object) -> Floats:
    """Return paths as finite numbers, N x d."""
    array = inputs.numbers_array("paths", values).astype(np.float64)
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise ValueError(f"paths must be finite numbers, N x d, got shape {array.shape}")
    return array
