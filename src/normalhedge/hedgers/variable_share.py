"""Variable Share (Herbster and Warmuth, 1998)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge._vector import exp2, larger, log
from normalhedge.hedgers._ledger import KEEP, OWN_SETTING, RISE, SCORE, meet, spread_scores
from normalhedge.hedgers._round import BAD_INPUT
from normalhedge.hedgers.fixed_share import FixedShare
from normalhedge.hedgers.ledger_hedger import LedgerHedger
from normalhedge.potentials import LARGEST_ETA, LOG2_E, TINY, added


@dataclass(frozen=True)
class VariableShare(LedgerHedger):
    r"""Hedge that takes a share of the weight from those that lose, and hands it to the others.

    As `FixedShare`, but while the leader does not lose at all nothing is taken from it: switching
    costs nothing between switches where the best expert is perfect.

    .. math::

        v_i \propto w_i e^{\eta r_i}, \qquad s_i = 1 - (1 - s)^{\ell_i}, \qquad
        w_i \leftarrow (1 - s_i) v_i + \frac{1}{N - 1} \textstyle\sum_{j \ne i} s_j v_j

    with the losses ``l = (1 - g) / 2`` in [0, 1]; with confidences
    ``k_i l_i + (1 - k_i) l_A``, the loss of an expert that, asleep, says what the hedger says.

    Parameters
    ----------
    eta
        The learning rate, > 0.
    share
        s, strictly between 0 and 1. `tuned` chooses both.
    alpha
        The discount rate of the regrets that are kept, in [0, 1); the weights do not depend on it.

    Notes
    -----
    Herbster and Warmuth bound the loss by that of the best sequence with m switches, without a term
    that grows with T, for losses with a mixing constant (square, log). Gains that are averaged, as
    here, have none, and `bound` promises nothing.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Herbster and Warmuth, "Tracking the best expert" (1998), Figure 1.

    Examples
    --------
    >>> hedger = VariableShare(eta=1.0, share=0.1)
    >>> hedger.run([[1.0, 0.0, -1.0]] * 20).state.weights.round(3)
    array([1., 0., 0.])
    """

    eta: float
    share: float
    alpha: float = 0.0

    breaks: ClassVar[Mapping[str, str]] = {
        "a_sleeper_changes_nothing": "a share of the weight goes to every expert, asleep or not",
        "only_differences_matter": "who loses more shares more: the losses themselves matter",
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", _inputs.number("eta", self.eta, 0.0, LARGEST_ETA))
        object.__setattr__(self, "share", _inputs.number("share", self.share, 0.0, 1.0))
        self._prepare(self.eta, math.log2(1.0 - self.share))

    @classmethod
    def tuned(cls, alpha: float, n_experts: int, *, share: float | None = None) -> "VariableShare":
        """Use the rate and the share of `FixedShare.tuned`."""
        fixed = FixedShare.tuned(alpha, n_experts, share=share)
        return cls(fixed.eta, fixed.share, fixed.alpha)

    @property
    def _kernels(self) -> tuple[Callable[..., Any], Callable[..., int]]:
        return _score, _rounds

    def _begin(self, columns: Floats, n: int) -> None:
        columns[SCORE] = -np.log2(n)  # an even share beside those that are there


@kernel(VECTOR, inline=False)
def _score(ledger: Floats, totals: Floats, settings: Floats) -> None:
    """Leave the scores: they are the state."""


@kernel(VECTOR)
def _share(weights: Floats, ledger: Floats, loss: float, log_kept: float) -> None:
    """Replace the scores by those after sharing; the weights are v before."""
    rises, scores = ledger[RISE], ledger[SCORE]
    n = scores.size
    for i in range(n):
        # What is taken, in the place of the score for now.
        own = min(max(loss - rises[i], 0.0), 1.0)
        scores[i] = weights[i] * (1.0 - exp2(log_kept * own))
    pool = added(scores)
    for i in range(n):
        taken = scores[i]
        others = (pool - taken) / (n - 1) if n > 1 else taken
        scores[i] = LOG2_E * log(larger(weights[i] - taken + larger(others, 0.0), TINY))


@kernel(VECTOR)
def _rounds(
    weights: Floats,
    ledger: Floats,
    totals: Floats,
    settings: Floats,
    gains: Floats,
    confidence: Floats,
    records: Floats,
    played: Floats,
) -> int:
    keep, rises, scores = settings[KEEP], ledger[RISE], ledger[SCORE]
    slope, log_kept = 2.0 * LOG2_E * settings[OWN_SETTING], settings[OWN_SETTING + 1]
    for t in range(len(gains)):
        gain = meet(weights, ledger, keep, gains, confidence, t, records, played)
        if gain == BAD_INPUT:
            return t
        for i in range(scores.size):
            scores[i] += slope * rises[i]
        spread_scores(scores, weights)
        if not np.isnan(gain):
            _share(weights, ledger, 0.5 * (1.0 - gain), log_kept)
        spread_scores(ledger[SCORE], weights)
    return len(gains)
