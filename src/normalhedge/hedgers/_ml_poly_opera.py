"""ML-Poly as implemented in the R package opera (Gaillard and Goude)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from normalhedge.hedgers._compiled_hedger import CompiledHedger


@dataclass(frozen=True)
class MLPolyOpera(CompiledHedger):
    r"""ML-Poly that learns the scale of the gains; opera calls it MLpol.

    The largest square so far takes the place of the 1 of `MLPoly`. So ten times the gains give the
    same weights, and learning is not slow if the gains are much smaller than their range.

    .. math::

        p_i \propto \eta_i [R_i]_+, \qquad
        1/\eta_i = \max_{t, j} \rho_{j,t}^2 + \textstyle\sum_t \rho_{i,t}^2

    with ``rho = r / 2``. The weights are uniform if no (awake) expert has a positive regret.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets, like opera. With a discount the rule is the
        same on gains that grow by ``1 / (1 - alpha)`` in each round: the squares, and the largest
        of them, decay by ``(1 - alpha)^2``.

    Notes
    -----
    There is no bound. The theorem of Gaillard, Stoltz and van Erven (2014) is about `MLPoly` on
    losses of known range: its potential grows by the sum of ``eta_i rho_i^2``, and the proof needs
    rho^2 to be at most the 1 in ``1 / eta_i`` *before* the round. Here a difference can be larger
    than all earlier ones, so that step of the proof fails.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Gaillard and Goude, "opera: Online Prediction by Expert Aggregation", a package for R, where it
    is ``MLpol``; and "Forecasting electricity consumption by aggregating experts; how to design a
    good set of experts" (2015).

    Examples
    --------
    >>> MLPolyOpera().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.556, 0.444, 0.   ])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "ml_poly_opera"
    row_names: ClassVar[tuple[str, ...]] = ("squares",)
    total_names: ClassVar[tuple[str, ...]] = ("largest square",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2, "largest square": 2}
    free_of_scale: ClassVar[bool] = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        del n, rounds, share
        return math.inf, "no theorem covers ML-Poly with a learned scale"
