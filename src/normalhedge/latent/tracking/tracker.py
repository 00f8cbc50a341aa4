"""Tracking a moving position: Kalman filters as experts, or paths with dynamics of your own."""

import copy
from collections import deque
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.hedgers import CompiledHedger
from normalhedge.latent.tracking._observations import observed_row, observed_table, seed, whole
from normalhedge.latent.tracking.dynamics import Ladder
from normalhedge.latent.tracking.kalman import Filters
from normalhedge.latent.tracking.mixed_normals import quantiles, weighted_quantiles
from normalhedge.latent.tracking.paths import Jitter, Move, ParticleFilter, Paths, Score
from normalhedge.latent.tracking.track import Track, TrackPrediction

__all__ = ["HedgedTracker", "Jitter", "Move", "ParticleFilter", "Score", "Track", "TrackPrediction"]

Of = Literal["position", "observation"]

FARTHEST = 100_000
"""The largest number of rounds that can be skipped or predicted in one call."""


class HedgedTracker:
    r"""Follow a moving position, live, with missing, late and absurd observations.

    Without arguments the dynamics are linear and there is nothing to tune: twenty Kalman filters
    (local levels, damped and constant velocities, slow to fast) are the experts. A hedger weighs
    them by the log density of each observation, which allows for absurd ones. The scales are
    learned too. See `Ladder` for the equations.

    With ``paths``, ``move`` and ``jitter`` the dynamics are your own, and the paths are the
    experts. A path that is not ahead of the tracker is replaced by a copy of another path, with
    noise and with the regret of its parent:

    .. math:: R_i \leftarrow (1 - \alpha) R_i + g_i - \textstyle\sum_j p_j g_j, \qquad
              p_i \propto [R_i]_+ e^{\alpha [R_i]_+^2 / 2c}, \qquad
              \hat x = \textstyle\sum_i p_i x_i

    Parameters
    ----------
    paths
        The starting points of the paths, N x d. A path must hold everything that the dynamics need,
        such as a velocity. None for linear dynamics.
    move, jitter
        Your dynamics, and the noise of copies; functions of all paths together.
    gains
        A function of the paths and an observation that returns the gain of each path, in [-1, 1];
        the bounds keep a single observation from misleading the tracker for long. By default it is
        the log density of an observation of the first columns, or of the result of ``seen``, with
        a noise scale that each path has for itself.
    rng
        The generator of random numbers for paths, which only the tracker may use, or a seed.
    hedger
        The hedger that weighs the experts. By default `FixedShare` for filters, and `NormalHedge`
        for paths: ``alpha=0.5, c=0.1``, or ``alpha=0.1`` with gains of your own.
    seen
        A function of paths that returns the noiseless observation of each, N x k.
    window
        The number of rounds that are kept, so that late observations can be inserted.

    Notes
    -----
    The theorem does not cover copies, because the regret of a copy is that of its parent. A round
    costs O(N), and a late observation as much as the rounds since. A tracker with linear dynamics
    can be pickled.

    References
    ----------
    Chaudhuri, Freund and Hsu, "Tracking using explanation-based modeling" (arXiv 0903.2862); Blom
    and Bar-Shalom, "The interacting multiple model algorithm" (1988), for the mixing of filters.

    Examples
    --------
    >>> tracker = HedgedTracker()
    >>> for y in [0.0, 1.1, 1.9, 3.0, None, 5.1, 1e6, 7.0, 8.1]:
    ...     now = tracker.observe(y)
    >>> now.round(1), tracker.predict().position.round(1)
    (array([8.]), array([8.8]))
    """

    def __init__(
        self,
        paths: npt.ArrayLike | None = None,
        move: Move | None = None,
        jitter: Jitter | None = None,
        gains: Score | None = None,
        rng: np.random.Generator | int | None = None,
        hedger: CompiledHedger | None = None,
        *,
        seen: Move | None = None,
        window: int = 50,
    ) -> None:
        self.window = _inputs.count("window", window)
        self.rounds = 0
        self._hedger = hedger
        self._engine: Ladder | Paths | None = None
        self._columns: int | None = None
        if paths is not None and move is not None and jitter is not None:
            draws = np.random.default_rng(seed(rng))
            self._engine = Paths(paths, move, jitter, gains, draws, hedger, seen)
        elif any(part is not None for part in (paths, move, jitter, gains, seen)):
            raise ValueError(
                "dynamics of your own need paths, move and jitter; linear dynamics need none of "
                "paths, move, jitter, gains and seen"
            )
        self._own_gains = gains is not None
        self._belief: Any = None if self._engine is None else self._engine.init()
        self._now: Floats | None = None
        self._past: deque[tuple[Any, Any]] = deque(maxlen=self.window)

    def __repr__(self) -> str:
        if isinstance(self._engine, Paths):
            n, d = self._engine.start.shape
            return f"HedgedTracker({n} paths of {d} numbers, {self.rounds} rounds)"
        columns = "no observation yet" if self._columns is None else f"{self._columns} columns"
        leading = "" if self._now is None else f", now {np.array2string(self._now, precision=4)}"
        return f"HedgedTracker(linear, {columns}, {self.rounds} rounds{leading})"

    @property
    def weights(self) -> Floats:
        """The weights of the experts: of filters, hypotheses x filters, or of paths."""
        if isinstance(self._engine, Ladder):
            return self._engine.weights(self._belief)
        return np.empty((0, 0)) if self._engine is None else np.asarray(self._belief.game.weights)

    @property
    def refilled(self) -> int:
        """The number of copies of paths made so far."""
        return int(self._belief.refilled) if isinstance(self._engine, Paths) else 0

    def predict(self, steps: int = 1, level: float = 0.9, of: Of = "position") -> TrackPrediction:
        """Return a prediction of the track; the tracker does not change.

        Parameters
        ----------
        steps
            The number of rounds ahead; 0 for the current round.
        level
            The probability of the interval.
        of
            The subject of the interval: the position, or an observation of it, with noise.
        """
        ahead = whole("steps", steps, FARTHEST)
        share = _inputs.number("level", level, 0.0, 1.0)
        if of not in {"position", "observation"}:
            raise ValueError(f"of must be 'position' or 'observation', got {of!r}")
        ends = np.array([0.5 - share / 2.0, 0.5 + share / 2.0])
        if isinstance(self._engine, Paths):
            return self._from_paths(self._engine, ahead, ends, of)
        if self._engine is None or self._now is None:
            unknown = np.full(self._columns or 1, np.nan)
            return TrackPrediction(unknown, unknown, unknown - np.inf, unknown + np.inf)
        return self._from_filters(self._engine, ahead, ends, of)

    def observe(self, observation: Any = None, *, round: int | None = None) -> Floats:  # noqa: A002
        """Learn an observation; return the estimated position.

        Parameters
        ----------
        observation
            A number for each column; None or NaN where it is missing, and time passes.
        round
            The round of the observation, from 0; the next round by default. A late observation is
            inserted into its round, and all rounds since are replayed: the result is the same as if
            it had come in time. For a later round, time passes until then.
        """
        place = self.rounds if round is None else whole("round", round)
        entry = self._checked(observation)
        if place < self.rounds:
            return self._replay(place, entry)
        whole("round", place, self.rounds + FARTHEST)
        for _ in range(place - self.rounds):
            self._learn(None)
        return self._learn(entry)

    def run(self, table: Any, level: float = 0.9, of: Of = "position") -> Track:
        """Predict and observe each row of a table, as calling `predict` and `observe` in a loop.

        Parameters
        ----------
        table
            The observations, T x k or T; None or NaN where missing.
        level, of
            The probability and the subject of the intervals, as for `predict`.
        """
        rows: Iterable[Any] = table
        if not self._own_gains:
            rows = numbers_in = observed_table(table)
            if self._columns is None and not isinstance(self._engine, Paths):
                self._begin(numbers_in.shape[1])
            if len(numbers_in):
                self._checked(numbers_in[0])
        found = []
        for row in rows:
            ahead = self.predict(1, level, of)
            found.append((self.observe(row), ahead.position, ahead.low, ahead.high))
        parts = zip(*found, strict=True) if found else ([np.empty(0)],) * 4
        return Track(*(np.array(part) for part in parts))

    def _begin(self, columns: int) -> None:
        self._columns = columns
        self._engine = Ladder(columns, self._hedger)
        self._belief = self._engine.init()
        # Some rounds without observations have already passed.
        self._past = deque(((self._belief, None) for _ in self._past), maxlen=self.window)

    def _learn(self, entry: Any) -> Floats:
        if self._engine is None and entry is not None:
            self._begin(len(entry))
        before = self._belief
        if isinstance(self._engine, Paths):
            self._belief, self._now = self._engine.step(before, entry)
            if entry is not None and not self._own_gains:
                self._columns = len(entry)
        elif self._engine is not None:
            missing = np.full(self._engine.columns, np.nan)
            self._belief = self._engine.step(before, missing if entry is None else entry)
            if entry is not None or self._now is not None:
                seen = np.isfinite(self._belief.readings.last)
                now = self._belief.origin + self._point(self._engine, self._belief.filters)
                self._now = np.where(seen, now, np.nan)
        self._past.append((before, entry))
        self.rounds += 1
        return np.full(self._columns or 1, np.nan) if self._now is None else self._now.copy()

    def _replay(self, place: int, entry: Any) -> Floats:
        back = self.rounds - place
        if back > len(self._past):
            raise ValueError(
                f"round {place} is too long ago: only the last {self.window} of {self.rounds} "
                "rounds are kept; a larger window keeps more"
            )
        if self._engine is None and entry is not None:
            self._begin(len(entry))
        since = list(self._past)[-back:]
        entries = [_filled(place, since[0][1], entry), *(known for _, known in since[1:])]
        saved = self._belief, self.rounds, self._now, self._past.copy()
        try:
            for _ in range(back):
                self._past.pop()
            self._belief, self.rounds = since[0][0], place
            if isinstance(self._engine, Paths):
                self._engine.restore(self._belief)
            for known in entries:
                now = self._learn(known)
        except Exception:
            self._belief, self.rounds, self._now, self._past = saved
            if isinstance(self._engine, Paths):
                self._engine.restore(self._belief)
            raise
        return now

    def _checked(self, observation: Any) -> Any:
        """Return None, an observation for gains of your own, or a number for each column."""
        if observation is None or self._own_gains:
            return observation
        row = observed_row(observation)
        if self._columns is not None and len(row) != self._columns:
            raise ValueError(
                f"observation must have {self._columns} numbers, one for each column, "
                f"got {len(row)}"
            )
        return None if np.isnan(row).all() else row

    def _from_filters(self, engine: Ladder, steps: int, ends: Floats, of: Of) -> TrackPrediction:
        belief = self._belief
        filters = engine.moved(belief, steps)
        rounding = belief.readings.rounding()
        variance = belief.variance * filters.p00
        variance = variance + (belief.variance if of == "observation" else rounding)
        leader = int(belief.logs.argmax())
        inner = belief.games[leader].weights
        position = self._point(engine, filters)
        known = np.isfinite(belief.variance[leader, 0])
        low, high = np.where(known, 0.0, -np.inf), np.where(known, 0.0, np.inf)
        weights = engine.weights(belief).ravel()
        rank = np.argsort(-weights)  # experts with the last thousandth of the weight are left out
        heavy = rank[: 1 + int(np.searchsorted(np.cumsum(weights[rank]), 0.999))]
        if known.any():
            means = filters.x[..., known].reshape(-1, known.sum())[heavy].T
            widths = np.sqrt(variance[..., known].reshape(-1, known.sum())[heavy].T)
            found = quantiles(means, widths, weights[heavy], ends)
            low[known], high[known] = found.T
            low, high = np.minimum(low, position), np.maximum(high, position)
        spread = inner @ (variance[leader] + np.square(filters.x[leader] - position))
        if of == "observation":  # a reading is at most half the resolution away
            low, high = low - np.sqrt(3.0 * rounding), high + np.sqrt(3.0 * rounding)
        origin, seen = belief.origin, np.isfinite(belief.readings.last)
        position = np.where(seen, position + origin, np.nan)
        return TrackPrediction(position, np.sqrt(spread), low + origin, high + origin)

    def _point(self, engine: Ladder, filters: Filters) -> Floats:
        """Return where the leading hypothesis is, from its origin."""
        leader = int(self._belief.logs.argmax())
        return np.asarray(engine.earned([self._belief.games[leader]])[0] @ filters.x[leader])

    def _from_paths(self, engine: Paths, steps: int, ends: Floats, of: Of) -> TrackPrediction:
        cloud = self._belief
        plain, noisy = engine.ahead(cloud, steps)
        weights = cloud.game.weights
        if of == "observation":
            if cloud.noise is None:
                raise ValueError(
                    "the interval of an observation needs a first observation, and the default "
                    "gains; of='position' always works"
                )
            columns, rng = cloud.noise.shape[1], np.random.default_rng(0)
            plain, noisy = engine.shown(plain, columns), engine.shown(noisy, columns)
            noisy = noisy + cloud.noise * rng.normal(size=noisy.shape)
        position = np.asarray(weights @ plain)
        spread = weights @ np.square(noisy - weights @ noisy)
        low, high = np.array([weighted_quantiles(c, weights, ends) for c in noisy.T]).T
        low, high = np.minimum(low, position), np.maximum(high, position)
        return TrackPrediction(position, np.sqrt(spread), low, high)

    def copy(self) -> "HedgedTracker":
        """Return an independent copy of the tracker."""
        return copy.deepcopy(self)


def _filled(place: int, known: Any, entry: Any) -> Any:
    """Return the observation of a round with a late part added; known numbers stay."""
    if known is None or entry is None:
        return entry if known is None else known
    rows = isinstance(known, np.ndarray) and isinstance(entry, np.ndarray)
    if rows and not (np.isfinite(known) & np.isfinite(entry)).any():
        return np.where(np.isfinite(known), known, entry)
    raise ValueError(f"round {place} already has an observation")
