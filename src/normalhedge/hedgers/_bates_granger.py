"""Weights by inverse mean losses (Bates and Granger, 1969)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from normalhedge.boundary import inputs
from normalhedge.hedgers._compiled_hedger import DiscountedHedger


@dataclass(frozen=True)
class BatesGranger(DiscountedHedger):
    r"""Weigh experts by the inverse of their mean loss.

    Forecasters have done this since 1969: if errors are independent, weights by inverse mean square
    error give the best combination. Every expert keeps some weight, and the weights change slowly,
    even if outcomes arrive late.

    .. math::

        p_i \propto \left(\textstyle\sum_t (1 - g_{i,t}) + m\right)^{-\text{power}}

    with discounted sums. m is the hedger's mean of 1 - g: it acts as one more round in which all
    experts had the same loss. Gains are ``1 - 2 loss``: in a mixture this hedger gets the losses
    themselves, where other hedgers get their differences to the smallest loss. A sleeping expert
    has the loss of the hedger.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets.
    power
        1 for the rule of Bates and Granger; a larger power gives more weight to the best experts.

    Notes
    -----
    No theorem bounds its regret. A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Bates and Granger, "The combination of forecasts" (1969).

    Examples
    --------
    >>> BatesGranger().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.49 , 0.348, 0.161])
    """

    power: float = 1.0

    algorithm = "bates_granger"
    total_names = ("rounds", "lost")
    scaling_exponents: ClassVar[Mapping[str, int]] = {"rounds": 0}
    by_losses = True
    breaks: ClassVar[Mapping[str, str]] = {
        "only_differences_matter": "the losses themselves matter, not only their differences",
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", inputs.number("power", self.power, 0.0))
        self._prepare(self.power)
