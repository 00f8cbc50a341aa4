"""FlipFlop (de Rooij, van Erven, Grünwald and Koolen, 2014)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._ada_hedge import gap_bound
from normalhedge.hedgers._algorithm import NEEDS_COUNT
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._state import State


@dataclass(frozen=True)
class FlipFlop(CompiledHedger):
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

    The paper also bounds the regret by 5.64 times that of following the leader, plus a constant.
    The algorithm is free of scale, so all of this holds for any discount, as for `AdaHedge`.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    De Rooij, van Erven, Grünwald and Koolen, "Follow the leader if you can, hedge if you must"
    (2014), Section 3.

    Examples
    --------
    >>> FlipFlop().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([1., 0., 0.])
    """

    alpha: float = 0.0
    phi: float = 2.37
    balance: float = 1.243

    algorithm: ClassVar[str] = "flip_flop"
    total_names: ClassVar[tuple[str, ...]] = ("flopped", "flip gap", "flop gap")
    scaling_exponents: ClassVar[Mapping[str, int]] = {"flopped": 0}
    free_of_scale: ClassVar[bool] = True
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
