"""Hedgers that keep a ledger: a few numbers for each expert, and a weight made of them.

They differ in their rows and in how these become weights; this is everything else.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.certificates import Bound
from normalhedge.hedgers import _ledger
from normalhedge.hedgers._arguments import check_columns, leaving, tables
from normalhedge.hedgers._ledger import OWN
from normalhedge.hedgers.ledger_state import LedgerState, check_ledger_state
from normalhedge.hedgers.protocol import Run
from normalhedge.hedgers.regret_state import rank

_new, _ndarray, _empty = tuple.__new__, np.ndarray, np.empty
_FLOAT64 = np.dtype(np.float64)

BLOCK = 1 << 20
"""How many gains `run` converts at a time when they are not float64."""

NEEDS_COUNT = "the number of experts sets its rate, and a sleeper counts"
"""Why the hedgers that are tuned by ln N break the law `a_sleeper_changes_nothing`."""


class LedgerHedger:
    """A hedger that keeps a ledger; see `normalhedge.hedgers._ledger` for its rows.

    A subclass is a frozen dataclass with a field ``alpha``, whose ``__post_init__`` hands its
    settings to ``_prepare``, and which names in ``_kernels`` the two kernels of its file:

        _score(ledger, totals, settings)            write the scores that the other rows give
        _rounds(weights, ledger, totals, settings,  play rounds in place; return how many, fewer
                gains, confidence, records, played) than were given where one had bad input

    What an algorithm by its nature does not do is said in ``breaks``.
    """

    rows: ClassVar[tuple[str, ...]] = ()
    """Its own rows in the ledger, after the regret, the rise and the score."""

    names: ClassVar[tuple[str, ...]] = ()
    """Its totals."""

    breaks: ClassVar[Mapping[str, str]] = {}
    """The laws of `normalhedge.checks` it does not obey, each with the reason."""

    alpha: float
    _settings: Floats
    _sizes: tuple[int, int]

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

    @property
    def _kernels(self) -> tuple[Callable[..., Any], Callable[..., int]]:
        raise NotImplementedError

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
        # All are alike, and scores of zero are even shares.
        return _new(LedgerState, (np.full(n, 1.0 / n), ledger, totals, 0, n, 0.0))

    def _begin(self, columns: Floats, n: int) -> None:
        """Write what new experts begin with, where it is not zero, when they are n in all."""

    def _weighed(
        self, ledger: Floats, totals: Floats, rounds: int, joined: int, gain: float | None
    ) -> LedgerState:
        weights = np.empty(ledger.shape[1])
        self._kernels[0](ledger, totals, self._settings)
        _ledger.spread_scores(ledger[_ledger.SCORE], weights)
        return _new(LedgerState, (weights, ledger, totals, rounds, joined, gain))

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
        _ledger.share(state.ledger[_ledger.SCORE], rated, played)
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
        n = weights.size
        # The common case is checked here: at N = 10 each call of a function shows.
        if (
            type(gains) is not _ndarray
            or gains.dtype is not _FLOAT64
            or gains.shape != (n,)
            or not gains.flags.carray  # in rows, aligned, and writeable
        ):
            gains = _inputs.vector("gains", gains, n).astype(np.float64, copy=False)
        row = gains.reshape(1, n)
        rated = _NONE if confidence is None else _inputs.confidences(confidence, n).reshape(1, n)
        if not in_place:
            weights, ledger, totals = weights.copy(), ledger.copy(), totals.copy()
        records = _empty((1, 2))
        done = self._kernels[1](weights, ledger, totals, self._settings, row, rated, records, _NONE)
        if not done:
            _inputs.refuse(gains, None if confidence is None else rated[0])
        gain = records.item(0)
        earned = gain if gain == gain else None  # noqa: PLR0124 -- NaN: nobody was awake
        return _new(LedgerState, (weights, ledger, totals, rounds + 1, joined, earned))

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
            done = self._kernels[1](
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

        Where the algorithm does not use the number of experts, its bounds hold for them too.
        """
        self._check(state)
        count = _inputs.count("count", count)
        n = len(state.weights)
        columns = np.zeros((len(state.ledger), count))
        self._begin(columns, n)
        ledger = np.concatenate([state.ledger, columns], axis=1)
        return self._weighed(
            ledger, state.totals.copy(), state.rounds, state.joined + count, state.gain
        )

    def leave(self, state: LedgerState, experts: npt.ArrayLike) -> LedgerState:
        """Return the state without these experts (their indices); the others keep their rows."""
        self._check(state)
        n = len(state.weights)
        indices = leaving(experts, n)
        if not indices.size:
            return state
        ledger = np.ascontiguousarray(np.delete(state.ledger, indices, axis=1))
        return self._weighed(ledger, state.totals.copy(), state.rounds, state.joined, state.gain)


_NONE = np.empty((0, 0))
"""What kernels are given in place of confidences, or of a record, that are not wanted."""


def _game(n_experts: int, rounds: int) -> tuple[int, int]:
    return _inputs.count("n_experts", n_experts), _inputs.count("rounds", rounds)


def _share(n_experts: int, quantile: float | None) -> float:
    n = _inputs.count("n_experts", n_experts)
    return 1.0 / n if quantile is None else rank(_inputs.quantile(quantile), n) / n
