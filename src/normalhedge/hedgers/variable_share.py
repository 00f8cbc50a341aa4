"""Variable Share (Herbster and Warmuth, 1998)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge._vector import exp2, larger
from normalhedge.hedgers._ledger import OWN_SETTING, kernels_of
from normalhedge.hedgers._scores import normalise, score_positive
from normalhedge.hedgers.fixed_share import FixedShare, grow
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

    degrees: ClassVar[Mapping[str, int]] = {"weights": 1}
    breaks: ClassVar[Mapping[str, str]] = {
        "a_sleeper_changes_nothing": "a share of the weight goes to every expert, asleep or not",
        "only_differences_matter": "who loses more shares more: the losses themselves matter",
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", _inputs.number("eta", self.eta, 0.0, LARGEST_ETA))
        object.__setattr__(self, "share", _inputs.number("share", self.share, 0.0, 1.0))
        self._prepare(self.eta, math.log2(1.0 - self.share))

    @classmethod
    def tuned(
        cls, alpha: float, n_experts: int, *, share: float | None = None, eta: float | None = None
    ) -> "VariableShare":
        """Use the rate and the share of `FixedShare.tuned`."""
        fixed = FixedShare.tuned(alpha, n_experts, share=share, eta=eta)
        return cls(fixed.eta, fixed.share, fixed.alpha)


@kernel(VECTOR, inline=False)
def _learn(
    weights: Floats,
    ledger: Floats,
    totals: Floats,
    settings: Floats,
    told: Floats,
    level: float,
    gain: float,
) -> None:
    grow(weights, told, LOG2_E * settings[OWN_SETTING])
    if np.isnan(gain):
        return
    log_kept, n = settings[OWN_SETTING + 1], weights.size
    taken = np.empty_like(weights)
    for i in range(n):
        loss = 0.5 * (1.0 - gain - (told[i] - level))
        taken[i] = weights[i] * (1.0 - exp2(log_kept * min(max(loss, 0.0), 1.0)))
    pool = added(taken)
    part = 1.0 / (n - 1) if n > 1 else 0.0  # of one expert's weight all is left, whatever is taken
    for i in range(n):
        received = larger(pool - taken[i], 0.0) * part
        weights[i] = larger(weights[i] - taken[i] + received, TINY)


@kernel(VECTOR, inline=False)
def _score(
    weights: Floats, ledger: Floats, totals: Floats, settings: Floats, scores: Floats
) -> None:
    score_positive(weights, scores)


@kernel(VECTOR, inline=False)
def _weigh(weights: Floats, ledger: Floats, totals: Floats, settings: Floats) -> None:
    normalise(weights)


VariableShare._kernels = kernels_of(_score, _learn, _weigh)
