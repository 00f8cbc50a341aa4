"""AdaHedge with delay (Flaspohler et al., 2021)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._algorithm import NEEDS_COUNT
from normalhedge.hedgers._late import LateHedger
from normalhedge.hedgers._state import State


@dataclass(frozen=True)
class AdaHedgeD(LateHedger):
    r"""AdaHedge for outcomes that come late.

    The rate is ln N over the sum of what the rounds have cost so far because the rate was finite
    and outcomes were not known. What a round has cost is found when its outcome comes, from the
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
    delay
        D, the number of later rounds that are played before the outcome of a round is known, as in
        `DORM`.
    hint
        kappa in [0, 1]: 0 guesses nothing, 1 guesses that every unknown round is like the last
        known one.
    alpha
        The discount rate, in [0, 1); 0 never forgets. With every outcome the regrets and Delta
        decay first, those of earlier outcomes too.

    Notes
    -----
    Every regret stays below ``Delta + Delta'``, where ``Delta'`` is that of D outcomes ago
    (`bounds`), and below ``2 (d + sqrt(d^2 + k n ln N))`` with ``d = 2 D + 1`` and
    ``k = 2 (1 + kappa) (D + 1) - 1``, where n is the number of effective rounds (`bound`). The page
    on delays has the proof, which holds for any discount and any share s. The authors' library
    takes s of the largest absolute losses, which depend on what is called a loss of 0; here it is
    of ranges.

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

    algorithm: ClassVar[str] = "ada_hedge_d"
    row_names: ClassVar[tuple[str, ...]] = ("hinted regret",)
    total_names: ClassVar[tuple[str, ...]] = ("gap",)
    free_of_scale: ClassVar[bool] = True
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        late = 2.0 * self.delay + 1.0
        squares = (2.0 * self._missed - 1.0) * self.effective_rounds(rounds) * math.log(n)
        regret = 0.0 if n == 1 else 2.0 * (late + math.sqrt(late**2 + squares))
        return regret, "after Flaspohler et al. 2021, AdaHedgeD"

    def _a_posteriori(self, state: State) -> Floats:
        limit = (state.totals[0] + state.totals[-1]) * (1.0 + 1e-9)
        return np.full(len(state.weights), limit)
