"""The plain average: a yardstick."""

from dataclasses import dataclass
from typing import ClassVar

from normalhedge.hedgers._compiled_hedger import CompiledHedger


@dataclass(frozen=True)
class Uniform(CompiledHedger):
    """Give every expert the same weight in every round: the baseline for hedgers that learn.

    Parameters
    ----------
    alpha
        The discount rate of the regrets in the state, in [0, 1); it does not change the weights.

    Notes
    -----
    The regret to the average expert is zero; the regret to the best expert can reach
    ``2 T (N - 1) / N``. A round costs O(N) time and a state O(N) memory.

    Examples
    --------
    >>> Uniform().run([[1.0, 0.0], [1.0, -1.0]]).gains
    array([0.5, 0. ])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "uniform"
    free_of_scale: ClassVar[bool] = True
