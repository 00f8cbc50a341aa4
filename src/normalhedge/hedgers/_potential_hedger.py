"""The common part of hedgers whose weights are the derivative of a potential."""

from abc import abstractmethod
from typing import ClassVar

from normalhedge.boundary import inputs
from normalhedge.guarantees import Bound
from normalhedge.hedgers._compiled_hedger import CompiledHedger


class PotentialHedger(CompiledHedger):
    """A hedger whose average potential is bounded in games of any length."""

    has_potential: ClassVar[bool] = True
    free_of_scale: ClassVar[bool] = True

    def bound(
        self, n_experts: int, rounds: int | None = None, quantile: float | None = None
    ) -> Bound:
        """Return the bound on the regret, which holds for games of any length.

        It is that of `certificates.best_known` for NormalHedge, of `certificates.hedge_bound` for
        Hedge.

        Parameters
        ----------
        n_experts, quantile
            As for `CompiledHedger.bound`.
        rounds
            Ignored: the bound is the same for all lengths.
        """
        if rounds is not None:
            inputs.count("rounds", rounds)
        return self._bound(n_experts, quantile)

    @abstractmethod
    def _bound(self, n_experts: int, quantile: float | None) -> Bound:
        """Return the bound on the regret."""
