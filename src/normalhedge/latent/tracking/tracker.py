"""Tracking a hidden position that moves: Kalman filters as experts, or paths of your own."""

import copy
from collections import deque
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.hedgers import CompiledHedger
from normalhedge.latent.tracking._observations import observed_row, observed_table, seed, whole
from normalhedge.latent.tracking.dynamics import Filters, Ladder
from normalhedge.latent.tracking.mixed_normals import quantiles, weighted_quantiles
from normalhedge.latent.tracking.paths import Jitter, Move, ParticleFilter, Paths, Score

__all__ = ["HedgedTracker", "Jitter", "Move", "ParticleFilter", "Prediction", "Score", "Track"]

Of = Literal["position", "observation"]

FARTHEST = 100_000
"""Rounds that pass at once, at most."""


class Prediction(NamedTuple):
    """Where the track is expected, a number for each column.

    Attributes
    ----------
    position
        The expected position, given the most likely hypothesis.
    deviation
        Its standard deviation.
    low, high
        The interval, of all hypotheses together; it holds the position, and is infinite while no
        scale is known.
    """

    position: Floats
    deviation: Floats
    low: Floats
    high: Floats


class Track(NamedTuple):
    """What `run` returns, a row for each round.

    Attributes
    ----------
    positions
        After the observation.
    expected, low, high
        One round before it: what `predict` returned.
    """

    positions: Floats
    expected: Floats
    low: Floats
    high: Floats


class HedgedTracker:
    r"""Follow a position that moves, live: missing, late and absurd observations are expected.

    Without arguments the dynamics are linear and there is nothing to tune: twenty Kalman filters
    (local levels, damped and constant velocities, slow to fast) are the experts. A hedger weighs
    them by the logarithm of the density that each gave to the observation, which allows for absurd
    ones; scales are learned on the way. See `Ladder` for the equations.

    With ``paths``, ``move`` and ``jitter`` the dynamics are your own, and paths are the experts.
    Those that are not ahead of the tracker are dropped, and refilled by copies of the others, with
    noise and with their parent's regret:

    .. math:: R_i \leftarrow (1 - \alpha) R_i + g_i - \textstyle\sum_j p_j g_j, \qquad
              p_i \propto [R_i]_+ e^{\alpha [R_i]_+^2 / 2c}, \qquad
              \hat x = \textstyle\sum_i p_i x_i

    Parameters
    ----------
    paths
        Where the paths start, N x d. The state must hold all that the dynamics need, such as a
        velocity. None: linear dynamics.
    move, jitter
        Your dynamics, and the noise that copies get; functions of all paths at once.
    gains
        How well each path explains an observation, in [-1, 1]: bounded, so that no single one can
        mislead it for long. By default the log density of an observation of the first columns, or
        of what ``seen`` returns, in noise whose scale each path has of its own.
    rng
        Where the draws of paths come from: a generator of the tracker's own, or a seed.
    hedger
        Who weighs the experts. By default `FixedShare` for filters, and `NormalHedge` for paths:
        ``alpha=0.5, c=0.1``, or ``alpha=0.1`` where the gains are your own.
    seen
        Paths in, what would be observed of each out, N x k.
    window
        How many rounds are kept, so that late observations can be put where they belong.

    Notes
    -----
    Refilling is outside of the theorem: a copy's regret is not its own. A round costs O(N), a late
    observation as much as the rounds since. `pickle` saves a tracker with linear dynamics.

    References
    ----------
    Chaudhuri, Freund and Hsu, "Tracking using explanation-based modeling" (arXiv 0903.2862); Blom
    and Bar-Shalom, "The interacting multiple model algorithm" (1988), for how filters share states.

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
                "your own dynamics need paths, move and jitter; linear dynamics none of paths, "
                "move, jitter, gains and seen"
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
        """The weights of the experts: of filters, hypotheses x filters; or of paths."""
        if isinstance(self._engine, Ladder):
            return self._engine.weights(self._belief)
        return np.empty((0, 0)) if self._engine is None else np.asarray(self._belief.game.weights)

    @property
    def refilled(self) -> int:
        """How many copies of paths were made."""
        return int(self._belief.refilled) if isinstance(self._engine, Paths) else 0

    def predict(self, steps: int = 1, level: float = 0.9, of: Of = "position") -> Prediction:
        """Return where the track is expected; nothing changes.

        Parameters
        ----------
        steps
            How many rounds ahead; 0: now.
        level
            The probability of the interval.
        of
            What the interval is of: the position, or an observation of it, with noise.
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
            return Prediction(unknown, unknown, unknown - np.inf, unknown + np.inf)
        return self._from_filters(self._engine, ahead, ends, of)

    def observe(self, observation: Any = None, *, round: int | None = None) -> Floats:  # noqa: A002
        """Learn an observation; return where the track is now.

        Parameters
        ----------
        observation
            A number for each column. None or NaN: that was not observed, and time passes.
        round
            Of which round it is, from 0. One that has passed: it is put where it belongs, and all
            since is replayed, so that the result is the same as if it had come in time. One that
            is ahead: time passes until there, without observations. None: the next.
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
        """Predict and observe each row of a table, T x k or T; None and NaN are missing.

        It is the same as calling `predict` and then `observe` with each row.
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
            said = self.predict(1, level, of)
            found.append((self.observe(row), said.position, said.low, said.high))
        parts = zip(*found, strict=True) if found else ([np.empty(0)],) * 4
        return Track(*(np.array(part) for part in parts))

    def _begin(self, columns: int) -> None:
        self._columns = columns
        self._engine = Ladder(columns, self._hedger)
        self._belief = self._engine.init()
        # Rounds have passed already in which nothing was observed.
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
                f"round {place} is too long ago: the last {self.window} of {self.rounds} rounds "
                "are kept; a larger window keeps more"
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
        """Return None, an observation for the own gains, or a number for each column."""
        if observation is None or self._own_gains:
            return observation
        row = observed_row(observation)
        if self._columns is not None and len(row) != self._columns:
            raise ValueError(
                f"observation must have {self._columns} numbers, one for each column, "
                f"got {len(row)}"
            )
        return None if np.isnan(row).all() else row

    def _from_filters(self, engine: Ladder, steps: int, ends: Floats, of: Of) -> Prediction:
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
        rank = np.argsort(-weights)  # a thousandth of the weight is left out
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
        return Prediction(position, np.sqrt(spread), low + origin, high + origin)

    def _point(self, engine: Ladder, filters: Filters) -> Floats:
        """Return where the leading hypothesis is, from its origin."""
        leader = int(self._belief.logs.argmax())
        return np.asarray(engine.earned([self._belief.games[leader]])[0] @ filters.x[leader])

    def _from_paths(self, engine: Paths, steps: int, ends: Floats, of: Of) -> Prediction:
        cloud = self._belief
        plain, noisy = engine.ahead(cloud, steps)
        weights = cloud.game.weights
        if of == "observation":
            if cloud.noise is None:
                raise ValueError(
                    "the interval of an observation needs an observation first, and gains that are "
                    "not your own; of='position' works always"
                )
            columns, rng = cloud.noise.shape[1], np.random.default_rng(0)
            plain, noisy = engine.shown(plain, columns), engine.shown(noisy, columns)
            noisy = noisy + cloud.noise * rng.normal(size=noisy.shape)
        position = np.asarray(weights @ plain)
        spread = weights @ np.square(noisy - weights @ noisy)
        low, high = np.array([weighted_quantiles(c, weights, ends) for c in noisy.T]).T
        low, high = np.minimum(low, position), np.maximum(high, position)
        return Prediction(position, np.sqrt(spread), low, high)

    def copy(self) -> "HedgedTracker":
        """Return a tracker that goes on from here by itself."""
        return copy.deepcopy(self)


def _filled(place: int, known: Any, entry: Any) -> Any:
    """Return a round's observation with what came late; what is known stays."""
    if known is None or entry is None:
        return entry if known is None else known
    rows = isinstance(known, np.ndarray) and isinstance(entry, np.ndarray)
    if rows and not (np.isfinite(known) & np.isfinite(entry)).any():
        return np.where(np.isfinite(known), known, entry)
    raise ValueError(f"round {place} has an observation already")
