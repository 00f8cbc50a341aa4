"""Delayed optimistic regret matching plus (Flaspohler et al., 2021)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._late import LateHedger
from normalhedge.hedgers._regret_matching import blackwell_bound
from normalhedge.hedgers._state import OWN_ROW, State


@dataclass(frozen=True)
class DORMPlus(LateHedger):
    r"""Regret matching plus for outcomes that come late.

    As `DORM`, but the regrets are clipped at zero with every outcome, so that an expert which was
    bad for a long time is heard again soon after it is good.

    .. math::

        p_i \propto Q_i, \qquad Q_i \leftarrow [(1 - \alpha)(Q_i - h_i) + r_i + h_i']_+, \qquad
        h_i' = \kappa (D + 1) \, r_i

    where r is what the outcome adds to the regrets, measured against the weights with which its
    round was played, and h is the hint before it. With D = 0 and no hint it is
    `RegretMatchingPlus`.

    Parameters
    ----------
    delay
        D, the number of later rounds that are played before the outcome of a round is known, as in
        `DORM`.
    hint
        kappa in [0, 1]: 0 guesses nothing, 1 guesses that every unknown round is like the last
        known one.
    alpha
        The discount rate of the regrets, clipped or not, in [0, 1); 0 never forgets.

    Notes
    -----
    ``R_i <= Q_i - h_i``, which `bounds` returns with a little for rounding. Every regret stays
    below ``2 sqrt((N - 1) (k n + m^2 - k))``, where n is the number of effective rounds,
    ``m = (1 + kappa) (D + 1)``, ``s = 1 + 2 kappa (D + 1)`` and ``k = m^2 - [m - s]+^2``. That is
    ``k = 2 D + 1`` without a hint and ``4 (D + 1)^2`` with a whole one. The page on delays has the
    proof, which holds for any discount.

    A round costs O(N (D + 1)) time and a state as much memory.

    References
    ----------
    Flaspohler, Orabona, Cohen, Mouatadid, Oprescu, Orenstein and Mackey, "Online learning with
    optimism and delay" (2021), arXiv 2106.06885, with q = 2.

    Examples
    --------
    >>> hedger = DORMPlus(delay=1)
    >>> hedger.run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.667, 0.333, 0.   ])
    """

    algorithm: ClassVar[str] = "dorm_plus"
    row_names: ClassVar[tuple[str, ...]] = ("clipped regret", "last rise")
    free_of_scale: ClassVar[bool] = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        step = 1.0 + 2.0 * self._repeats
        each = self._missed**2 - max(self._missed - step, 0.0) ** 2
        squares = each * self.effective_rounds(rounds) + self._missed**2 - each
        return blackwell_bound(n, squares, share), "after Flaspohler et al. 2021, DORM+"

    def _a_posteriori(self, state: State) -> Floats:
        clipped, hints = state.ledger[OWN_ROW], self._repeats * state.ledger[-1]
        # Q and R have different rounding errors.
        return np.asarray(clipped - hints + 1e-9 * (clipped + np.abs(hints)) + 1e-12)
