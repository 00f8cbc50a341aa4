"""Regret matching and regret matching plus, for immediate and for late outcomes."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import DiscountedHedger
from normalhedge.hedgers._late import LateHedger
from normalhedge.hedgers._state import OWN_ROW, State


@dataclass(frozen=True)
class RegretMatching(DiscountedHedger):
    r"""Weigh experts in proportion to their positive regret.

    It is the simplest rule without a learning rate. The price is ``sqrt(N)`` in the bound where
    others have ``sqrt(ln N)``. It is the limit of `NormalHedge` as c grows.

    .. math:: p_i \propto [R_i]_+ \quad \text{(uniform when every } R_i \le 0)

    Notes
    -----
    Every regret stays below ``2 sqrt((N - 1) n)``, where n is the number of effective rounds (T if
    alpha = 0, never more than ``1 / (1 - (1-alpha)^2)``). Since ``sum_i [R_i]+ r_i = 0``, in each
    round the squared length of ``[R]+`` shrinks by ``(1-alpha)^2`` and then grows by at most
    ``sum_i r_i^2 <= 4 (N - 1)`` (Blackwell). So the theorem holds for any discount.

    References
    ----------
    Hart and Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium" (2000);
    Cesa-Bianchi and Lugosi, "Prediction, Learning, and Games" (2006), the polynomially weighted
    forecaster with p = 2.

    Examples
    --------
    >>> hedger = RegretMatching()
    >>> hedger.run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.667, 0.333, 0.   ])
    """

    algorithm = "regret_matching"
    free_of_scale = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        return blackwell_bound(n, self.effective_rounds(rounds), share), "Blackwell's condition"


def blackwell_bound(n: int, effective_rounds: float, share: float) -> float:
    """Return the largest regret to a share of the experts that Blackwell's condition allows.

    The k-th largest of [R]+ is at most 1/sqrt(k) of the length of [R]+.
    """
    return 2.0 * math.sqrt((n - 1) * effective_rounds / (share * n))


@dataclass(frozen=True)
class RegretMatchingPlus(DiscountedHedger):
    r"""Weigh experts by their regret, clipped at zero in every round.

    An expert that was bad for a long time has weight again after the first round in which it is
    good. So the hedger adapts quickly after a change, where `RegretMatching` first has to make up
    for the negative regret of the past.

    .. math:: Q_i \leftarrow [(1 - \alpha) Q_i + r_i]_+, \qquad p_i \propto Q_i

    Notes
    -----
    ``R_i <= Q_i``, and the length of Q has the bound of the length of [R]+ in `RegretMatching`:
    every regret stays below ``2 sqrt((N - 1) n)``, where n is the number of effective rounds. The
    theorem holds for any discount. `bounds` returns Q, plus a little for rounding.

    References
    ----------
    Tammelin, Burch, Johanson and Bowling, "Solving heads-up limit Texas hold'em" (2015).

    Examples
    --------
    >>> hedger = RegretMatchingPlus()
    >>> hedger.run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.667, 0.333, 0.   ])
    """

    algorithm = "regret_matching_plus"
    row_names = ("clipped regret",)
    free_of_scale = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        return blackwell_bound(n, self.effective_rounds(rounds), share), "Tammelin et al. 2015"

    def _a_posteriori(self, state: State) -> Floats:
        # Q and R have different rounding errors.
        return np.asarray(state.ledger[OWN_ROW] * (1.0 + 1e-9) + 1e-12)


@dataclass(frozen=True)
class DORM(LateHedger):
    r"""Regret matching for outcomes that come late.

    When a round is played, the outcomes of the last D rounds before it are not known. `step` is
    given the outcome of the oldest round that waits for one. Its regrets are measured against the
    weights with which *that* round was played, D outcomes ago. Since the regrets grow
    with the delay, the weights move less in a round, and nothing has to be tuned.

    .. math:: p_i \propto [R_i + h_i]_+, \qquad h_i = \kappa (D + 1) \, r_i

    where R are the regrets over the rounds with known outcomes, r is the increment by the last of
    them, and h is a guess of the increment by the D + 1 unknown rounds. With D = 0 and no hint it
    is `RegretMatching`.

    Parameters
    ----------
    delay
        D, the number of later rounds that are played before the outcome of a round is known.
        Outcomes come in order. The weights of a state are for the round that is played next, which
        is D rounds after the one that `step` learns from; ``run(gains, keep_weights=True).weights``
        has the weights of each round. In a `Mixture` it is the lag of the outcomes; outcomes
        that come at once need a delay of 0.
    hint
        kappa in [0, 1]: 0 guesses nothing, 1 guesses that every unknown round is like the last
        known one.
    alpha
        The discount rate of the regrets, in [0, 1); 0 never forgets.

    Notes
    -----
    Every regret stays below ``2 sqrt((N - 1) k n)``, where n is the number of effective rounds and
    ``k = 2 (1 + kappa) (D + 1) - 1``. The page on delays has the proof, which holds for any
    discount. Sleepers are as in all hedgers; the confidences in `step` belong to the round whose
    outcome it learns.

    A round costs O(N (D + 1)) time and a state as much memory.

    References
    ----------
    Flaspohler, Orabona, Cohen, Mouatadid, Oprescu, Orenstein and Mackey, "Online learning with
    optimism and delay" (2021), arXiv 2106.06885, with q = 2.

    Examples
    --------
    The first two rounds are both played without any knowledge.

    >>> hedger = DORM(delay=1)
    >>> run = hedger.run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]], keep_weights=True)
    >>> run.weights.round(3)
    array([[0.333, 0.333, 0.333],
           [0.333, 0.333, 0.333]])
    >>> hedger.play(run.state).round(3)
    array([0.667, 0.333, 0.   ])
    """

    algorithm = "dorm"
    row_names: ClassVar[tuple[str, ...]] = ("hinted regret",)
    free_of_scale = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        squares = (2.0 * self._missed - 1.0) * self.effective_rounds(rounds)
        return blackwell_bound(n, squares, share), "after Flaspohler et al. 2021, DORM"


@dataclass(frozen=True)
class DORMPlus(LateHedger):
    r"""Regret matching plus for outcomes that come late.

    As `DORM`, but the regrets are clipped at zero with every outcome, so that an expert
    regains weight soon after it is good, even if it was bad for a long time.

    .. math::

        p_i \propto Q_i, \qquad Q_i \leftarrow [(1 - \alpha)(Q_i - h_i) + r_i + h_i']_+, \qquad
        h_i' = \kappa (D + 1) \, r_i

    where r is the increment of the regrets by the outcome, measured against the weights with which
    its round was played, and h is the hint before it. With D = 0 and no hint it is
    `RegretMatchingPlus`.

    Parameters
    ----------
    delay, hint
        D and kappa, as for `DORM`.
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

    algorithm = "dorm_plus"
    row_names: ClassVar[tuple[str, ...]] = ("clipped regret", "last rise")
    free_of_scale = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        step = 1.0 + 2.0 * self._repeats
        each = self._missed**2 - max(self._missed - step, 0.0) ** 2
        squares = each * self.effective_rounds(rounds) + self._missed**2 - each
        return blackwell_bound(n, squares, share), "after Flaspohler et al. 2021, DORM+"

    def _a_posteriori(self, state: State) -> Floats:
        clipped, hints = state.ledger[OWN_ROW], self._repeats * state.ledger[-1]
        # Q and R have different rounding errors.
        return np.asarray(clipped - hints + 1e-9 * (clipped + np.abs(hints)) + 1e-12)
