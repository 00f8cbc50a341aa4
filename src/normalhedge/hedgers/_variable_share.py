"""Variable Share (Herbster and Warmuth, 1998)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from normalhedge.hedgers._sharing import SharingHedger


@dataclass(frozen=True)
class VariableShare(SharingHedger):
    r"""Hedge that redistributes a share of the weight of the experts that lose.

    Like `FixedShare`, but an expert without loss keeps all its weight: if the best expert is
    perfect, sharing costs nothing between two switches.

    .. math::

        v_i \propto w_i e^{\eta r_i}, \qquad s_i = 1 - (1 - s)^{\ell_i}, \qquad
        w_i \leftarrow (1 - s_i) v_i + \frac{1}{N - 1} \textstyle\sum_{j \ne i} s_j v_j

    with the losses ``l = (1 - g) / 2`` in [0, 1]. With confidences k the loss is
    ``k_i l_i + (1 - k_i) l_A``: a sleeping expert has the loss of the hedger.

    Parameters
    ----------
    eta, share, alpha
        As for `FixedShare`.

    Notes
    -----
    For losses that are mixable (square, log), Herbster and Warmuth bound the loss by that of the
    best sequence with m switches, without a term that grows with T. Here gains are averaged, which
    is not mixable: there is no bound.

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

    algorithm: ClassVar[str] = "variable_share"
    breaks: ClassVar[Mapping[str, str]] = {
        **SharingHedger.breaks,
        "only_differences_matter": "the losses themselves decide how much weight is shared",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._prepare(self.eta, math.log2(1.0 - self.share))
