"""AdaNormalHedge (Luo and Schapire, 2015)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._state import OWN_ROW, State


@dataclass(frozen=True)
class AdaNormalHedge(CompiledHedger):
    r"""Weigh experts by the normal potential of their regret, each over its own clock.

    The clock of an expert is the sum of the differences between its losses and the hedger's. An
    expert that was asleep, or agreed with the hedger, has a slow clock, and its weight reacts fast
    when it differs. There is no learning rate, the number of experts is not used, and experts may
    sleep and join.

    .. math::

        \Phi(R, C) &= \exp([R]_+^2 / 3C), \quad \Phi(R, 0) = 1 \\
        p_i &\propto \tfrac12 \left(\Phi(S_i + 1, C_i + 1) - \Phi(S_i - 1, C_i + 1)\right), \qquad
        C_i = \textstyle\sum_t |\rho_{i,t}|

    with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``, and ``S = R / 2``.

    Parameters
    ----------
    alpha
        The discount rate of regrets and clocks, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0, for every expert ``R_i <= 2 sqrt(3 C_i ln(N B))`` where
    ``B = 1 + 1/2 mean_i (1 + ln(1 + C_i)) <= 3/2 + 1/2 ln(1 + T)``. With 1/epsilon in place of N it
    bounds the regret to the best epsilon-quantile. `bounds` uses the clocks, `bound` uses
    ``C <= T``. The paper has 3/2 in the place of 1/2; ``docs/two-levels.md`` has the proof. With a
    discount there is no theorem.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Luo and Schapire, "Achieving all with no parameters: AdaNormalHedge" (2015), Theorem 1.

    Examples
    --------
    >>> AdaNormalHedge().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.525, 0.47 , 0.005])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "ada_normal_hedge"
    row_names: ClassVar[tuple[str, ...]] = ("clock",)
    uncovered: ClassVar[str] = "AdaNormalHedge with a discount"

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        potential = 1.5 + 0.5 * math.log1p(rounds)
        regret = 2.0 * math.sqrt(3.0 * rounds * math.log(potential / share))
        return regret, "Luo and Schapire 2015, Theorem 1"

    def _a_posteriori(self, state: State) -> Floats:
        clocks = state.ledger[OWN_ROW]
        # The clocks of experts that have left are not known: at most the number of rounds.
        unknown = (state.joined - len(clocks)) * (1.0 + math.log1p(state.rounds))
        potential = 1.0 + 0.5 * (float(np.sum(1.0 + np.log1p(clocks))) + unknown) / state.joined
        return np.asarray(2.0 * np.sqrt(3.0 * clocks * math.log(state.joined * potential)))
