"""Online conformal prediction: a ladder of predictors, a hedger over them, and an outer step."""

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.intervals._arguments import (
    bases_of,
    check_season,
    checked_levels,
    floats_of,
    known_rounds,
    whole_numbers,
)
from normalhedge.mixtures.intervals._results import Interval, IntervalRun

PATIENCE = 48.0
"""How many misses too many, or too few, make an interval all or nothing: `patience` in the core."""

_MEAN_ABSOLUTE = math.sqrt(math.pi / 2.0)  # a normal deviation, in units of its mean absolute value


@dataclass(frozen=True)
class Conformal:
    r"""Put intervals with guaranteed long-run coverage around forecasts.

    Each side of an interval may miss a = alpha / 2 of the outcomes. A ladder of predictors follows
    the quantiles of the residuals, in units of spreads over several memories; AdaNormalHedge weighs
    them by the pinball losses of both bounds; an outer step adds up the excess of misses,
    ``E = misses - a n``, and widens or narrows:

    .. math::

        \text{high} = \text{center} + \sum_k p_k s_k q_k + S\, g(E), \qquad
        q_k \leftarrow q_k + \eta\,(1[y - \text{center} > s_k q_k] - a)

    Parameters
    ----------
    levels
        The shares of outcomes to cover, each strictly between 0 and 1. Intervals of several levels
        are nested. They are kept in rising order.
    season
        After how many rounds the spread repeats itself, for example 24 or 7. None: it does not. The
        ladder has predictors with and without the season, so an unnecessary season costs little.
    quantiles
        Whether bounds are forecast and not a center: then ``center`` is a lower and an upper bound
        for each level, and the intervals correct them.

    Notes
    -----
    **State.** `init` returns a float64 array with a row for each game (a series, or a series at
    one horizon). A row is all that is remembered of a game: copy rows, save them by ``tolist()``
    and read them back by ``np.array``, exact to the last bit.

    **Guarantee.** Let outcomes be at most d rounds late. Then for every sequence of outcomes the
    misses among the n rounds that are counted differ from alpha n by less than
    ``48 + 2 d + (1 - alpha)(d + 1)``: see `bound` and docs/intervals.md. Not counted are rounds
    before the first outcome of a game, whose intervals are infinite (with ``quantiles``, they are
    the forecast bounds, and count); hits of an interval without width; and hits of an interval that
    was widened to contain the interval of a narrower level.

    A round costs about 0.5 microseconds for each level in `run`.

    References
    ----------
    Gibbs and Candès, "Adaptive conformal inference under distribution shift" (2021); Zaffran et
    al., "Adaptive conformal predictions for time series" (2022); Angelopoulos, Candès and
    Tibshirani, "Conformal PID control for time series prediction" (2023).

    Examples
    --------
    >>> intervals = Conformal(levels=(0.5, 0.9))
    >>> games = intervals.init()
    >>> rng = np.random.default_rng(0)
    >>> for center in rng.normal(size=300):
    ...     told = intervals.predict(games, center)          # told.low, told.high, by level
    ...     outcome = center + rng.normal()
    ...     games = intervals.observe(games, told.token, outcome)
    >>> rounds, below, above = intervals.counts(games)[0, 1]      # of the first game, 90 %
    >>> rounds, abs((below + above) / rounds - 0.1) < 0.02
    (np.float64(299.0), np.True_)
    """

    levels: tuple[float, ...] = (0.9,)
    season: int | None = None
    quantiles: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", checked_levels(self.levels))
        object.__setattr__(self, "season", check_season(self.season))

    def init(self, games: int = 1) -> Floats:
        """Return the memory of so many games before their first round, a row for each."""
        rows = np.empty((inputs.count("games", games), self._sizes[0]))
        _core.conformal_begin(self.settings, rows)
        return rows

    def predict(
        self,
        games: Floats,
        center: npt.ArrayLike,
        game: npt.ArrayLike = 0,
        moment: npt.ArrayLike = 0,
    ) -> Interval:
        """Return the intervals of the next round of a game, or of several games; nothing changes.

        Parameters
        ----------
        games
            The memory of the games.
        center
            The forecast, or an array with one for each round. With ``quantiles``, a pair (lower,
            upper) for each level, or an array of rounds x levels x 2; pairs are sorted. NaN: there
            is no interval.
        game
            Whose round it is: the number of the row in ``games``, or one for each round.
        moment
            The number of the round in time, for the phase of the season.

        Returns
        -------
        Interval
            Infinite while a game has no outcome yet.
        """
        told = _core.conformal_predict_one(self.settings, games, center, game, moment, Interval)
        if told is not None:
            return told
        self._check_games(games)
        bases, shape = bases_of(center, self.levels, quantiles=self.quantiles)
        rounds = len(bases)
        bounds = np.empty((rounds, 2 * len(self.levels)))
        tokens = np.empty((rounds, self._sizes[1]))
        _core.conformal_predict(
            self.settings,
            games,
            whole_numbers("game", game, rounds, below=len(games)),
            bases,
            whole_numbers("moment", moment, rounds),
            bounds,
            tokens,
        )
        size = (*shape, len(self.levels))
        low, high = bounds[:, 0::2].reshape(size), bounds[:, 1::2].reshape(size)
        return Interval(low, high, tokens.reshape((*shape, -1)))

    def observe(
        self,
        games: Floats,
        token: npt.ArrayLike,
        outcome: npt.ArrayLike,
        game: npt.ArrayLike = 0,
        late: npt.ArrayLike = 0,
        *,
        in_place: bool = False,
    ) -> Floats:
        """Return the memory after the outcome of a round, or of several, one after the other.

        Parameters
        ----------
        games
            The memory of the games.
        token
            The token that `predict` returned with the interval, or a row for each round.
        outcome
            The outcome. NaN: nothing is learned.
        game
            Whose round it was.
        late
            How many rounds of this game were predicted after this one and before its outcome came.
        in_place
            Whether to change ``games`` itself, which saves a copy.
        """
        after = games.copy() if not in_place and isinstance(games, np.ndarray) else games
        if _core.conformal_observe_one(self.settings, after, token, outcome, game, late):
            return after
        self._check_games(games)
        tokens = self._check_tokens(token)
        rounds = len(tokens)
        numbers = np.atleast_1d(floats_of("outcome", outcome))
        if numbers.shape != (rounds,):
            raise ValueError(
                f"outcome must be one number for each token, {rounds}, got {numbers.shape}"
            )
        delays = whole_numbers("late", late, rounds, least=0).astype(np.float64)
        which = whole_numbers("game", game, rounds, below=len(games))
        if in_place and not games.flags.writeable:
            raise ValueError("games must be writeable to be changed in place: copy the array first")
        _core.conformal_observe(self.settings, after, which, tokens, numbers, delays)
        return after

    def run(
        self,
        center: npt.ArrayLike,
        outcomes: npt.ArrayLike,
        *,
        lag: int = 0,
        known_at: npt.ArrayLike | None = None,
        game: npt.ArrayLike = 0,
        moment: npt.ArrayLike | None = None,
        games: Floats | None = None,
        tokens: Floats | None = None,
        numbers: npt.ArrayLike = 0,
        predicted: npt.ArrayLike = 0,
    ) -> IntervalRun:
        """Predict and learn a whole table, to the last bit as `predict` and `observe` in turns.

        Parameters
        ----------
        center
            The forecast of each round; with ``quantiles``, rounds x levels x 2.
        outcomes
            The outcome of each round; NaN where it is not known.
        lag
            How many further rounds of the table are predicted before an outcome is known.
        known_at
            In place of ``lag``, for each round: the number of the first round that is predicted
            when its outcome is known, at least its own number + 1. The number of rounds: known at
            the end. More: never.
        game
            Whose round it is; one number for all, or one for each round.
        moment
            The number of each round in time, for the phase of the season. None: 0, 1, 2, ...
        games
            The memory of the games, which is not changed. None: new games.
        tokens, numbers
            If the first rounds of the table were predicted before: a token for each of them, and
            how many rounds of its game were predicted before it. Their intervals do not change.
        predicted
            How many rounds of each game were predicted before the table.
        """
        bases, shape = bases_of(center, self.levels, quantiles=self.quantiles)
        rounds = len(bases)
        if not shape:
            raise ValueError("center must have a row for each round; predict takes a single one")
        values = floats_of("outcomes", outcomes)
        if values.shape != (rounds,):
            raise ValueError(
                f"outcomes must be one number for each center, {rounds}, got {values.shape}"
            )
        known = known_rounds(known_at, lag, rounds)
        if games is None:
            which = whole_numbers("game", game, rounds)
            rows = self.init(int(which.max(initial=0)) + 1)
        else:
            self._check_games(games)
            rows = games.copy()
        which = whole_numbers("game", game, rounds, below=len(rows))
        moments = np.arange(rounds) if moment is None else moment
        earlier = np.empty((0, self._sizes[1])) if tokens is None else self._check_tokens(tokens)
        waiting = np.flatnonzero(known > rounds)
        slots = np.full(rounds, -1)
        slots[: len(earlier)] = np.arange(len(earlier))
        new = waiting[waiting >= len(earlier)]
        slots[new] = np.arange(len(earlier), len(earlier) + len(new))
        kept = np.concatenate([earlier, np.empty((len(new), self._sizes[1]))])
        number = np.full(rounds, -1)
        number[: len(earlier)] = whole_numbers("numbers", numbers, len(earlier), least=0)
        counts = whole_numbers("predicted", predicted, len(rows), least=0).copy()
        bounds = np.empty((rounds, 2 * len(self.levels)))
        _core.conformal_run(
            self.settings, rows, which, bases, whole_numbers("moment", moments, rounds), values,
            known, np.argsort(known, kind="stable"), bounds, counts, number, slots, kept,
        )  # fmt: skip
        low, high = bounds[:, 0::2].copy(), bounds[:, 1::2].copy()
        return IntervalRun(low, high, rows, counts, waiting, kept[slots[waiting]], number[waiting])

    def bound(self, rounds: int, delay: int = 0) -> float:
        """Return by how much the share of misses can differ from alpha, whatever the outcomes are.

        Parameters
        ----------
        rounds
            How many rounds of a game are counted.
        delay
            How many rounds an outcome is late at most.

        Returns
        -------
        float
            ``(48 + 2 d + (1 - alpha)(d + 1)) / n``, for the level with the largest; at most 1.
        """
        n, d = inputs.count("rounds", rounds), inputs.number("delay", delay, 0.0, closed=True)
        step = max(max(level, 1.0 - level) for level in self.levels)
        return min((PATIENCE + 2.0 * d + step * (d + 1.0)) / n, 1.0)

    def counts(self, games: Floats) -> Floats:
        """Return the counts: games x levels x (rounds, misses below, misses above)."""
        self._check_games(games)
        size = (len(games), len(self.levels), self._sizes[2])
        return games[:, -size[1] * size[2] :].reshape(size)[:, :, :3].copy()

    @property
    def sizes(self) -> tuple[int, int]:
        """The lengths of a row of games and of a token."""
        return self._sizes[:2]

    @property
    def bound_columns(self) -> tuple[np.ndarray, np.ndarray]:
        """The columns of a token with the lower and the upper bound of each level."""
        count, length, first = len(self.levels), self._sizes[1], self._sizes[3]
        low = first + np.arange(count) * ((length - first) // count)
        return low, low + 1

    @cached_property
    def settings(self) -> Floats:
        """The settings as the core reads them."""
        starts = [_MEAN_ABSOLUTE * NormalDist().inv_cdf(0.5 + 0.5 * level) for level in self.levels]
        pairs = zip((1.0 - level for level in self.levels), starts, strict=True)
        return np.array(
            [self.season or 0, self.quantiles, *(x for pair in pairs for x in pair)], float
        )

    @cached_property
    def _sizes(self) -> tuple[int, int, int, int]:
        return _core.conformal_sizes(self.settings)

    def _check_tokens(self, token: npt.ArrayLike) -> Floats:
        tokens = np.atleast_2d(floats_of("token", token))
        if tokens.ndim != 2 or tokens.shape[1] != self._sizes[1]:
            raise ValueError(
                f"token must be {self._sizes[1]} numbers that predict of the same Conformal "
                f"returned, got an array of shape {np.shape(token)}"
            )
        return tokens

    def _check_games(self, games: object) -> None:
        size = self._sizes[0]
        if (
            not isinstance(games, np.ndarray)
            or games.dtype != np.float64
            or games.ndim != 2
            or games.shape[1] != size
            or not games.flags.c_contiguous
        ):
            raise ValueError(
                f"games must be a float64 array of {size} columns that init of the same Conformal "
                "returned"
            )
