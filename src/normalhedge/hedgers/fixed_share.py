"""Fixed Share (Herbster and Warmuth, 1998)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from normalhedge import _inputs
from normalhedge.certificates import Bound
from normalhedge.hedgers.compiled_hedger import CompiledHedger
from normalhedge.potentials import LARGEST_ETA


@dataclass(frozen=True)
class FixedShare(CompiledHedger):
    r"""Hedge that hands a share of all weight to all experts, after every round.

    No expert ever falls below ``share / N``, so that one that becomes the best is heard within a
    few rounds: it competes with the best sequence of experts that switches a few times.

    .. math:: v_i \propto w_i e^{\eta r_i}, \qquad w_i \leftarrow (1 - s) v_i + s / N

    These are the weights of Bayes' rule over all sequences of experts, a priori drawn uniformly
    anew with probability s in each round. Herbster and Warmuth hand the share to the *others*:
    their share is ``s (N - 1) / N``.

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
    Over T rounds the regret to every sequence of experts that switches m times stays below
    ``(ln N + m ln(N / s) - (T - 1 - m) ln(1 - s + s / N)) / eta + eta T / 2``
    (`bound`, with ``switches``; without any it bounds the regret to every expert, alpha = 0).

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

    eta: float
    share: float
    alpha: float = 0.0

    algorithm: ClassVar[str] = "fixed_share"
    scaling_exponents: ClassVar[Mapping[str, int]] = {"weights": 1}
    breaks: ClassVar[Mapping[str, str]] = {
        "a_sleeper_changes_nothing": "a share of the weight goes to every expert, asleep or not"
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", _inputs.number("eta", self.eta, 0.0, LARGEST_ETA))
        object.__setattr__(self, "share", _inputs.number("share", self.share, 0.0, 1.0))
        self._prepare(self.eta, self.share)

    @classmethod
    def tuned(
        cls, alpha: float, n_experts: int, *, share: float | None = None, eta: float | None = None
    ) -> "FixedShare":
        """Expect a switch every 1/share rounds, and choose the rate that makes that bound least.

        ``eta^2 = 2 (s ln(N / s) + (1 - s) ln(1 / (1 - s)))``, with s = alpha, where they are not
        given.
        """
        s = _inputs.number("share", alpha if share is None else share, 0.0, 1.0)
        n = max(_inputs.count("n_experts", n_experts), 2)
        nats = s * math.log(n / s) - (1.0 - s) * math.log1p(-s)
        return cls(math.sqrt(2.0 * nats) if eta is None else eta, s, alpha)

    def bound(
        self,
        n_experts: int,
        rounds: int | None = None,
        quantile: float | None = None,
        *,
        switches: int = 0,
    ) -> Bound:
        """Return what is promised against the best sequence with so many switches.

        Parameters
        ----------
        n_experts, rounds, quantile
            As for `CompiledHedger.bound`.
        switches
            How often the sequence changes its expert.
        """
        plain = super().bound(n_experts, rounds, quantile)
        if switches == 0:
            return plain
        switches = _inputs.count("switches", switches)
        if rounds is None:
            return plain
        if switches >= rounds:
            raise ValueError(f"switches must be fewer than rounds = {rounds}, got {switches}")
        return Bound(self._sequence(n_experts, rounds, switches), plain.source)

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        if self.alpha > 0.0:
            return math.inf, "no theorem covers the discounted regret of Fixed Share"
        return self._sequence(n, rounds, 0), "Cesa-Bianchi and Lugosi 2006, Fixed Share"

    def _sequence(self, n: int, rounds: float, switches: int) -> float:
        stay = math.log1p(self.share / n - self.share)
        prior = math.log(n) + switches * math.log(n / self.share) - (rounds - 1 - switches) * stay
        return prior / self.eta + self.eta * rounds / 2.0
