"""The base class of all hedgers of this package: a configuration and a compiled algorithm.

The algorithms differ in the numbers they keep for each expert and in how these become weights. That
part is a small struct of the core, in a header named like the Python file (``src/core/hedgers``).
One engine plays the rounds of all of them; its equations are at the top of ``src/core/engine.hpp``.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees.potentials import exp_or_inf
from normalhedge.hedgers._algorithm import Algorithm
from normalhedge.hedgers._arguments import check_columns, leaving, tables
from normalhedge.hedgers._protocol import Run
from normalhedge.hedgers._report import Report
from normalhedge.hedgers._state import State, check_state, rank

BLOCK = 1 << 20
"""How many gains `run` converts at a time if the core cannot read them as they are."""


class CompiledHedger(Algorithm):
    """A hedger whose rounds are played by the compiled core.

    A subclass is a frozen dataclass with a field ``alpha``, and its ``__post_init__`` passes its
    settings to ``_prepare``. The attributes of `Algorithm` describe it.
    """

    def init(self, n: int) -> State:
        """Return the state before the first round: no regrets, uniform weights."""
        n = inputs.count("n", n)
        ledger = np.zeros((self._engine.rows, n))
        self._begin(ledger, n)
        return _state(np.full(n, 1.0 / n), ledger, np.zeros(self._engine.totals), 0, n, 0.0)

    def _begin(self, columns: Floats, n: int) -> None:
        """Fill in the ledger entries of new experts that are not zero; n is as in `newcomers`."""

    def play(self, state: State, confidence: npt.ArrayLike | None = None) -> Floats:
        """Return the distribution over experts to play in the next round.

        Parameters
        ----------
        state
            The state before the round.
        confidence
            The confidence of each expert, in [0, 1]; 0 means asleep. None: all are awake.

        Returns
        -------
        ndarray
            ``q_i ∝ p_i confidence_i``, which sums to one; all zeros if every expert is asleep.
        """
        self._check(state)
        if confidence is None:
            return state.weights.copy()
        n = len(state.weights)
        confidences = inputs.confidences(confidence, n)
        if not (confidences.min() >= 0.0 and confidences.max() <= 1.0):
            inputs.refuse(np.zeros(n), confidences)
        distribution = self._engine.play(state, confidences)
        if distribution is None:  # the memory layout of the state is not the one the core reads
            distribution = self._engine.play(State(*state), confidences)
        assert distribution is not None
        return distribution

    def step(
        self,
        state: State,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        in_place: bool = False,
    ) -> State:
        """Return the state after one round.

        Parameters
        ----------
        state
            The state before the round. It is not changed, unless ``in_place``.
        gains
            The gain of each expert, in [-1, 1]. float64, float32 and int8 are read without a copy.
            The gain of a sleeping expert is ignored and may be NaN.
        confidence
            The confidence of each expert, in [0, 1]; 0 means asleep. None: all are awake.
        in_place
            Whether to overwrite the arrays of ``state``, which must not be used afterwards: with
            ``state = hedger.step(state, gains, in_place=True)`` a long game allocates no memory.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the state is then unchanged.
        """
        after = self._engine.step(state, gains, confidence, in_place)
        if after is None:
            after = self._step_converted(state, gains, confidence, in_place=in_place)
        return after  # type: ignore[no-any-return]

    def _step_converted(
        self,
        state: State,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None,
        *,
        in_place: bool,
    ) -> Any:
        """Play a round with converted arguments, or raise an error that names the wrong one."""
        self._check(state)
        n = len(state.weights)
        # Copies: the arguments may be views of the state, which `in_place` overwrites.
        gain_row = np.array(inputs.vector("gains", gains, n))
        confidences = None if confidence is None else np.array(inputs.confidences(confidence, n))
        after = self._engine.step(state, gain_row, confidences, in_place)
        if after is None:
            after = self._engine.step(State(*state), gain_row, confidences, in_place)
        if after is None:
            inputs.refuse(gain_row, confidences)
        return after

    def run(
        self,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        state: State | None = None,
        keep_weights: bool = False,
    ) -> Run[State]:
        """Play many rounds; the result is exactly that of one `step` for each row.

        Parameters
        ----------
        gains
            T x N, one round in each row.
        confidence
            T x N. None: all experts are always awake.
        state
            The state to start from, which is not changed. None: start a new game.
        keep_weights
            Whether to return the distribution of every round, T x N.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described.
        """
        gain_table, confidences = tables(gains, confidence)
        rounds, n = gain_table.shape
        state = self.init(n) if state is None else state
        self._check(state)
        check_columns(gain_table, len(state.weights))
        weights, ledger, totals, *_ = State(*state)
        now = weights.copy(), ledger.copy(), totals.copy()
        records = np.empty((3, rounds))
        distributions = np.empty((rounds, n)) if keep_weights else None
        block = rounds if inputs.readable(gain_table) else max(BLOCK // n, 1)
        for start in range(0, rounds, block):
            part = slice(start, min(start + block, rounds))
            part_records = np.empty((3, part.stop - start))
            done = self._engine.run(
                *now,
                inputs.for_core(gain_table[part]),
                None if confidences is None else inputs.floats(confidences[part]),
                part_records,
                None if distributions is None else distributions[part],
            )
            if start + done < part.stop:
                row = start + done
                confidence_row = None if confidences is None else confidences[row]
                inputs.refuse(gain_table[row], confidence_row, row)
            records[:, part] = part_records
        hedger_gains, best_regret, log_potential = records
        last = None if math.isnan(hedger_gains[-1]) else float(hedger_gains[-1])
        after = _state(*now, state.rounds + rounds, state.joined, last)
        return Run(after, hedger_gains, best_regret, log_potential, distributions)

    def join(self, state: State, count: int = 1) -> State:
        """Return the state with new experts at its end, as if they had been asleep so far.

        Their regret is zero. In Fixed Share and Variable Share, where the weights are the memory,
        each starts with weight ``1/n`` relative to the n others; in ML-Prod it starts as an expert
        of the first round does. If the algorithm does not use the number of experts, its bounds
        hold for the new experts too.

        Parameters
        ----------
        state
            The state between two rounds, which is not changed.
        count
            How many experts join.
        """
        self._check(state)
        count = inputs.count("count", count)
        n = len(state.weights)
        ledger = np.concatenate([state.ledger, self.newcomers(count, n)], axis=1)
        # Only algorithms whose memory is the weights read these.
        weights = np.concatenate([state.weights, np.full(count, 1.0 / n)])
        return self.reweigh(state._replace(joined=state.joined + count), ledger, weights)

    def newcomers(self, count: int, n: int) -> Floats:
        """Return the ledger columns of new experts.

        Parameters
        ----------
        count
            How many experts join.
        n
            How many experts there are already.
        """
        columns = np.zeros((self._engine.rows, count))
        self._begin(columns, n)
        return columns

    def leave(self, state: State, experts: npt.ArrayLike) -> State:
        """Return the state without some experts.

        The other experts keep their ledger columns and their order. For the bounds, an expert that
        has left sleeps for ever: no regret exceeds ``bound(state.joined, ...)``, but the average
        potential and the quantile regrets of the remaining experts may be larger than before.
        `report` takes that into account.

        Parameters
        ----------
        state
            The state between two rounds, which is not changed.
        experts
            The indices of the experts that leave. At least one expert must stay.
        """
        self._check(state)
        n = len(state.weights)
        indices = leaving(experts, n)
        if not indices.size:
            return state
        ledger = np.ascontiguousarray(np.delete(state.ledger, indices, axis=1))
        return self.reweigh(state, ledger, np.delete(state.weights, indices))

    def reweigh(self, state: State, ledger: Floats, weights: Floats | None = None) -> State:
        """Return the state with another ledger, and with the weights that follow from it.

        Parameters
        ----------
        state
            The state between two rounds, which is not changed.
        ledger
            One column for each expert. The new state keeps this array; it is not copied.
        weights
            The weights to start from, which only matter if the memory of the algorithm is its
            weights. None: those of the state.
        """
        check_state(state)
        new = np.array(state.weights if weights is None else weights)
        totals = state.totals.copy()
        self._engine.weigh(new, ledger, totals)
        return _state(new, ledger, totals, state.rounds, state.joined, state.gain)

    def average_potential(self, state: State) -> float:
        """Return ``mean_i Phi(R_i)``: NaN without a potential, infinity if it overflows."""
        return exp_or_inf(self.log_potential(state))

    def log_potential(self, state: State) -> float:
        """Return ``ln mean_i Phi(R_i)``, which does not overflow; NaN without a potential."""
        self._check(state)
        if not self.has_potential:
            return math.nan
        checked = State(*state)
        return self._engine.weigh(checked.weights.copy(), checked.ledger, checked.totals.copy())

    def report(self, state: State, quantile: float = 0.1) -> Report:
        """Return a summary of a state for people; it prints as a small table.

        Its bounds are those of `bound` for this number of rounds; `bounds` may be smaller.

        Parameters
        ----------
        state
            The state to summarise.
        quantile
            The epsilon of the quantile regret in the summary, in (0, 1].
        """
        self._check(state)
        n, rounds = len(state.weights), max(state.rounds, 1)
        bound = self.bound(state.joined, rounds)
        # The best quantile of the present experts, as a share of all experts that ever joined.
        share = rank(inputs.quantile(quantile), n) / state.joined
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
            quantile_bound=self.bound(state.joined, rounds, share),
            weights=state.weights.copy(),
            regrets=state.regrets.copy(),
        )


def _state(*fields: Any) -> State:
    """Return a state without checking its fields."""
    return tuple.__new__(State, fields)
