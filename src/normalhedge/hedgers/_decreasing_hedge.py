"""Hedge with a decreasing learning rate (Auer, Cesa-Bianchi and Gentile, 2002)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from normalhedge.hedgers._algorithm import NEEDS_COUNT
from normalhedge.hedgers._compiled_hedger import CompiledHedger


@dataclass(frozen=True)
class DecreasingHedge(CompiledHedger):
    r"""Hedge with a learning rate that falls with the number of rounds played.

    .. math::

        p_i \propto \exp(\eta_t (1 - \alpha) R_i), \qquad \eta_t = \sqrt{\ln N / n_t}, \quad
        n_t = 1 + (1 - \alpha)^2 n_{t-1}

    in round t; n_t = t if alpha = 0. The length of the game need not be known.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets. With a small discount the learning rate falls
        to about that of `Hedge.corrected`.

    Notes
    -----
    Every regret stays below ``2 sqrt(n_T ln N)``: ``2 sqrt(T ln N)`` without a discount, and never
    above ``2 sqrt(ln N / (1 - (1-alpha)^2))`` with one. A falling rate gives
    ``R <= ln N / eta_T + sum_t eta_t s_t^2 / 8`` for gains of ranges s_t; a discounted game is a
    game with growing ranges ``2 (1-alpha)^-t`` and falling rates. The bound on the regret to a
    quantile is the same.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Auer, Cesa-Bianchi and Gentile, "Adaptive and self-confident on-line learning algorithms"
    (2002); the constant is that of Bubeck, "Introduction to online optimization" (2011),
    for losses in [0, 1].

    Examples
    --------
    >>> DecreasingHedge().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.51 , 0.377, 0.112])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "decreasing_hedge"
    total_names: ClassVar[tuple[str, ...]] = ("time",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"time": 0}
    free_of_scale: ClassVar[bool] = True
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        regret = 2.0 * math.sqrt(self.effective_rounds(rounds) * math.log(n))
        return regret, "Hedge at a falling rate"
