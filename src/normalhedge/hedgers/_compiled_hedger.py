"""The base class of all hedgers of this package: a configuration and a compiled algorithm.

The algorithms differ in the numbers they keep for each expert and in how these become weights. That
part is a small struct of the core, in a header named like the Python file (``src/core/hedgers``).
One engine plays the rounds of all of them; its equations are at the top of ``src/core/engine.hpp``.
"""

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from normalhedge._core import Engine
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import Bound
from normalhedge.guarantees.potentials import exp_or_inf
from normalhedge.hedgers._arguments import read_leavers, read_tables
from normalhedge.hedgers._protocol import Run
from normalhedge.hedgers._report import Report
from normalhedge.hedgers._state import State, check_state, rank

BLOCK = 1 << 20
"""How many gains `run` converts at a time if the core cannot read them as they are."""

NEEDS_COUNT = "the number of experts sets its rate, and a sleeper counts"
"""Why the hedgers that are tuned by ln N break the law `a_sleeper_changes_nothing`."""

SHARED_TEXTS = {
    "Notes\n-----": "Parameters\n----------\nalpha\n"
    "    The discount rate of all sums over the rounds, in [0, 1); 0 never forgets.",
    "References\n----------": "A round costs O(N) time and a state O(N) memory.",
}
"""Texts that most algorithms share: docstrings without them get them, before these sections."""


class CompiledHedger:
    """A hedger whose rounds are played by the compiled core.

    A subclass is a frozen dataclass with a field ``alpha``, and its ``__post_init__`` passes its
    settings to ``_prepare``. The class attributes describe the algorithm.
    """

    algorithm: ClassVar[str]
    """The name of the algorithm in the core, which is also the name of its file."""

    row_names: ClassVar[tuple[str, ...]] = ()
    """The numbers it keeps for each expert: the rows of the ledger after the regret."""

    total_names: ClassVar[tuple[str, ...]] = ()
    """The numbers it keeps for the whole game."""

    scaling_exponents: ClassVar[Mapping[str, int]] = {}
    """How each row and total scales with the gains: 1 (in proportion) unless listed here, 2 for
    squares, 0 for counts. If all gains are halved (or all losses, for algorithms that go
    ``by_losses``), a number becomes ``2^-exponent`` times as large. The entry ``"weights"`` is the
    exponent of the log weights, for algorithms whose memory is the weights."""

    free_of_scale: ClassVar[bool] = False
    """Whether `bound` still holds if all past gains are halved during the game. Mixtures do that
    when they learn the range of the losses."""

    by_losses: ClassVar[bool] = False
    """Whether it needs the losses themselves, as gains ``1 - 2 loss``, and not only the differences
    between experts. Mixtures do not use the gradient trick with such an algorithm."""

    has_potential: ClassVar[bool] = False
    """Whether its weights are the derivative of a potential of the regrets."""

    least_potential: ClassVar[float] = 0.0
    """The smallest potential that an expert can have, if there is a potential."""

    has_initial_ledger: ClassVar[bool] = False
    """Whether the ledger of an expert that joins has numbers other than zero."""

    breaks: ClassVar[Mapping[str, str]] = {}
    """The laws of `normalhedge.checks` that it does not obey, each with the reason."""

    uncovered: ClassVar[str] = ""
    """The algorithm with a discount, in words, if no theorem covers it; empty if one does."""

    alpha: float
    _engine: Engine

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__ is not None:  # there is none with python -OO
            doc = inspect.cleandoc(cls.__doc__)
            for section, text in SHARED_TEXTS.items():
                if text[:10] not in doc:
                    doc = doc.replace(section, f"{text}\n\n{section}", 1)
            cls.__doc__ = doc

    def __post_init__(self) -> None:
        self._prepare()

    def _prepare(self, *settings: float) -> None:
        """Check alpha, and make the engine with the settings of the algorithm."""
        alpha = inputs.number("alpha", self.alpha, 0.0, 1.0, closed=True)
        if alpha == 1.0:
            raise ValueError("alpha must be in [0, 1), got 1.0")
        object.__setattr__(self, "alpha", alpha)
        names = ("regret", *self.row_names, *self.total_names)
        exponents = [self.scaling_exponents.get(name, 1) for name in names]
        halving = [0.5**e for e in (*exponents, self.scaling_exponents.get("weights", 0))]
        engine = Engine(self.algorithm, (1.0 - alpha, *settings), halving, State)
        object.__setattr__(self, "_engine", engine)

    def _check(self, state: Any) -> None:
        """Raise an error unless this is a state of this kind of hedger."""
        check_state(state)
        rows, totals = self._engine.rows, self._engine.totals
        if (len(state.ledger), len(state.totals)) != (rows, totals):
            raise ValueError(
                f"state must be one of {type(self).__name__}, whose ledger has {rows} rows and "
                f"{totals} totals, got {len(state.ledger)} and {len(state.totals)}"
            )

    def init(self, n: int) -> State:
        """Return the state before the first round: no regrets, uniform weights."""
        n = inputs.count("n", n)
        totals = np.zeros(self._engine.totals)
        return _state(np.full(n, 1.0 / n), self.newcomers(n, n), totals, 0, n, 0.0)

    def play(self, state: State, confidence: npt.ArrayLike | None = None) -> Floats:
        """Return the distribution over experts to play in the next round.

        Parameters
        ----------
        state, confidence
            As for `Hedger.play`.

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
        """Play many rounds, with exactly the result of one `step` for each row.

        Parameters
        ----------
        gains, confidence, state, keep_weights
            As for `Hedger.run`; the state is not changed.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described.
        """
        gain_table, confidences = read_tables(gains, confidence)
        rounds, n = gain_table.shape
        state = self.init(n) if state is None else state
        self._check(state)
        if n != len(state.weights):
            raise ValueError(
                f"gains must have {len(state.weights)} columns, one for each expert of state, "
                f"got {n}"
            )
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
            How many experts there are already; before the first round, how many join.
        """
        del n
        return np.zeros((self._engine.rows, count))

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
        indices = read_leavers(experts, n)
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
            weights. None: the weights of the state.
        """
        check_state(state)
        new = np.array(state.weights if weights is None else weights)
        totals = state.totals.copy()
        self._engine.weigh(new, ledger, totals)
        return _state(new, ledger, totals, state.rounds, state.joined, state.gain)

    def bound(
        self, n_experts: int, rounds: int | None = None, quantile: float | None = None
    ) -> Bound:
        """Return the bound on the regret that holds for every sequence of gains.

        Parameters
        ----------
        n_experts
            How many experts ever take part, including those that leave.
        rounds
            The length of the game. None: a bound for any length; most algorithms have one only if
            they forget (alpha > 0). NormalHedge and Hedge have the same bound for all lengths.
        quantile
            Epsilon in (0, 1], to bound the regret to the best epsilon-quantile of experts.
            None: the regret to the best expert.
        """
        length = math.inf if rounds is None else inputs.count("rounds", rounds)
        if self.has_potential:  # the potential is bounded in games of any length
            return self._bound_of_potential(n_experts, quantile)
        n = inputs.count("n_experts", n_experts)
        share = 1.0 / n if quantile is None else rank(inputs.quantile(quantile), n) / n
        if self.alpha > 0.0 and self.uncovered:
            return Bound(math.inf, f"no theorem covers {self.uncovered}")
        regret, source = self._a_priori(n, length, share)
        if rounds is None and math.isinf(regret) and self._a_priori(n, 1, share)[0] < math.inf:
            return Bound(math.inf, f"the bound of {type(self).__name__} grows with the rounds")
        return Bound(regret, source)

    def _bound_of_potential(self, n_experts: int, quantile: float | None) -> Bound:
        """Return the bound on the average potential, and on the regret, if there is a potential."""
        raise NotImplementedError

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        """Return the regret bound before the game, and its source, where it is not `uncovered`."""
        del n, rounds, share
        return math.inf, f"no theorem covers {type(self).__name__} here"

    def bounds(self, state: State) -> Floats:
        """Return an upper bound on the present regret to each expert.

        The bounds hold if the same experts took part from the start, awake or asleep.
        """
        self._check(state)
        if state.rounds == 0:
            return np.zeros(len(state.weights))
        if self.alpha > 0.0 and self.uncovered:
            return np.full(len(state.weights), math.inf)
        return np.minimum(self._a_posteriori(state), self.bound(state.joined, state.rounds).regret)

    def _a_posteriori(self, state: State) -> Floats:
        """Return the bounds that follow from the state, where it is not `uncovered`."""
        return np.full(len(state.weights), math.inf)

    def effective_rounds(self, rounds: float) -> float:
        """Return ``sum_(s < rounds) (1 - alpha)^2s``, the discounted number of rounds."""
        if self.alpha == 0.0:
            return float(rounds)
        # log1p keeps an alpha of 1e-17, which 1 - alpha would lose.
        return -math.expm1(2.0 * rounds * math.log1p(-self.alpha)) / (
            self.alpha * (2.0 - self.alpha)
        )

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

        Its bounds come from `bound` for this number of rounds; `bounds` may be smaller.

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


@dataclass(frozen=True)
class DiscountedHedger(CompiledHedger):
    """A hedger whose first setting is the discount rate, which is 0 unless it is given."""

    alpha: float = 0.0


def _state(*fields: Any) -> State:
    """Return a state without checking its fields."""
    return tuple.__new__(State, fields)
