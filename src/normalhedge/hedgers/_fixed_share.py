"""Fixed Share (Herbster and Warmuth, 1998)."""

import math
from dataclasses import dataclass
from typing import ClassVar

from normalhedge.boundary import inputs
from normalhedge.guarantees import Bound
from normalhedge.hedgers._sharing import SharingHedger


@dataclass(frozen=True)
class FixedShare(SharingHedger):
    r"""Hedge that redistributes a share of the weight evenly after every round.

    No weight ever falls below ``share / N``, so an expert that becomes the best gains weight within
    a few rounds. The hedger competes with the best sequence of experts that switches a few times.

    .. math:: v_i \propto w_i e^{\eta r_i}, \qquad w_i \leftarrow (1 - s) v_i + s / N

    This is Bayes' rule over all sequences of experts, under the prior that in each round, with
    probability s, the expert is drawn anew from the uniform distribution. Herbster and Warmuth give
    the share to the *other* experts: their share is ``s (N - 1) / N``.

    Parameters
    ----------
    eta
        The learning rate, > 0.
    share
        s, strictly between 0 and 1. `tuned` chooses both.
    alpha
        The discount rate of the regrets in the state, in [0, 1); it does not change the weights.

    Notes
    -----
    Over T rounds the regret to every sequence of experts that switches m times stays below
    ``(ln N + m ln(N / s) - (T - 1 - m) ln(1 - s + s / N)) / eta + eta T / 2``
    (`bound` with ``switches=m``, for alpha = 0; m = 0 is the regret to the best expert).

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Herbster and Warmuth, "Tracking the best expert" (1998); Cesa-Bianchi and Lugosi, "Prediction,
    Learning, and Games" (2006), the chapter on tracking, as a mixture over sequences.

    Examples
    --------
    >>> hedger = FixedShare(eta=1.0, share=0.1)
    >>> hedger.run([[1.0, 0.0, -1.0]] * 20).state.weights.round(3)
    array([0.91 , 0.052, 0.038])
    """

    algorithm: ClassVar[str] = "fixed_share"
    uncovered: ClassVar[str] = "the discounted regret of Fixed Share"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._prepare(self.eta, self.share)

    def bound(
        self,
        n_experts: int,
        rounds: int | None = None,
        quantile: float | None = None,
        *,
        switches: int = 0,
    ) -> Bound:
        """Return the bound on the regret to the best sequence with a number of switches.

        Parameters
        ----------
        n_experts, rounds, quantile
            As for `CompiledHedger.bound`.
        switches
            How often the sequence changes from one expert to another.
        """
        plain = super().bound(n_experts, rounds, quantile)
        if inputs.count("switches", switches, 0) == 0 or rounds is None:
            return plain
        if switches >= rounds:
            raise ValueError(f"switches must be fewer than rounds = {rounds}, got {switches}")
        if math.isinf(plain.regret):
            return plain
        return Bound(self._sequence(n_experts, rounds, switches), plain.source)

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        return self._sequence(n, rounds, 0), "Cesa-Bianchi and Lugosi 2006, Fixed Share"

    def _sequence(self, n: int, rounds: float, switches: int) -> float:
        stay = math.log1p(self.share / n - self.share)
        prior = math.log(n) + switches * math.log(n / self.share) - (rounds - 1 - switches) * stay
        return prior / self.eta + self.eta * rounds / 2.0
