"""Squint (Koolen and van Erven, 2015), and Squint with one clock (Luo, 2026)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import DiscountedHedger
from normalhedge.hedgers._state import OWN_ROW, State


@dataclass(frozen=True)
class Squint(DiscountedHedger):
    r"""Hedge at all learning rates at once, weighted by how well each rate would have done.

    A small regret with little variance counts as much as a large one with much variance: the regret
    of the hedger stays constant if one expert is reliably ahead, and is bounded in all games. There
    is no learning rate, and the number of experts is not used.

    .. math::

        p_i \propto \int_0^{1/2} e^{\eta S_i - \eta^2 V_i} \, d\eta, \qquad
        V_i = \textstyle\sum_t \rho_{i,t}^2

    with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``, and ``S = R / 2``: the
    prior ``d eta / eta`` on learning rates in (0, 1/2]. With ``a = S / 2 sqrt V`` and
    ``b = (S - V) / 2 sqrt V`` the integral is ``sqrt(pi) e^(a^2) (erf a - erf b) / (2 sqrt V)``.

    Notes
    -----
    With alpha = 0, for every expert, with ``L = ln(T + 1)``,
    ``R_i <= 2 (sqrt(2 V_i) (1 + sqrt(2 ln(N (1/2 + L)))) + 5 ln(1 + N (1 + 2 L)))``, and with
    1/epsilon for N of the best epsilon-quantile: `bounds` uses V, `bound` ``V <= T``. It rests on
    ``sum_i int_0^(1/2) (e^(eta S_i - eta^2 V_i) - 1) / eta d eta <= 0``, which every round keeps.
    With a discount there is no theorem.

    References
    ----------
    Koolen and van Erven, "Second-order quantile methods for experts and combinatorial games"
    (2015), the theorem for the improper prior.

    Examples
    --------
    >>> Squint().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.372, 0.355, 0.273])
    """

    algorithm = "squint"
    row_names = ("squares",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2}
    uncovered = "Squint with a discount"

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        regret = float(improper(np.float64(rounds), rounds, share))
        return regret, "Koolen and van Erven 2015, improper prior"

    def _a_posteriori(self, state: State) -> Floats:
        return np.asarray(improper(state.ledger[OWN_ROW], state.rounds, 1.0 / state.joined))


def improper(squares: Any, rounds: float, share: float) -> Any:
    """Return the bound on the regret that the potential of Squint promises."""
    late = math.log1p(rounds)
    root = 1.0 + math.sqrt(2.0 * math.log((0.5 + late) / share))
    return 2.0 * (np.sqrt(2.0 * squares) * root + 5.0 * math.log1p((1.0 + 2.0 * late) / share))


@dataclass(frozen=True)
class SquintCommon(DiscountedHedger):
    r"""Squint with one variance for all experts, a weighted average of their variances.

    An expert's own variance, which `Squint` keeps, is small if the expert mostly agrees with the
    hedger. The common variance is small if the experts with weight agree: it stops growing while
    one expert is reliably ahead.

    .. math::

        p_i \propto \int_0^{1/2} e^{\eta S_i - \eta^2 V} \, d\eta, \qquad
        V \leftarrow V + \textstyle\sum_i q_i \rho_i^2, \qquad
        q_i \propto \int_0^{1/2} \eta \, e^{\eta S_i - \eta^2 V} \, d\eta

    with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``, and ``S = R / 2``. The S
    and V in q are the values after the round, so that V is on both sides of its equation; there is
    exactly one solution.

    Notes
    -----
    With alpha = 0, with ``L = ln(T + 1)``, the regret to the best epsilon-quantile of experts is at
    most ``2 (sqrt(2 V) (1 + sqrt(2 ln((1/2 + L) / epsilon))) + 5 ln(1 + (1 + 2 L) / epsilon))``:
    the bound of Squint with the common V. `bounds` uses V, `bound` ``V <= T``. It rests on ``sum_i
    int_0^(1/2) (e^(eta S_i - eta^2 V) - 1) / eta d eta <= 0``, which every round keeps; the page of
    second order has the proof. With a discount there is no theorem.

    A round costs O(N) time for each step towards V, five or so, and a state O(N) memory.

    References
    ----------
    Luo, "A short note on a variant of the Squint algorithm" (2026).

    Examples
    --------
    >>> SquintCommon().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.374, 0.351, 0.275])
    """

    algorithm = "squint_common"
    total_names = ("squares",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2}
    uncovered = "Squint of one clock with a discount"
    breaks: ClassVar[Mapping[str, str]] = {
        "a_sleeper_changes_nothing": "the clock is an average over all experts, asleep or not"
    }

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        regret = float(improper(np.float64(rounds), rounds, share))
        return regret, "Luo 2026; Koolen and van Erven 2015, improper prior"

    def _a_posteriori(self, state: State) -> Floats:
        squares = np.full(len(state.weights), state.totals[0])
        return np.asarray(improper(squares, state.rounds, 1.0 / state.joined))
