"""Fixed Share and Variable Share (Herbster and Warmuth, 1998)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from normalhedge.boundary import inputs
from normalhedge.guarantees import Bound
from normalhedge.guarantees.potentials import LARGEST_ETA
from normalhedge.hedgers._compiled_hedger import CompiledHedger


@dataclass(frozen=True)
class SharingHedger(CompiledHedger):
    """Hedge that gives a share of the weight to other experts after every round."""

    eta: float
    share: float
    alpha: float = 0.0

    scaling_exponents: ClassVar[Mapping[str, int]] = {"weights": 1}
    breaks: ClassVar[Mapping[str, str]] = {
        "a_sleeper_changes_nothing": "a share of the weight goes to every expert, asleep or not"
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", inputs.number("eta", self.eta, 0.0, LARGEST_ETA))
        object.__setattr__(self, "share", inputs.number("share", self.share, 0.0, 1.0))

    @classmethod
    def tuned(
        cls, alpha: float, n_experts: int, *, share: float | None = None, eta: float | None = None
    ) -> Self:
        """Choose the rate that minimises the bound of Fixed Share for a switch every 1/s rounds.

        It is ``eta^2 = 2 (s ln(N / s) + (1 - s) ln(1 / (1 - s)))``.

        Parameters
        ----------
        alpha
            The discount rate of the regrets that the state keeps, and the default of ``share``.
        n_experts
            The number of experts N.
        share
            The share s, strictly between 0 and 1. None: alpha.
        eta
            The learning rate. None: the one above.
        """
        s = inputs.number("share", alpha if share is None else share, 0.0, 1.0)
        n = max(inputs.count("n_experts", n_experts), 2)
        nats = s * math.log(n / s) - (1.0 - s) * math.log1p(-s)
        return cls(math.sqrt(2.0 * nats) if eta is None else eta, s, alpha)


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

    algorithm = "fixed_share"
    uncovered = "the discounted regret of Fixed Share"

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
    For losses that are mixable (square, log), Herbster and Warmuth compare the loss with
    the best sequence of m switches, without a term that grows with T. Here gains are averaged,
    which is not mixable: there is no bound.

    References
    ----------
    Herbster and Warmuth, "Tracking the best expert" (1998), Figure 1.

    Examples
    --------
    >>> hedger = VariableShare(eta=1.0, share=0.1)
    >>> hedger.run([[1.0, 0.0, -1.0]] * 20).state.weights.round(3)
    array([1., 0., 0.])
    """

    algorithm = "variable_share"
    breaks: ClassVar[Mapping[str, str]] = {
        **SharingHedger.breaks,
        "only_differences_matter": "the losses themselves decide how much weight is shared",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._prepare(self.eta, math.log2(1.0 - self.share))
