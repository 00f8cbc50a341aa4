"""Variable Share (Herbster and Warmuth, 1998)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from normalhedge import _inputs
from normalhedge.hedgers.compiled_hedger import CompiledHedger
from normalhedge.hedgers.fixed_share import FixedShare
from normalhedge.potentials import LARGEST_ETA


@dataclass(frozen=True)
class VariableShare(CompiledHedger):
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

    algorithm: ClassVar[str] = "variable_share"
    scaling_exponents: ClassVar[Mapping[str, int]] = {"weights": 1}
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
