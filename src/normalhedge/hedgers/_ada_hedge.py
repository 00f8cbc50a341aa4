"""Hedge at a rate of its own: AdaHedge, FlipFlop, and AdaHedgeD for late outcomes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import NEEDS_COUNT, DiscountedHedger
from normalhedge.hedgers._late import LateHedger
from normalhedge.hedgers._state import State


@dataclass(frozen=True)
class AdaHedge(DiscountedHedger):
    r"""Hedge whose learning rate falls only as far as the gains force it to.

    In each round the hedger loses a little because its rate is finite: the mixability gap. The rate
    is ln N over the sum of the gaps so far, so it stays high in easy games, and the hedger starts
    by following the leader. The scale does not matter: ten times the gains give the same weights.

    .. math::

        p_i \propto \exp(\eta R_i), \quad \eta = \frac{\ln N}{\Delta}, \qquad
        \Delta \leftarrow (1 - \alpha) \Delta + \delta, \quad
        \delta = \frac1\eta \ln \textstyle\sum_i p_i e^{\eta r_i}

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets. In a round the regrets and Delta decay first,
        and eta is computed from the decayed Delta.

    Notes
    -----
    Every regret stays below ``2 Delta`` (`bounds`), which stays below
    ``2 sqrt(n ln N) + 2 (4/3 ln N + 2)`` (`bound`), where n is the number of effective rounds (T
    if alpha = 0). The theorem allows gains of any range. A discounted game is a game without
    discount whose gains grow by ``1 / (1 - alpha)`` in each round, and AdaHedge plays the same on
    both, so the bound holds for any discount.

    References
    ----------
    De Rooij, van Erven, Grünwald and Koolen, "Follow the leader if you can, hedge if you must"
    (2014), the second-order bound of AdaHedge, with a variance of at most a quarter of the squared
    range.

    Examples
    --------
    >>> AdaHedge().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.602, 0.355, 0.043])
    """

    algorithm = "ada_hedge"
    total_names = ("gap",)
    free_of_scale = True
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        regret = 2.0 * gap_bound(n, self.effective_rounds(rounds))
        return regret, "de Rooij et al. 2014, AdaHedge"

    def _a_posteriori(self, state: State) -> Floats:
        return np.full(len(state.weights), 2.0 * state.totals[0] * (1.0 + 1e-9))


def gap_bound(n: int, effective_rounds: float) -> float:
    """Return the largest Delta that gains in [-1, 1] can cause."""
    if n == 1:
        return 0.0
    log_n = math.log(n)
    return math.sqrt(effective_rounds * log_n) + 2.0 * (2.0 / 3.0 * log_n + 1.0)


@dataclass(frozen=True)
class FlipFlop(DiscountedHedger):
    r"""Follow the leader while that is cheap, and play AdaHedge while it is not.

    The hedger adds up its mixability gaps in two sums: Delta_flip while it follows the leader, and
    Delta_flop while it hedges at rate ``ln N / Delta_flop``. When one sum has grown too large
    compared with the other, the hedger switches:

    .. math::

        \text{flip to flop when } \Delta_{flip} > (\phi / a) \Delta_{flop}, \qquad
        \text{flop to flip when } \Delta_{flop} > a \Delta_{flip}

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets. Both sums decay with the regrets.
    phi, balance
        The paper's phi > 1 and alpha > 0 (a above). The defaults minimise the paper's bound.

    Notes
    -----
    Every regret is at most ``Delta_flip + Delta_flop`` plus the sum of ``ln N / eta`` at the ends
    of all flop periods, the price of the rate jumping back to infinity. Since
    ``ln N / eta <= Delta_flop``, which grows by more than a factor phi from one end to the next,

    - in a flip period every regret is below ``Delta_flip + (1 + phi / (phi - 1)) Delta_flop``;
    - in a flop period it is below ``Delta_flip + 2 Delta_flop + min(a Delta_flip, phi Delta_flop) /
      (phi - 1)`` (`bounds`);
    - as ``Delta_flip <= (phi / a) Delta_flop + 2``, it is always below
      ``(2 + phi / a + phi / (phi - 1)) D + 2``, where D bounds the Delta of `AdaHedge` (`bound`):
      about 5.64 D, compared with 2 D for AdaHedge.

    The paper also bounds the regret by 5.64 times the regret of the leader, plus a constant.
    The algorithm is free of scale, so all of this holds for any discount, as for `AdaHedge`.

    References
    ----------
    De Rooij, van Erven, Grünwald and Koolen, "Follow the leader if you can, hedge if you must"
    (2014), Section 3.

    Examples
    --------
    >>> FlipFlop().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([1., 0., 0.])
    """

    phi: float = 2.37
    balance: float = 1.243

    algorithm = "flip_flop"
    total_names = ("flopped", "flip gap", "flop gap")
    scaling_exponents: ClassVar[Mapping[str, int]] = {"flopped": 0}
    free_of_scale = True
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}

    def __post_init__(self) -> None:
        object.__setattr__(self, "phi", inputs.number("phi", self.phi, 1.0))
        object.__setattr__(self, "balance", inputs.number("balance", self.balance, 0.0))
        self._prepare(self.phi, self.balance)

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        if n == 1:
            return 0.0, "one expert"
        gap_limit = gap_bound(n, self.effective_rounds(rounds))
        factor = 2.0 + self.phi / self.balance + self.phi / (self.phi - 1.0)
        return factor * gap_limit + 2.0, "de Rooij et al. 2014, FlipFlop"

    def _a_posteriori(self, state: State) -> Floats:
        flopped, flip, flop = state.totals
        if flopped:
            jumps = min(self.balance * flip, self.phi * flop) / (self.phi - 1.0) + flop
        else:
            jumps = self.phi * flop / (self.phi - 1.0)
        return np.full(len(state.weights), (flip + flop + jumps) * (1.0 + 1e-9) + 1e-12)


@dataclass(frozen=True)
class AdaHedgeD(LateHedger):
    r"""AdaHedge for outcomes that come late.

    The rate is ln N over the cost of the rounds so far: rounds cost because the rate was finite and
    outcomes were unknown. The hedger finds the cost of a round when its outcome comes, from the
    weights and the rate with which it was played. So the rate falls as far as the delay does harm,
    and no further. With D = 0 and no hint it is `AdaHedge`.

    .. math::

        p_i \propto \exp(\eta (R_i + h_i)), \quad \eta = \frac{\ln N}{\Delta}, \quad
        h_i = \kappa (D + 1) \, r_i, \qquad \Delta \leftarrow (1 - \alpha) \Delta + \delta

    With the rate :math:`\eta'` and the hinted regrets :math:`\theta = R' + h'` of D outcomes ago,
    :math:`e = R - \theta` after the round, :math:`w(y)_i \propto \exp(\eta' y_i)` and
    :math:`G(y) = \frac{1}{\eta'} \ln \sum_i w(y)_i e^{\eta' (R_i - y_i)} - w(y) \cdot (R - y)`,

    .. math::

        \delta = [\min(G(\theta), \; w(R) \cdot r, \; G(y) + w(y) \cdot r)]_+, \quad y = R - s e,
        \quad s = \min\left(1, \frac{\max r - \min r}{\max e - \min e}\right)

    Parameters
    ----------
    delay, hint
        D and kappa, as for `DORM`.
    alpha
        The discount rate, in [0, 1); 0 never forgets. With every outcome the regrets and Delta,
        earlier ones too, decay first.

    Notes
    -----
    Every regret stays below ``Delta + Delta'``, where ``Delta'`` is Delta of D outcomes ago
    (`bounds`), and below ``2 (d + sqrt(d^2 + k n ln N))`` with ``d = 2 D + 1`` and
    ``k = 2 (1 + kappa) (D + 1) - 1``, where n is the number of effective rounds (`bound`). The page
    on delays has the proof, which holds for any discount and any share s. The authors' library
    takes s of the largest absolute losses, which depend on the origin of the losses; here it is of
    ranges.

    A round costs O(N (D + 1)) time and a state as much memory.

    References
    ----------
    Flaspohler, Orabona, Cohen, Mouatadid, Oprescu, Orenstein and Mackey, "Online learning with
    optimism and delay" (2021), arXiv 2106.06885.

    Examples
    --------
    >>> hedger = AdaHedgeD(delay=1)
    >>> hedger.run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.609, 0.352, 0.039])
    """

    algorithm = "ada_hedge_d"
    row_names: ClassVar[tuple[str, ...]] = ("hinted regret",)
    total_names: ClassVar[tuple[str, ...]] = ("gap",)
    free_of_scale = True
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        late = 2.0 * self.delay + 1.0
        squares = (2.0 * self._missed - 1.0) * self.effective_rounds(rounds) * math.log(n)
        regret = 0.0 if n == 1 else 2.0 * (late + math.sqrt(late**2 + squares))
        return regret, "after Flaspohler et al. 2021, AdaHedgeD"

    def _a_posteriori(self, state: State) -> Floats:
        limit = (state.totals[0] + state.totals[-1]) * (1.0 + 1e-9)
        return np.full(len(state.weights), limit)
