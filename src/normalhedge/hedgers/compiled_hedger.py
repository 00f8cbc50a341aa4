"""What all hedgers of this package are: a configuration, and a compiled algorithm behind it.

They differ in what they remember and in how that becomes weights: a small struct of the core, in a
header named like the Python file (``src/core/hedgers``). One engine plays the rounds of all of
them; its equations are at the top of ``src/core/engine.hpp``.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._core import Engine
from normalhedge._inputs import Floats
from normalhedge.certificates import Bound
from normalhedge.hedgers._arguments import check_columns, leaving, tables
from normalhedge.hedgers.protocol import Run
from normalhedge.hedgers.report import Report
from normalhedge.hedgers.state import OWN, State, check_state, rank
from normalhedge.potentials import exp_or_inf

BLOCK = 1 << 20
"""How many gains `run` converts at a time when they are not in a form that the core reads."""

NEEDS_COUNT = "the number of experts sets its rate, and a sleeper counts"
"""Why the hedgers that are tuned by ln N break the law `a_sleeper_changes_nothing`."""


class CompiledHedger:
    """A hedger whose rounds are played by the compiled core.

    A subclass is a frozen dataclass with a field ``alpha``, whose ``__post_init__`` hands its
    settings to ``_prepare``. What an algorithm by its nature does not do is said in ``breaks``.
    """

    algorithm: ClassVar[str]
    """What the core calls it: the name of its file."""

    row_names: ClassVar[tuple[str, ...]] = ()
    """What it remembers of each expert: its own rows in the ledger, after the regret."""

    total_names: ClassVar[tuple[str, ...]] = ()
    """What it remembers of no expert in particular."""

    scaling_exponents: ClassVar[Mapping[str, int]] = {}
    """How its rows and totals grow with the size of the gains, where that is not in proportion: 2
    for squares, 0 for counts. Gains of half the size (losses, of those that go ``by_losses``) make
    each ``2^-exponent`` times as large; of ``"weights"``, which are in no ledger, their logarithms,
    where these are what it remembers."""

    free_of_scale: ClassVar[bool] = False
    """Whether `bound` holds where all gains so far are halved on the way, as in mixtures where the
    range of losses is learned."""

    by_losses: ClassVar[bool] = False
    """Whether it must be told how large losses are, as gains ``1 - 2 loss``, and not only how much
    larger than others: it has no use for the gradient trick of mixtures."""

    has_potential: ClassVar[bool] = False
    """Whether it plays the derivative of a potential of its regrets."""

    least_potential: ClassVar[float] = 0.0
    """No potential of an expert is smaller, where it has one."""

    begins_with_something: ClassVar[bool] = False
    """Whether the ledger of an expert that joins is not zero."""

    breaks: ClassVar[Mapping[str, str]] = {}
    """The laws of `normalhedge.checks` it does not obey, each with the reason."""

    alpha: float
    _engine: Engine

    def _prepare(self, *settings: float) -> None:
        """Check alpha, and make the engine with the settings of the algorithm."""
        alpha = _inputs.number("alpha", self.alpha, 0.0, 1.0, closed=True)
        if alpha == 1.0:
            raise ValueError("alpha must be in [0, 1), got 1.0")
        object.__setattr__(self, "alpha", alpha)
        names = ("regret", *self.row_names, *self.total_names)
        exponents = [self.scaling_exponents.get(name, 1) for name in names]
        halving = [0.5**e for e in (*exponents, self.scaling_exponents.get("weights", 0))]
        engine = Engine(self.algorithm, (1.0 - alpha, *settings), halving, State)
        object.__setattr__(self, "_engine", engine)

    def _check(self, state: Any) -> None:
        """Refuse what is not a state, and one of another hedger."""
        check_state(state)
        rows, totals = self._engine.rows, self._engine.totals
        if (len(state.ledger), len(state.totals)) != (rows, totals):
            raise ValueError(
                f"state must be one of {type(self).__name__}, whose ledger has {rows} rows and "
                f"{totals} totals, got {len(state.ledger)} and {len(state.totals)}"
            )

    def bound(
        self, n_experts: int, rounds: int | None = None, quantile: float | None = None
    ) -> Bound:
        """Return what is promised before the game, whatever the gains.

        Parameters
        ----------
        n_experts
            How many experts ever take part, those that leave included.
        rounds
            How long the game is. None: however long, which most promise only where they forget.
        quantile
            Epsilon, for the regret to the best epsilon-quantile of experts; none for the best.
        """
        n = _inputs.count("n_experts", n_experts)
        length = math.inf if rounds is None else _inputs.count("rounds", rounds)
        share = 1.0 / n if quantile is None else rank(_inputs.quantile(quantile), n) / n
        regret, source = self._a_priori(n, length, share)
        if rounds is None and math.isinf(regret) and self._a_priori(n, 1, share)[0] < math.inf:
            return Bound(math.inf, f"what {type(self).__name__} promises grows with the rounds")
        return Bound(regret, source)

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        """Return the bound of `bound` and where it is from."""
        del n, rounds, share
        return math.inf, f"no theorem covers {type(self).__name__} here"

    def bounds(self, state: State) -> Floats:
        """Return what is promised now: a number for each expert that its regret does not exceed.

        It holds where the same experts took part from the start (they may have slept).
        """
        self._check(state)
        if state.rounds == 0:
            return np.zeros(len(state.weights))
        return np.minimum(self._a_posteriori(state), self.bound(state.joined, state.rounds).regret)

    def _a_posteriori(self, state: State) -> Floats:
        """Return what the ledger itself bounds the regrets by."""
        return np.full(len(state.weights), math.inf)

    def effective_rounds(self, rounds: float) -> float:
        """Return ``sum_(s < rounds) (1 - alpha)^2s``: the rounds, as discounted squares count."""
        if self.alpha == 0.0:
            return float(rounds)
        # An alpha of 1e-17 is not lost, as it is in 1 - alpha.
        return -math.expm1(2.0 * rounds * math.log1p(-self.alpha)) / (
            self.alpha * (2.0 - self.alpha)
        )

    def init(self, n: int) -> State:
        """Return the state before the first round: no regrets, uniform weights."""
        n = _inputs.count("n", n)
        ledger = np.zeros((self._engine.rows, n))
        self._begin(ledger, n)
        return _state(np.full(n, 1.0 / n), ledger, np.zeros(self._engine.totals), 0, n, 0.0)

    def _begin(self, columns: Floats, n: int) -> None:
        """Write what new experts begin with, where it is not zero, when they are n in all."""

    def play(self, state: State, confidence: npt.ArrayLike | None = None) -> Floats:
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
        self._check(state)
        if confidence is None:
            return state.weights.copy()
        n = len(state.weights)
        rated = _inputs.confidences(confidence, n)
        if not (rated.min() >= 0.0 and rated.max() <= 1.0):
            _inputs.refuse(np.zeros(n), rated)
        played = self._engine.play(state, rated)
        if played is None:  # arrays that do not lie as the core reads them
            played = self._engine.play(State(*state), rated)
        assert played is not None
        return played

    def step(
        self,
        state: State,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        in_place: bool = False,
    ) -> State:
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
        """Play a round on what the core cannot read as it lies, or say what is wrong with it."""
        self._check(state)
        n = len(state.weights)
        told = np.array(_inputs.vector("gains", gains, n))  # a copy: it may be a part of the state
        rated = None if confidence is None else np.array(_inputs.confidences(confidence, n))
        after = self._engine.step(state, told, rated, in_place)
        if after is None:
            after = self._engine.step(State(*state), told, rated, in_place)
        if after is None:
            _inputs.refuse(told, rated)
        return after

    def run(
        self,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        state: State | None = None,
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
        state = self.init(n) if state is None else state
        self._check(state)
        check_columns(table, len(state.weights))
        weights, ledger, totals, *_ = State(*state)
        now = weights.copy(), ledger.copy(), totals.copy()
        records = np.empty((3, rounds))
        played = np.empty((rounds, n)) if keep_weights else None
        block = rounds if _inputs.readable(table) else max(BLOCK // n, 1)
        for start in range(0, rounds, block):
            part = slice(start, min(start + block, rounds))
            own = np.empty((3, part.stop - start))
            done = self._engine.run(
                *now,
                _inputs.for_core(table[part]),
                None if rated is None else _inputs.floats(rated[part]),
                own,
                None if played is None else played[part],
            )
            if start + done < part.stop:
                row = start + done
                _inputs.refuse(table[row], None if rated is None else rated[row], row)
            records[:, part] = own
        earned, leads, logs = records
        last = None if math.isnan(earned[-1]) else float(earned[-1])
        after = _state(*now, state.rounds + rounds, state.joined, last)
        return Run(after, earned, leads, logs, played)

    def join(self, state: State, count: int = 1) -> State:
        """Return the state with ``count`` more experts at its end, as if they had slept so far.

        Their regret is zero. Where weights are what is remembered (Fixed and Variable Share) they
        begin with an even share instead, and in ML-Prod as experts do in the first round. Where the
        algorithm does not use the number of experts, its bounds hold for them too.
        """
        self._check(state)
        count = _inputs.count("count", count)
        n = len(state.weights)
        ledger = np.concatenate([state.ledger, self.newcomers(count, n)], axis=1)
        # Where weights are what is remembered: an even share beside those that are there.
        weights = np.concatenate([state.weights, np.full(count, 1.0 / n)])
        return self.reweigh(state._replace(joined=state.joined + count), ledger, weights)

    def newcomers(self, count: int, n: int) -> Floats:
        """Return the columns of a ledger for so many experts that join n others."""
        columns = np.zeros((self._engine.rows, count))
        self._begin(columns, n)
        return columns

    def leave(self, state: State, experts: npt.ArrayLike) -> State:
        """Return the state without these experts (their indices).

        Those that stay keep their rows and their order. The bounds hold as if those that left slept
        for ever: for all that ever joined. So no regret exceeds ``bound(state.joined, ...)``, but
        the average potential and the quantiles of those that stay may be larger than before;
        `report` takes that into account.
        """
        self._check(state)
        n = len(state.weights)
        indices = leaving(experts, n)
        if not indices.size:
            return state
        ledger = np.ascontiguousarray(np.delete(state.ledger, indices, axis=1))
        return self.reweigh(state, ledger, np.delete(state.weights, indices))

    def reweigh(self, state: State, ledger: Floats, weights: Floats | None = None) -> State:
        """Return the state with another ledger, and the weights that belong to it.

        Parameters
        ----------
        state
            Where the game stands.
        ledger
            A column for each expert; it belongs to the new state.
        weights
            Where weights are what is remembered: those to begin with; else the state's.
        """
        check_state(state)
        new = np.array(state.weights if weights is None else weights)
        totals = state.totals.copy()
        self._engine.weigh(new, ledger, totals)
        return _state(new, ledger, totals, state.rounds, state.joined, state.gain)

    def average_potential(self, state: State) -> float:
        """Return ``mean_i Phi(R_i)``; NaN without a potential, infinity where it overflows."""
        return exp_or_inf(self.log_potential(state))

    def log_potential(self, state: State) -> float:
        """Return ``ln mean_i Phi(R_i)``, which does not overflow; NaN without a potential."""
        self._check(state)
        if not self.has_potential:
            return math.nan
        own = State(*state)
        return self._engine.weigh(own.weights.copy(), own.ledger, own.totals.copy())

    def report(self, state: State, quantile: float = 0.1) -> Report:
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
        bound = self.bound(state.joined, rounds)
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
            quantile_bound=self.bound(state.joined, rounds, share),
            weights=state.weights.copy(),
            regrets=state.regrets.copy(),
        )


def _state(*fields: Any) -> State:
    """Return a state of fields that need no check."""
    return tuple.__new__(State, fields)


__all__ = ["NEEDS_COUNT", "OWN", "CompiledHedger"]
