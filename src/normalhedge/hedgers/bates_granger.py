"""Weights by inverse mean losses (Bates and Granger, 1969)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from normalhedge import _inputs
from normalhedge.hedgers.compiled_hedger import CompiledHedger


@dataclass(frozen=True)
class BatesGranger(CompiledHedger):
    r"""Weigh experts by the inverse of their mean loss.

    What forecasters have done since 1969: where errors are independent, weights by inverse mean
    square error are those of the best combination. Nobody is ever left out, and nothing swings,
    however late outcomes come.

    .. math::

        p_i \propto \left(\textstyle\sum_t (1 - g_{i,t}) + m\right)^{-\text{power}}

    with discounted sums; m is the hedger's mean of 1 - g: one round more in which everybody lost
    alike. Gains are ``1 - 2 loss``: in a mixture they say how large losses are, and not only how
    much larger than the least of them, as those of other hedgers do. An expert that sleeps counts
    as the hedger does.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets.
    power
        1 for the rule of Bates and Granger; larger powers prefer the best more.

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

    alpha: float = 0.0
    power: float = 1.0

    algorithm: ClassVar[str] = "bates_granger"
    total_names: ClassVar[tuple[str, ...]] = ("rounds", "lost")
    scaling_exponents: ClassVar[Mapping[str, int]] = {"rounds": 0}
    by_losses: ClassVar[bool] = True
    breaks: ClassVar[Mapping[str, str]] = {
        "only_differences_matter": "the losses themselves matter, and not how much they differ",
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", _inputs.number("power", self.power, 0.0))
        self._prepare(self.power)
