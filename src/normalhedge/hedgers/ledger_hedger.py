"""Hedgers that keep a ledger: a few numbers for each expert, and a weight made of them.

They differ in their rows and in how these become weights; this is everything else.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.certificates import Bound
from normalhedge.hedgers import _ledger
from normalhedge.hedgers._arguments import check_columns, leaving, tables
from normalhedge.hedgers._ledger import OWN, Kernels
from normalhedge.hedgers._round import BAD_INPUT
from normalhedge.hedgers.ledger_state import LedgerState, check_ledger_state
from normalhedge.hedgers.protocol import Run
from normalhedge.hedgers.regret_state import rank
from normalhedge.hedgers.report import Report

_new, _ndarray = tuple.__new__, np.ndarray
_FLOAT64 = np.dtype(np.float64)

BLOCK = 1 << 20
"""How many gains `run` converts at a time when they are not float64."""

NEEDS_COUNT = "the number of experts sets its rate, and a sleeper counts"
"""Why the hedgers that are tuned by ln N break the law `a_sleeper_changes_nothing`."""


class LedgerHedger:
    """A hedger that keeps a ledger; see `normalhedge.hedgers._ledger` for its rows.

    A subclass is a frozen dataclass with a field ``alpha``, whose ``__post_init__`` hands its
    settings to ``_prepare``, and whose ``_kernels`` are made by `kernels_of` at the end of its
    file.

    What an algorithm by its nature does not do is said in ``breaks``.
    """

    rows: ClassVar[tuple[str, ...]] = ()
    """Its own rows in the ledger, after the regret."""

    names: ClassVar[tuple[str, ...]] = ()
    """Its totals."""

    degrees: ClassVar[Mapping[str, int]] = {}
    """How its rows and totals grow with the size of the gains, where that is not in proportion: 2
    for squares, 0 for counts. Gains of half the size make each ``2^-degree`` times as large; of the
    weights, which are in no ledger, their logarithms, where these are what it remembers."""

    free_of_scale: ClassVar[bool] = False
    """Whether `bound` holds where all gains so far are halved on the way (see ``degrees``): where
    that is the state of the game on those gains, or raises no potential that the proof goes by."""

    breaks: ClassVar[Mapping[str, str]] = {}
    """The laws of `normalhedge.checks` it does not obey, each with the reason."""

    alpha: float
    _settings: Floats
    _sizes: tuple[int, int]
    _kernels: ClassVar[Kernels]

    def _prepare(self, *settings: float) -> None:
        """Check alpha, and set what the kernels need."""
        alpha = _inputs.number("alpha", self.alpha, 0.0, 1.0, closed=True)
        if alpha == 1.0:
            raise ValueError("alpha must be in [0, 1), got 1.0")
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "_settings", np.array([1.0 - alpha, *settings]))
        object.__setattr__(self, "_sizes", (OWN + len(self.rows), len(self.names)))

    def _check(self, state: Any) -> None:
        """Refuse what is not a state, and one of another hedger: kernels would write beyond it."""
        check_ledger_state(state)
        rows, names = self._sizes
        if (len(state.ledger), len(state.totals)) != (rows, names):
            raise ValueError(
                f"state must be one of {type(self).__name__}, whose ledger has {rows} rows and "
                f"{names} totals, got {len(state.ledger)} and {len(state.totals)}"
            )

    def bound(self, n_experts: int, rounds: int, quantile: float | None = None) -> Bound:
        """Return what is promised before the game, whatever the gains.

        Parameters
        ----------
        n_experts
            How many experts take part.
        rounds
            How long the game is.
        quantile
            Epsilon, for the regret to the best epsilon-quantile of experts; none for the best.
        """
        regret = self._a_priori(*_game(n_experts, rounds), _share(n_experts, quantile))
        return Bound(*regret)

    def _a_priori(self, n: int, rounds: int, share: float) -> tuple[float, str]:
        """Return the bound of `bound` and where it is from."""
        del n, rounds, share
        return math.inf, f"no theorem covers {type(self).__name__} here"

    def bounds(self, state: LedgerState) -> Floats:
        """Return what is promised now: a number for each expert that its regret does not exceed.

        It holds where the same experts took part from the start (they may have slept).
        """
        self._check(state)
        if state.rounds == 0:
            return np.zeros(len(state.weights))
        return np.minimum(self._a_posteriori(state), self.bound(state.joined, state.rounds).regret)

    def _a_posteriori(self, state: LedgerState) -> Floats:
        """Return what the ledger itself bounds the regrets by."""
        return np.full(len(state.weights), math.inf)

    def effective_rounds(self, rounds: int) -> float:
        """Return ``sum_(s < rounds) (1 - alpha)^2s``: the rounds, as discounted squares count."""
        if self.alpha == 0.0:
            return float(rounds)
        # An alpha of 1e-17 is not lost, as it is in 1 - alpha.
        return -math.expm1(2.0 * rounds * math.log1p(-self.alpha)) / (
            self.alpha * (2.0 - self.alpha)
        )

    def init(self, n: int) -> LedgerState:
        """Return the state before the first round."""
        n = _inputs.count("n", n)
        totals = np.zeros(len(self.names))
        ledger = np.zeros((OWN + len(self.rows), n))
        self._begin(ledger, n)
        return _new(LedgerState, (np.full(n, 1.0 / n), ledger, totals, 0, n, 0.0))

    def _begin(self, columns: Floats, n: int) -> None:
        """Write what new experts begin with, where it is not zero, when they are n in all."""

    def _scores(self, weights: Floats, ledger: Floats, totals: Floats) -> Floats:
        scores = np.empty(len(weights))
        self._kernels.score(weights, ledger, totals, self._settings, scores)
        return scores

    def _weighed(
        self, state: LedgerState, weights: Floats, ledger: Floats, joined: int
    ) -> LedgerState:
        """Return the state with other columns, weighed anew."""
        totals, weighed = state.totals.copy(), np.empty(len(weights))
        _ledger.spread_scores(self._scores(weights, ledger, totals), weighed)
        return _new(LedgerState, (weighed, ledger, totals, state.rounds, joined, state.gain))

    def play(self, state: LedgerState, confidence: npt.ArrayLike | None = None) -> Floats:
        """Return the distribution over experts that is played next.

        Parameters
        ----------
        state
            Where the game stands.
        confidence
            How far each expert wants to be heard, in [0, 1]; 0 is asleep. None: all awake.
        """
        self._check(state)
        if confidence is None:
            return state.weights.copy()
        n = len(state.weights)
        rated = _inputs.confidences(confidence, n)
        if not (rated.min() >= 0.0 and rated.max() <= 1.0):
            _inputs.refuse(np.zeros(n), rated)
        played = np.empty(n)
        scores = self._scores(state.weights, state.ledger, state.totals.copy())
        _ledger.share(scores, rated, played)
        return played

    def step(
        self,
        state: LedgerState,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        in_place: bool = False,
    ) -> LedgerState:
        """Return the state after a round.

        Parameters
        ----------
        state
            Where the game stands; it is not changed, unless ``in_place``.
        gains
            The gain of each expert, in [-1, 1]; that of a sleeper is not looked at.
        confidence
            How far each expert was heard, in [0, 1]; 0 is asleep. None: all awake.
        in_place
            Whether to overwrite the arrays of ``state``, which is then used up.
        """
        if type(state) is not LedgerState:
            check_ledger_state(state)
        weights, ledger, totals, rounds, joined, _ = state
        if (len(ledger), len(totals)) != self._sizes:
            self._check(state)
        # The common case is checked here: at N = 10 each call of a function shows.
        if (
            type(gains) is not _ndarray
            or gains.dtype is not _FLOAT64
            or gains.shape != weights.shape
            or not gains.flags.carray  # in rows, aligned, and writeable
        ):
            gains = _inputs.vector("gains", gains, weights.size).astype(np.float64, copy=False)
        if not in_place:
            weights, ledger = weights.copy(), ledger.copy()
            totals = totals.copy() if self.names else totals  # of nothing there need be no copy
        earned: float | None
        if confidence is None:
            earned, _ = self._kernels.round(weights, ledger, totals, self._settings, gains)
            if earned == BAD_INPUT:
                _inputs.refuse(gains, None)
        else:
            earned = self._rated_step((weights, ledger, totals), gains, confidence)
        return _new(LedgerState, (weights, ledger, totals, rounds + 1, joined, earned))

    def _rated_step(
        self, now: tuple[Floats, Floats, Floats], gains: Floats, confidence: npt.ArrayLike
    ) -> float | None:
        """Play a round in place; return the hedger's gain, none where nobody was awake."""
        rated = _inputs.confidences(confidence, len(gains))
        records = np.empty((1, 2))
        table = gains.reshape(1, -1), rated.reshape(1, -1)
        if not self._kernels.rounds(*now, self._settings, *table, records, _NONE):
            _inputs.refuse(gains, rated)
        gain = records.item(0)
        return None if math.isnan(gain) else gain

    def run(
        self,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        state: LedgerState | None = None,
        keep_weights: bool = False,
    ) -> Run:
        """Play many rounds: what folding `step` over the rows gives, to the bit.

        Parameters
        ----------
        gains
            T x N, a round in each row.
        confidence
            T x N, or none when all are awake.
        state
            Where to begin; none for the first round. It is not changed.
        keep_weights
            Whether to return what was played in each round.
        """
        table, rated = tables(gains, confidence)
        rounds, n = table.shape
        state = self.init(n) if state is None else state
        self._check(state)
        check_columns(table, len(state.weights))
        now = (state.weights.copy(), state.ledger.copy(), state.totals.copy())
        records = np.empty((rounds, 2))
        played = np.empty((rounds, n)) if keep_weights else None
        block = max(BLOCK // n, 1)
        for start in range(0, rounds, block):
            part = slice(start, min(start + block, rounds))
            done = self._kernels.rounds(
                *now,
                self._settings,
                _inputs.floats(table[part]),
                _NONE if rated is None else _inputs.floats(rated[part]),
                records[part],
                _NONE if played is None else played[part],
            )
            if start + done < part.stop:
                row = start + done
                _inputs.refuse(table[row], None if rated is None else rated[row], row)
        earned, leads = np.ascontiguousarray(records.T)
        last = None if math.isnan(earned[-1]) else float(earned[-1])
        after = _new(LedgerState, (*now, state.rounds + rounds, state.joined, last))
        return Run(after, earned, leads, np.full(rounds, math.nan), played)

    def join(self, state: LedgerState, count: int = 1) -> LedgerState:
        """Return the state with ``count`` more experts at its end, as if they had slept so far.

        Where weights are what is remembered (Fixed and Variable Share) they begin with an even
        share instead, and in ML-Prod as experts do in the first round. Where the algorithm does
        not use the number of experts, its bounds hold for them too.
        """
        self._check(state)
        count = _inputs.count("count", count)
        n = len(state.weights)
        columns = np.zeros((len(state.ledger), count))
        self._begin(columns, n)
        ledger = np.concatenate([state.ledger, columns], axis=1)
        # Where weights are what is remembered: an even share beside those that are there.
        weights = np.concatenate([state.weights, np.full(count, 1.0 / n)])
        return self._weighed(state, weights, ledger, state.joined + count)

    def leave(self, state: LedgerState, experts: npt.ArrayLike) -> LedgerState:
        """Return the state without these experts (their indices); the others keep their rows."""
        self._check(state)
        n = len(state.weights)
        indices = leaving(experts, n)
        if not indices.size:
            return state
        ledger = np.ascontiguousarray(np.delete(state.ledger, indices, axis=1))
        weights = np.delete(state.weights, indices)
        return self._weighed(state, weights, ledger, state.joined)

    def report(self, state: LedgerState, quantile: float = 0.1) -> Report:
        """Return what a person wants to know of a state; it prints as a small table.

        Its bounds are those of games of so many rounds; `bounds` may know more.

        Parameters
        ----------
        state
            Where the game stands.
        quantile
            The share epsilon of experts of the quantile regret.
        """
        self._check(state)
        n, rounds = len(state.weights), max(state.rounds, 1)
        share = rank(_inputs.quantile(quantile), n) / state.joined
        return Report(
            hedger=repr(self),
            rounds=state.rounds,
            experts=n,
            gain=state.gain,
            average_potential=math.nan,
            potential_limit=math.inf,
            best_regret=state.best_regret,
            bound=self.bound(state.joined, rounds),
            quantile=quantile,
            quantile_regret=state.quantile_regret(quantile),
            quantile_bound=self.bound(state.joined, rounds, share),
            weights=state.weights.copy(),
            regrets=state.regrets.copy(),
        )


_NONE = np.empty((0, 0))
"""What kernels are given in place of confidences, or of a record, that are not wanted."""


def _game(n_experts: int, rounds: int) -> tuple[int, int]:
    return _inputs.count("n_experts", n_experts), _inputs.count("rounds", rounds)


def _share(n_experts: int, quantile: float | None) -> float:
    n = _inputs.count("n_experts", n_experts)
    return 1.0 / n if quantile is None else rank(_inputs.quantile(quantile), n) / n
