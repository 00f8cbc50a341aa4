"""NormalHedge (Freund and Hsu, 2008)."""

import math
from dataclasses import InitVar, dataclass, field
from typing import cast

from normalhedge.boundary import inputs
from normalhedge.guarantees import PAPER_C, Bound, best_known, default_c
from normalhedge.guarantees.potentials import LOG2_E, NormalPotential
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._late import PLAYED_EARLIER, age_names, check_delay


@dataclass(frozen=True)
class NormalHedge(CompiledHedger):
    r"""Weigh experts by how far the hedger is behind them, and forget at rate alpha.

    An expert has weight only while its discounted gain is larger than the hedger's, and more weight
    the further it is ahead. There is no learning rate, and the number of experts is not used.

    .. math::

        w_i &= [R_i]_+ \exp(\alpha [R_i]_+^2 / 2c), \quad p_i = w_i / \textstyle\sum_j w_j
              \quad \text{(uniform when every } w_i = 0) \\
        R_i &\leftarrow (1 - \alpha) R_i + g_i - \textstyle\sum_j p_j g_j

    With confidences, the distribution that is played is ``q_i ∝ p_i confidence_i``, and the
    increment of a regret becomes ``confidence_i (g_i - g_A)``.

    Parameters
    ----------
    alpha
        The discount rate, strictly between 0 and 1: a gain of ``1/alpha`` rounds ago counts about
        1/e of a gain now.
    c
        The spread of the potential, > 0. A smaller c moves weight faster. The default 1 has better
        proven bounds than the paper's 4 (see `paper`). With a delay, c must be larger: the default
        comes from `guarantees.default_c`, about ``4 (D + 1)``.
    memory
        Another way to give alpha: ``alpha = 1 / memory``.
    half_life
        Another way to give alpha: ``(1 - alpha)^half_life = 1/2``.
    delay
        D, the number of later rounds that are played before the outcome of a round is known.
        Outcomes arrive in order, and `step` takes the outcome of the oldest pending round. The
        regrets rise by the differences of the gains in that round, with the weights p that were
        played in it, D outcomes ago. The weights of a state are for the round that is played next;
        ``run(gains, keep_weights=True).weights`` has the weights of each round. In a `Mixture`
        it is the lag of the outcomes.

    Notes
    -----
    `bound` returns the smallest bound known. The candidates are Theorem 1 of the paper, which needs
    c = 4 and ``alpha < 1/(800 ln(2.32 N))``; the proofs that come with this package (for example,
    at c = 1 and ``alpha = 0.001`` the average potential of a million experts never exceeds 1.6515);
    and a numerical certificate. A bound ``B`` on the average potential means

    .. math:: R_i \le \sqrt{2 c \ln(1 + N (B - 1)) / \alpha}

    for every expert and any gains. It also holds with confidences, and when experts join at regret
    zero or leave (see docs/certificates.md).

    With a delay the candidates are the proofs for late outcomes (Theorem E), for the rates of
    memories of 20, 50, 100, 200, 500 and 1000 rounds, as far as there are any; the bound is on the
    regrets over the rounds whose outcomes are known. No c up to ``delay + 1/2`` has a bound that
    holds for all small alpha.

    A round costs O(N (D + 1)) time and a state as much memory.

    References
    ----------
    Freund and Hsu, "A new Hedging algorithm and its application to inferring latent random
    variables", Equation (1). Section 2.1 of the paper writes ``w = Phi'(R)``, a slip: it is
    ``Phi'(sqrt(alpha) R)``, as everywhere else in the paper.

    Examples
    --------
    >>> hedger = NormalHedge(memory=100)
    >>> state = hedger.init(3)
    >>> for _ in range(50):
    ...     state = hedger.step(state, gains=[1.0, 0.0, -1.0])
    >>> state.weights.round(3)
    array([1., 0., 0.])

    Outcomes that come three rounds late:

    >>> late = NormalHedge(memory=1000, delay=3)
    >>> late
    NormalHedge(alpha=0.001, c=16.0, delay=3)
    >>> print(late.bound(1000))
    regret <= 439.201 (proof, average potential <= 1.413902)
    """

    algorithm = "normal_hedge"
    has_potential = free_of_scale = True
    least_potential = 1.0

    alpha: float = cast(float, None)  # set by __post_init__ if memory or half_life is given
    c: float = cast(float, None)  # set by __post_init__ if it is not given
    memory: InitVar[float | None] = field(default=None, kw_only=True)
    half_life: InitVar[float | None] = field(default=None, kw_only=True)
    delay: int = field(default=0, kw_only=True)

    def __post_init__(self, memory: float | None, half_life: float | None) -> None:
        object.__setattr__(self, "alpha", _discount_rate(self.alpha, memory, half_life))
        delay = check_delay(self.delay)
        object.__setattr__(self, "delay", delay)
        c = cast("float | None", self.c)
        potential = NormalPotential(default_c(delay) if c is None else c)
        object.__setattr__(self, "c", potential.c)
        root = math.sqrt(self.alpha)  # the potential is taken at sqrt(alpha) R
        rate = LOG2_E * potential.rate * (root * root)
        if not delay:
            self._prepare(rate)
            return
        object.__setattr__(self, "algorithm", "normal_hedge_late")
        object.__setattr__(self, "row_names", age_names("regret", delay)[1:])
        object.__setattr__(self, "breaks", {"run_folds_step": PLAYED_EARLIER})
        self._prepare(rate, delay)

    def __repr__(self) -> str:
        late = f", delay={self.delay}" if self.delay else ""
        return f"{type(self).__qualname__}(alpha={self.alpha!r}, c={self.c!r}{late})"

    @classmethod
    def paper(
        cls,
        alpha: float | None = None,
        *,
        memory: float | None = None,
        half_life: float | None = None,
    ) -> "NormalHedge":
        """Return NormalHedge with the paper's c = 4.

        Give exactly one of the three parameters.

        Parameters
        ----------
        alpha
            The discount rate, strictly between 0 and 1.
        memory
            ``1 / alpha``, in rounds.
        half_life
            After how many rounds a gain counts half.

        Examples
        --------
        >>> NormalHedge.paper(memory=100)
        NormalHedge(alpha=0.01, c=4.0)
        """
        return cls(cast(float, alpha), PAPER_C, memory=memory, half_life=half_life)

    def _bound_of_potential(self, n_experts: int, quantile: float | None) -> Bound:
        return best_known(self.alpha, n_experts, self.c, quantile, numerical=True, delay=self.delay)


def _discount_rate(alpha: float, memory: float | None, half_life: float | None) -> float:
    if sum(way is not None for way in (alpha, memory, half_life)) != 1:
        raise TypeError("give exactly one of alpha, memory and half_life")
    if memory is not None:
        return 1.0 / inputs.number("memory", memory, 1.0)
    if half_life is not None:
        rate = -math.expm1(-math.log(2.0) / inputs.number("half_life", half_life, 0.0))
        if not 0.0 < rate < 1.0:
            raise ValueError(f"half_life must be between 0.02 and 1e300, got {half_life!r}")
        return rate
    return inputs.number("alpha", alpha, 0.0, 1.0)
