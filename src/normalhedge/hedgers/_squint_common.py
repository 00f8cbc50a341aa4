"""Squint with one clock for all experts (Luo, 2026)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._squint import improper
from normalhedge.hedgers._state import State


@dataclass(frozen=True)
class SquintCommon(CompiledHedger):
    r"""Squint with one variance for all experts, an average of theirs that it chooses itself.

    An expert's own variance, which `Squint` keeps, is small if the expert mostly agrees with the
    hedger. The common one is small if those experts agree that count: it stands still while one
    expert is reliably ahead.

    .. math::

        p_i \propto \int_0^{1/2} e^{\eta S_i - \eta^2 V} \, d\eta, \qquad
        V \leftarrow V + \textstyle\sum_i q_i \rho_i^2, \qquad
        q_i \propto \int_0^{1/2} \eta \, e^{\eta S_i - \eta^2 V} \, d\eta

    with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``, and ``S = R / 2``. The S
    and V in q are those after the round, so that V is on both sides of its equation; there is
    exactly one solution.

    Parameters
    ----------
    alpha
        The discount rate of regrets and variance, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0, with ``L = ln(T + 1)``, the regret to the best epsilon-quantile of experts is at
    most ``2 (sqrt(2 V) (1 + sqrt(2 ln((1/2 + L) / epsilon))) + 5 ln(1 + (1 + 2 L) / epsilon))``:
    that of Squint with the common V. `bounds` uses V, `bound` ``V <= T``. It rests on ``sum_i
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

    alpha: float = 0.0

    algorithm: ClassVar[str] = "squint_common"
    total_names: ClassVar[tuple[str, ...]] = ("squares",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2}
    uncovered: ClassVar[str] = "Squint of one clock with a discount"
    breaks: ClassVar[Mapping[str, str]] = {
        "a_sleeper_changes_nothing": "the clock is an average over all experts, asleep or not"
    }

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        regret = float(improper(np.float64(rounds), rounds, share))
        return regret, "Luo 2026; Koolen and van Erven 2015, improper prior"

    def _a_posteriori(self, state: State) -> Floats:
        squares = np.full(len(state.weights), state.totals[0])
        return np.asarray(improper(squares, state.rounds, 1.0 / state.joined))
