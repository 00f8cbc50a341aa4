"""Delayed optimistic regret matching (Flaspohler et al., 2021)."""

from dataclasses import dataclass
from typing import ClassVar

from normalhedge.hedgers._late import LateHedger
from normalhedge.hedgers._regret_matching import blackwell_bound


@dataclass(frozen=True)
class DORM(LateHedger):
    r"""Regret matching for outcomes that come late.

    When a round is played, the outcomes of the last D rounds before it are not known. `step` is
    given the outcome of the oldest round that waits for one. Its regrets are measured against the
    weights with which *that* round was played, those of D outcomes ago. Since the regrets grow
    with the delay, the weights move less in a round, and nothing has to be tuned.

    .. math:: p_i \propto [R_i + h_i]_+, \qquad h_i = \kappa (D + 1) \, r_i

    where R are the regrets to the rounds whose outcomes are known, r is what the last of them
    added, and h is a guess of what the D + 1 unknown rounds will add. With D = 0 and no hint it is
    `RegretMatching`.

    Parameters
    ----------
    delay
        D, the number of later rounds that are played before the outcome of a round is known.
        Outcomes come in order. The weights of a state are for the round that is played next, which
        is D rounds after the one that `step` learns from; ``run(gains, keep_weights=True).weights``
        has what was played in each round. In a `Mixture` it is the lag of the outcomes; outcomes
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
    discount. Sleepers are as in all hedgers; the confidences in `step` are those of the round that
    is learned.

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

    algorithm: ClassVar[str] = "dorm"
    row_names: ClassVar[tuple[str, ...]] = ("hinted regret",)
    free_of_scale: ClassVar[bool] = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        squares = (2.0 * self._missed - 1.0) * self.effective_rounds(rounds)
        return blackwell_bound(n, squares, share), "after Flaspohler et al. 2021, DORM"
