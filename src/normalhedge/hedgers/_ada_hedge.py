"""AdaHedge (de Rooij, van Erven, Grünwald and Koolen, 2014)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._algorithm import NEEDS_COUNT
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._state import State


@dataclass(frozen=True)
class AdaHedge(CompiledHedger):
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

    A round costs O(N) time and a state O(N) memory.

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

    alpha: float = 0.0

    algorithm: ClassVar[str] = "ada_hedge"
    total_names: ClassVar[tuple[str, ...]] = ("gap",)
    free_of_scale: ClassVar[bool] = True
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
