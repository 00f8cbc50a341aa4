"""NormalHedge.DT (Luo and Schapire, 2014)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from normalhedge.hedgers._compiled_hedger import CompiledHedger


@dataclass(frozen=True)
class NormalHedgeDT(CompiledHedger):
    r"""Weigh experts by the normal potential of their regret over the time played.

    This is NormalHedge derived from a drifting game. It has no learning rate, does not use the
    number of experts, and does not solve an equation in each round as `NormalHedge2009` does.

    .. math:: p_i \propto \exp([S_i + 1]_+^2 / 3t) - \exp([S_i - 1]_+^2 / 3t)

    in round t, with ``S = R / 2``, the regret in losses ``(1 - g) / 2``, after t - 1 rounds.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets. With a discount t becomes
        ``1 + (1 - alpha) + (1 - alpha)^2 + ...``.

    Notes
    -----
    With alpha = 0 the regret to the best epsilon-quantile of experts stays below
    ``2 sqrt(3 T ln((e^(4/3) - 1)(ln T + 1) / (2 epsilon) + 1))``; epsilon = 1/N for the best. With
    a discount there is no theorem (`NormalHedge` has one).

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Luo and Schapire, "A drifting-games analysis for online learning and applications to boosting"
    (2014).

    Examples
    --------
    >>> NormalHedgeDT().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.597, 0.393, 0.01 ])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "normal_hedge_dt"
    total_names: ClassVar[tuple[str, ...]] = ("time",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"time": 0}
    uncovered: ClassVar[str] = "NormalHedge.DT with a discount"

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        potential = math.expm1(4.0 / 3.0) * (math.log(rounds) + 1.0) / (2.0 * share) + 1.0
        regret = 2.0 * math.sqrt(3.0 * rounds * math.log(potential))
        return regret, "Luo and Schapire 2014"
