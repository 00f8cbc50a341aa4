"""Coin betting with the Krichevsky-Trofimov bettor (Orabona and Pál, 2016)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from normalhedge.boundary import inputs
from normalhedge.hedgers._compiled_hedger import CompiledHedger


@dataclass(frozen=True)
class CoinBetting(CompiledHedger):
    r"""Give each expert a gambler that bets on it, and weigh experts by the bets.

    The outcome of a coin is the expert's regret in the round, and the gambler bets the share of its
    wealth that equals the mean outcome so far. The wealth grows exponentially while the regret
    grows, so no learning rate is needed. The number of experts is not used.

    .. math::

        \beta_i = \frac{\textstyle\sum_{s<t} c_{i,s}}{t + \delta}, \quad
        p_i \propto [\beta_i W_i]_+, \qquad W_i \leftarrow W_i (1 + \beta_i c_i), \quad
        c_i = \begin{cases} \rho_i & \beta_i > 0 \\ [\rho_i]_+ & \text{else} \end{cases}

    in round t, with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``. The weights are
    uniform if no gambler bets.

    Parameters
    ----------
    shift
        delta >= 0. `tuned` sets it to T/2 for a game of T rounds.
    alpha
        The discount rate of the coins, the time and ln W, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0 and shift = 0, ``R_i <= 2 sqrt(2 T (ln N + 1 + ln(pi T) / 2))``: the wealth is at
    least ``exp(S^2 / 2T) / (e sqrt(pi T))``, where the sum S of the coins is at least the regret,
    and the total wealth is never more than N. With shift = T/2,
    ``R_i <= 2 sqrt(3 T (ln N + 3))``. With 1/epsilon in place of N both bound the regret to the
    best epsilon-quantile. Other shifts, and discounts, have no theorem here.

    References
    ----------
    Orabona and Pál, "Coin betting and parameter-free online learning" (2016).
    Their algorithm for experts has the shift T/2; their lower bound on the wealth also holds
    without a shift.

    Examples
    --------
    >>> CoinBetting().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.667, 0.333, 0.   ])
    """

    shift: float = 0.0
    alpha: float = 0.0

    algorithm = "coin_betting"
    row_names = ("coins", "log wealth")
    total_names = ("time",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"log wealth": 2, "time": 0}

    def __post_init__(self) -> None:
        shift = inputs.number("shift", self.shift, 0.0, closed=True)
        object.__setattr__(self, "shift", shift)
        self._prepare(shift)

    @classmethod
    def tuned(cls, rounds: int) -> "CoinBetting":
        """Use the shift for a game of known length: half of its rounds."""
        return cls(0.5 * inputs.count("rounds", rounds))

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        spread = math.log(1.0 / share)
        if self.alpha > 0.0 or self.shift not in {0.0, 0.5 * rounds}:
            return math.inf, "no theorem covers coin betting with a discount or this shift"
        if self.shift == 0.0:
            late = 1.0 + 0.5 * math.log(math.pi * rounds)
            return 2.0 * math.sqrt(2.0 * rounds * (spread + late)), "Orabona and Pál 2016, KT"
        return 2.0 * math.sqrt(3.0 * rounds * (3.0 + spread)), "Orabona and Pál 2016"
