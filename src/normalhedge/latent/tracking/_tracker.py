"""Tracking a moving position: Kalman filters as experts, or paths with dynamics of your own."""

import copy
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.hedgers import CompiledHedger
from normalhedge.latent.tracking._dynamics import Ladder
from normalhedge.latent.tracking._paths import Jitter, Move, Paths, Score
from normalhedge.latent.tracking._track import (
    FARTHEST,
    Of,
    Track,
    TrackerState,
    TrackPrediction,
    check_whole,
    point,
    predict_track,
)
from normalhedge.live.live_object import LiveObject

LARGEST = 1e50  # the largest observation; with larger ones, ratios of variances overflow


class HedgedTracker(LiveObject[TrackerState]):
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
    The theorem does not cover copies, because a copy inherits the regret of its parent. A round
    costs O(N), and a late observation as much as the rounds since. A tracker with linear dynamics
    can be pickled. Whatever interrupts a method, such as Ctrl-C or an error in your dynamics, the
    tracker is as it was before it, or as it is after it.

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
        self.window = inputs.count("window", window)
        self._hedger = hedger
        self._own_gains = gains is not None
        engine = None
        if paths is not None and move is not None and jitter is not None:
            draws = np.random.default_rng(_check_seed(rng))
            engine = Paths(paths, move, jitter, gains, draws, hedger, seen)
        elif any(part is not None for part in (paths, move, jitter, gains, seen)):
            raise ValueError(
                "dynamics of your own need paths, move and jitter; linear dynamics need none of "
                "paths, move, jitter, gains and seen"
            )
        self._state = TrackerState(engine, None if engine is None else engine.init())

    def __repr__(self) -> str:
        state = self._state
        if isinstance(state.engine, Paths):
            n, d = state.engine.start.shape
            return f"HedgedTracker({n} paths of {d} numbers, {counted(state.rounds, 'round')})"
        columns = (
            "no observation yet" if state.columns is None else counted(state.columns, "column")
        )
        leading = "" if state.now is None else f", now {np.array2string(state.now, precision=4)}"
        return f"HedgedTracker(linear, {columns}, {counted(state.rounds, 'round')}{leading})"

    @property
    def rounds(self) -> int:
        """The number of rounds so far."""
        return self._state.rounds

    @property
    def weights(self) -> Floats:
        """The weights of the experts: of filters, hypotheses x filters, or of paths."""
        engine, belief = self._state[:2]
        if isinstance(engine, Ladder):
            return engine.weights(belief)
        return np.empty((0, 0)) if engine is None else np.asarray(belief.game.weights)

    @property
    def refilled(self) -> int:
        """The number of copies of paths made so far."""
        engine, belief = self._state[:2]
        return int(belief.refilled) if isinstance(engine, Paths) else 0

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
        return predict_track(self._state, steps, level, of)

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
        before = self._state
        after = self._after(before, observation, round)
        self._change(before, after)
        return after.position()

    def run(self, table: Any, level: float = 0.9, of: Of = "position") -> Track:
        """Predict and observe each row of a table, as calling `predict` and `observe` in a loop.

        Parameters
        ----------
        table
            The observations, T x k or T; None or NaN where missing.
        level, of
            The probability and the subject of the intervals, as for `predict`.
        """
        before = state = self._state
        rows: Iterable[Any] = table
        if not self._own_gains:
            rows = numeric = _check_table(table)
            if state.columns is None and not isinstance(state.engine, Paths):
                state = self._begin(state, numeric.shape[1])
            if len(numeric):
                self._check(state, numeric[0])
        rounds = []
        for row in rows:
            ahead = predict_track(state, 1, level, of)
            state = self._after(state, row)
            rounds.append((state.position(), ahead.position, ahead.low, ahead.high))
        parts = zip(*rounds, strict=True) if rounds else ([np.empty(0)],) * 4
        track = Track(*(np.array(part) for part in parts))
        self._change(before, state)
        return track

    def copy(self) -> "HedgedTracker":
        """Return an independent copy of the tracker."""
        return copy.deepcopy(self)

    def _after(
        self, state: TrackerState, observation: Any, round_: int | None = None
    ) -> TrackerState:
        """Return the state after an observation."""
        place = state.rounds if round_ is None else check_whole("round", round_)
        entry = self._check(state, observation)
        if place < state.rounds:
            return self._replay(state, place, entry)
        check_whole("round", place, state.rounds + FARTHEST)
        for _ in range(place - state.rounds):
            state = self._learn(state, None)
        return self._learn(state, entry)

    def _begin(self, state: TrackerState, columns: int) -> TrackerState:
        engine = Ladder(columns, self._hedger)
        belief = engine.init()
        # Some rounds without observations have already passed.
        past = tuple((belief, None) for _ in state.past)
        return state._replace(engine=engine, belief=belief, columns=columns, past=past)

    def _learn(self, state: TrackerState, entry: Any) -> TrackerState:
        """Return the state after a round; the entry is None if its observation is missing."""
        if state.engine is None and entry is not None:
            state = self._begin(state, len(entry))
        engine, belief, columns, rounds, now, past = state
        if isinstance(engine, Paths):
            belief, now = engine.step(belief, entry)
            if entry is not None and not self._own_gains:
                columns = len(entry)
        elif engine is not None:
            missing = np.full(engine.columns, np.nan)
            belief = engine.step(belief, missing if entry is None else entry)
            if entry is not None or now is not None:
                seen = np.isfinite(belief.readings.last)
                now = belief.origin + point(engine, belief, belief.filters)
                now = np.where(seen, now, np.nan)
        past = (*past, (state.belief, entry))[-self.window :]
        return TrackerState(engine, belief, columns, rounds + 1, now, past)

    def _replay(self, state: TrackerState, place: int, entry: Any) -> TrackerState:
        """Return the state with an observation inserted into an earlier round."""
        back = state.rounds - place
        if back > len(state.past):
            raise ValueError(
                f"round {place} is too long ago: only the last {self.window} of {state.rounds} "
                "rounds are kept; a larger window keeps more"
            )
        if state.engine is None and entry is not None:
            state = self._begin(state, len(entry))
        since = state.past[-back:]
        entries = [_fill(place, since[0][1], entry), *(known for _, known in since[1:])]
        state = state._replace(belief=since[0][0], rounds=place, past=state.past[:-back])
        for known in entries:
            state = self._learn(state, known)
        return state

    def _check(self, state: TrackerState, observation: Any) -> Any:
        """Return None, an observation for gains of your own, or a number for each column."""
        if observation is None or self._own_gains:
            return observation
        row = _check_row(observation)
        if state.columns is not None and len(row) != state.columns:
            raise ValueError(
                f"observation must have {state.columns} numbers, one for each column, "
                f"got {len(row)}"
            )
        return None if np.isnan(row).all() else row


def _fill(place: int, known: Any, entry: Any) -> Any:
    """Return the observation of a round with a late part added; known numbers stay."""
    if known is None or entry is None:
        return entry if known is None else known
    rows = isinstance(known, np.ndarray) and isinstance(entry, np.ndarray)
    if rows and not (np.isfinite(known) & np.isfinite(entry)).any():
        return np.where(np.isfinite(known), known, entry)
    raise ValueError(f"round {place} already has an observation")


def _check_row(observation: Any) -> Floats:
    """Return a number for each column, NaN where it is missing."""
    if isinstance(observation, str | bytes | bool):
        raise TypeError(f"observation must be numbers or None, got {observation!r}")
    if isinstance(observation, numbers.Real):
        observation = [observation]
    row = _floats("observation", observation)
    if row.ndim == 0:
        row = row[np.newaxis]
    if row.ndim != 1 or not row.size:
        raise ValueError(f"observation must be a number for each column, got shape {row.shape}")
    return row


def _check_table(table: Any) -> Floats:
    """Return T x k numbers, NaN where missing."""
    rows = _floats("table", table)
    if rows.ndim == 1:
        rows = rows[:, np.newaxis]
    if rows.ndim != 2 or not rows.shape[1]:
        raise ValueError(f"table must be T x k, a round in each row, got shape {rows.shape}")
    return rows


def _floats(name: str, values: Any) -> Floats:
    """Return finite numbers, NaN where missing."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must have the same number of columns in each row") from None
    if array.dtype == object:
        wrong = [v for v in array.ravel() if not (v is None or inputs.is_number(v))]
        if wrong:
            raise TypeError(f"{name} must be numbers or None, got {wrong[0]!r}")
    elif array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be numbers or None, got {array.dtype.name}")
    floats = array.astype(np.float64)
    if (np.abs(floats) > LARGEST).any():
        raise ValueError(f"{name} must be finite, within ±{LARGEST:g}; NaN or None is missing")
    return floats


def _check_seed(rng: Any) -> Any:
    """Return a seed or generator that `numpy.random.default_rng` accepts."""
    if rng is None or isinstance(rng, np.random.Generator):
        return rng
    return check_whole("rng", rng)
