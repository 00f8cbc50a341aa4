"""The description of an algorithm: its traits, its compiled engine and its regret bounds."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from normalhedge._core import Engine
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import Bound
from normalhedge.hedgers._state import State, check_state, rank

NEEDS_COUNT = "the number of experts sets its rate, and a sleeper counts"
"""Why the hedgers that are tuned by ln N break the law `a_sleeper_changes_nothing`."""


class Algorithm:
    """The part of `CompiledHedger` that describes the algorithm and does not play rounds."""

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
    """What no theorem covers if there is a discount, in words; empty if there are bounds then."""

    alpha: float
    _engine: Engine

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
            they forget (alpha > 0).
        quantile
            Epsilon in (0, 1], to bound the regret to the best epsilon-quantile of experts.
            None: the regret to the best expert.
        """
        n = inputs.count("n_experts", n_experts)
        length = math.inf if rounds is None else inputs.count("rounds", rounds)
        share = 1.0 / n if quantile is None else rank(inputs.quantile(quantile), n) / n
        if self.alpha > 0.0 and self.uncovered:
            return Bound(math.inf, f"no theorem covers {self.uncovered}")
        regret, source = self._a_priori(n, length, share)
        if rounds is None and math.isinf(regret) and self._a_priori(n, 1, share)[0] < math.inf:
            return Bound(math.inf, f"the bound of {type(self).__name__} grows with the rounds")
        return Bound(regret, source)

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
