"""Hedgers that weigh experts by a potential of their discounted regrets.

They differ in the potential alone; this is everything else.
"""

import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import KERNEL_DTYPES, Floats
from normalhedge._threads import LARGE
from normalhedge.certificates import Bound
from normalhedge.hedgers import _round
from normalhedge.hedgers._arguments import check_columns, leaving, tables
from normalhedge.hedgers._round import BAD_INPUT, step_in_slices
from normalhedge.hedgers.protocol import Run
from normalhedge.hedgers.regret_state import RegretState, check_state, rank
from normalhedge.hedgers.report import Report
from normalhedge.potentials import LOG2_E, Potential, exp_or_inf, weigh

# Bound to names of this module: in `step` each further look-up shows.
_ndarray, _empty, _new = np.ndarray, np.empty, tuple.__new__
_step, _step_anew = _round.step, _round.step_anew

BLOCK = 1 << 20
"""How many gains `run` converts at a time when they are not in a form that kernels read."""


class PotentialHedger:
    """A hedger that plays ``p ∝ Phi'`` of the discounted regrets.

    A subclass is a frozen dataclass with a field ``alpha``, whose ``__post_init__`` hands its
    potential to ``_prepare``, and which says in ``bound`` what is known of it; see `NormalHedge`.
    """

    least_potential: ClassVar[float] = 0.0
    """No potential of an expert is smaller."""

    alpha: float
    # Kept beside the fields: exp(rate R^p) is the potential of a regret R, in units of log 2.
    _keep: float
    _rate: float
    _squared: bool

    def _prepare(self, potential: Potential, scale: float) -> None:
        """Set what the kernels need: ``Phi`` is taken at ``scale * R``."""
        rate, squared = potential.rate, potential.squared
        object.__setattr__(self, "_keep", 1.0 - self.alpha)
        object.__setattr__(self, "_rate", LOG2_E * rate * (scale * scale if squared else scale))
        object.__setattr__(self, "_squared", squared)

    def bound(self, n_experts: int, quantile: float | None = None) -> Bound:
        """Return what is promised against ``n_experts`` (those that left included).

        Parameters
        ----------
        n_experts
            How many experts ever took part.
        quantile
            Epsilon, for the regret to the best epsilon-quantile of experts; none for the best.
        """
        raise NotImplementedError

    def init(self, n: int) -> RegretState:
        """Return the state before the first round: no regrets, uniform weights."""
        n = _inputs.count("n", n)
        return RegretState(np.full(n, 1.0 / n), np.zeros(n), 0, n, 0.0)

    def play(self, state: RegretState, confidence: npt.ArrayLike | None = None) -> Floats:
        """Return the distribution over experts that is played next.

        Parameters
        ----------
        state
            Where the game stands.
        confidence
            How far each expert wants to be heard, in [0, 1]; 0 is asleep. None: all awake.

        Returns
        -------
        ndarray
            ``q_i ∝ p_i confidence_i``, which sums to one; all zeros where everybody sleeps.
        """
        check_state(state)
        if confidence is None:
            return state.weights.copy()
        n = len(state.weights)
        rated = _inputs.confidences(confidence, n)
        if not (rated.min() >= 0.0 and rated.max() <= 1.0):
            _inputs.refuse(np.zeros(n), rated)
        played = np.empty(n)
        _round.share(state.weights, state.regrets, rated, self._rate, self._squared, played)
        return played

    def step(
        self,
        state: RegretState,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        in_place: bool = False,
    ) -> RegretState:
        """Return the state after a round.

        Parameters
        ----------
        state
            Where the game stands; it is not changed, unless ``in_place``.
        gains
            The gain of each expert, in [-1, 1]. float64, float32 and int8 are read as they are.
            The gain of an expert that sleeps is not looked at and may be NaN.
        confidence
            How far each expert was heard, in [0, 1]; 0 is asleep. None: all awake.
        in_place
            Whether to overwrite the arrays of ``state``, which is then used up: with
            ``state = hedger.step(state, gains, in_place=True)`` a long game allocates nothing.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the state is then as it was.
        """
        # At N = 10 the arithmetic takes a tenth of a microsecond, and so does each call of a Python
        # function: the common case is checked here, and the rest where it is explained.
        if type(state) is not RegretState:
            check_state(state)
        weights, regrets, rounds, joined, _ = state
        n = weights.size
        if (
            type(gains) is not _ndarray
            or gains.ndim != 1
            or gains.size != n
            or gains.dtype not in KERNEL_DTYPES
            or not gains.flags.carray  # in rows, aligned, and writeable
        ):
            gains = _inputs.vector("gains", gains, n)
        if confidence is not None:
            confidence = _inputs.confidences(confidence, n)
        keep, rate, squared = self._keep, self._rate, self._squared
        if n >= LARGE:
            if not in_place:
                weights, regrets = weights.copy(), regrets.copy()
            gain, _, _ = step_in_slices(weights, regrets, gains, confidence, keep, rate, squared)
        elif in_place:
            gain, _, _ = _step(weights, regrets, gains, confidence, keep, rate, squared)
        else:
            new = _empty(n), _empty(n)
            gain, _, _ = _step_anew(
                weights, regrets, gains, confidence, keep, rate, squared, new[0], new[1]
            )
            weights, regrets = new
        if gain == BAD_INPUT:
            _inputs.refuse(gains, confidence)
        earned = gain if gain == gain else None  # noqa: PLR0124 -- NaN: nobody was awake
        return _new(RegretState, (weights, regrets, rounds + 1, joined, earned))

    def run(
        self,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        state: RegretState | None = None,
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
            Where to start from; it is not changed. None: from the beginning.
        keep_weights
            Whether to return what was played in each round, T x N.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described.
        """
        table, rated = tables(gains, confidence)
        rounds, n = table.shape
        if state is None:
            state = self.init(n)
        check_state(state)
        check_columns(table, len(state.weights))
        now = (state.weights.copy(), state.regrets.copy())
        earned, leads, logs = np.empty(rounds), np.empty(rounds), np.empty(rounds)
        played = np.empty((rounds, n)) if keep_weights else None
        block = max(BLOCK // n, 1)
        for start in range(0, rounds, block):
            part = slice(start, min(start + block, rounds))
            done = self._run_block(
                now,
                _inputs.for_kernel(table[part]),
                None if rated is None else _inputs.floats(rated[part]),
                (earned[part], leads[part], logs[part]),
                None if played is None else played[part],
            )
            if start + done < part.stop:
                row = start + done
                _inputs.refuse(table[row], None if rated is None else rated[row], row)
        last = None if math.isnan(earned[-1]) else float(earned[-1])
        after = _new(RegretState, (*now, state.rounds + rounds, state.joined, last))
        return Run(after, earned, leads, logs, played)

    def _run_block(
        self,
        now: tuple[Floats, Floats],
        gains: np.ndarray,
        confidence: Floats | None,
        records: tuple[Floats, Floats, Floats],
        played: Floats | None,
    ) -> int:
        """Play the rounds in place; return how many were played before bad input, if any."""
        weights, regrets = now
        settings = (self._keep, self._rate, self._squared)
        if len(weights) < LARGE:
            return _round.run(weights, regrets, gains, confidence, *settings, *records, played)
        for t in range(len(gains)):
            rated = None if confidence is None else confidence[t]
            if played is not None:
                if rated is None:
                    played[t] = weights
                else:
                    _round.share(weights, regrets, rated, self._rate, self._squared, played[t])
            results = step_in_slices(weights, regrets, gains[t], rated, *settings)
            if results[0] == BAD_INPUT:
                return t
            for record, result in zip(records, results, strict=True):
                record[t] = result
        return len(gains)

    def join(self, state: RegretState, count: int = 1) -> RegretState:
        """Return the state with ``count`` more experts at its end, at regret zero.

        No bound suffers but by the larger N: the average potential moves towards 1.
        """
        check_state(state)
        count = _inputs.count("count", count)
        regrets = np.concatenate([state.regrets, np.zeros(count)])
        return self.reweigh(state, regrets, state.joined + count)

    def leave(self, state: RegretState, experts: npt.ArrayLike) -> RegretState:
        """Return the state without these experts (their indices).

        Those that stay keep their regrets and their order. The bounds hold as if those that left
        slept for ever: for all that ever joined. So no regret exceeds ``bound(state.joined)``, but
        the average potential and the quantiles of those that stay may be larger than before;
        `report` takes that into account.
        """
        check_state(state)
        n = len(state.regrets)
        indices = leaving(experts, n)
        if not indices.size:
            return state
        regrets = np.delete(state.regrets, indices)
        return self.reweigh(state, regrets, state.joined)

    def average_potential(self, state: RegretState) -> float:
        """Return ``mean_i Phi(R_i)``; infinity where it exceeds the largest float."""
        return exp_or_inf(self.log_potential(state))

    def log_potential(self, state: RegretState) -> float:
        """Return ``ln mean_i Phi(R_i)``, which does not overflow."""
        check_state(state)
        scratch = np.empty_like(state.regrets)
        return weigh(state.regrets, self._rate, self._squared, scratch)

    def report(self, state: RegretState, quantile: float = 0.1) -> Report:
        """Return what a person wants to know of a state; it prints as a small table.

        Parameters
        ----------
        state
            Where the game stands.
        quantile
            The share epsilon of experts of the quantile regret.
        """
        check_state(state)
        n, bound = len(state.weights), self.bound(state.joined)
        # Of all that ever joined, those that reach the quantile of the present ones are this share.
        share = rank(_inputs.quantile(quantile), n) / state.joined
        return Report(
            hedger=repr(self),
            rounds=state.rounds,
            experts=n,
            gain=state.gain,
            average_potential=self.average_potential(state),
            potential_limit=self.least_potential
            + (bound.potential - self.least_potential) * (state.joined / n),
            best_regret=state.best_regret,
            bound=bound,
            quantile=quantile,
            quantile_regret=state.quantile_regret(quantile),
            quantile_bound=self.bound(state.joined, share),
            weights=state.weights.copy(),
            regrets=state.regrets.copy(),
        )

    def reweigh(
        self, state: RegretState, regrets: Floats, joined: int | None = None
    ) -> RegretState:
        """Return the state with other regrets, and the weights that belong to them."""
        weights = np.empty_like(regrets)
        weigh(regrets, self._rate, self._squared, weights)
        joined = state.joined if joined is None else joined
        return _new(RegretState, (weights, regrets, state.rounds, joined, state.gain))
