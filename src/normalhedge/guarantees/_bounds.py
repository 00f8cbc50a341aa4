"""Bounds on the discounted regret for given settings."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context

from normalhedge.boundary import inputs
from normalhedge.guarantees.potentials import LARGEST_ETA, SMALLEST_C, exp_or_inf

PAPER_C = 4.0
"""The constant c of Theorem 1 of the paper."""

PAPER_POTENTIAL = 2.32
"""The average potential that Theorem 1 of the paper promises not to be exceeded."""

MOST_EXPERTS = 10**100

UNIT = 2.0**-53
"""The relative error of one operation in doubles."""


@dataclass(frozen=True)
class LinearBound:
    r"""A bound on the regret to each linear combination of forecasts, with weights that sum to one.

    .. math:: \text{regret} + \text{ridge} \sum_i u_i^2

    Attributes
    ----------
    regret
        The regret that does not depend on the weights.
    ridge
        The price of a sum of squares of one.
    """

    regret: float
    ridge: float

    def to(self, weights: Iterable[float]) -> float:
        """Return the bound on the regret to the combination with these weights.

        Examples
        --------
        >>> LinearBound(regret=10.0, ridge=2.0).to([1.5, -0.5])
        15.0
        """
        return self.regret + self.ridge * math.fsum(weight * weight for weight in weights)


@dataclass(frozen=True)
class Bound:
    """A bound on the discounted regret, or the statement that there is none.

    Attributes
    ----------
    regret
        No regret ever exceeds this; infinity if no theorem applies.
    source
        The theorem, or the reason why there is none.
    unit
        The unit of the regret and the rounds that it counts, in words; empty for gains.
    measured
        The part of ``regret`` that a mixture measured: the cost that no theorem covers.
    potential
        The average potential of all experts that ever joined never exceeds this; infinity if
        nothing is known. An expert that has left counts as asleep.
    numerical
        Whether the bound was found in floating point and is not proved.
    computed_potential
        The average potential of the regrets as they are computed, in doubles, never exceeds this;
        infinity if nothing is known.
    linear
        The bound on the regret to linear combinations of the forecasts, of the default blend in
        square loss (Theorem L of ``docs/two-levels.md``); None if there is none.
    """

    regret: float
    source: str
    potential: float = math.inf
    numerical: bool = False
    computed_potential: float = math.inf
    unit: str = ""
    measured: float = 0.0
    linear: LinearBound | None = None

    @property
    def mark(self) -> str:
        """What stands behind the bound, as in the index of theorems: proved or numerical.

        Empty if there is no bound. A bound with a measured part is proved for the numbers of the
        run that was measured.
        """
        return "" if not self else "numerical" if self.numerical else "proved"

    def __bool__(self) -> bool:
        """Tell whether there is a finite bound."""
        return math.isfinite(self.regret)

    def __str__(self) -> str:
        """Return the bound as a phrase."""
        unit = f" {self.unit}" if self.unit else ""
        return f"regret <= {at_most(self.regret)}{unit} ({self.source})" if self else self.source


def at_most(limit: float, digits: int = 6) -> str:
    """Return an upper limit as text, rounded up.

    Examples
    --------
    >>> at_most(1.00000025), at_most(113.848)
    ('1.00001', '113.848')
    """
    if not math.isfinite(limit):
        return str(limit)
    return f"{Context(prec=digits, rounding=ROUND_CEILING).create_decimal_from_float(limit):g}"


def scaled_limit(potential: float, part: float, c: float) -> float:
    """Return the largest ``sqrt(alpha) R`` that an average potential allows a share of the experts.

    No expert has a potential below one, so ``part Phi(x) + 1 - part <= potential``.
    """
    return math.sqrt(2.0 * c * math.log1p((potential - 1.0) / part))


def theorem_1(alpha: float, n_experts: int, c: float, quantile: float | None = None) -> Bound:
    r"""Return the bound of Theorem 1 of the paper for NormalHedge.

    If ``c = 4`` and ``alpha < 1/(800 ln(2.32 N))``, the average potential stays below 2.32, so

    .. math:: R_i \le \sqrt{8 \ln(2.32 N) / \alpha}, \qquad
              R_\epsilon \le \sqrt{8 \ln(2.32/\epsilon) / \alpha}

    for every expert, and for the best epsilon-quantile of experts.

    Parameters
    ----------
    alpha, c
        The settings of NormalHedge.
    n_experts
        The number of experts that ever took part, including those that left: for the theorem they
        are asleep.
    quantile
        Epsilon in (0, 1], to bound the regret to the best epsilon-quantile. None: to every expert.

    Examples
    --------
    >>> print(theorem_1(alpha=1e-4, n_experts=1000, c=4.0))
    regret <= 787.367 (Theorem 1)
    >>> print(theorem_1(alpha=0.1, n_experts=1000, c=4.0))
    no theorem covers alpha=0.1 with 1000 experts (Theorem 1 needs alpha < 0.000161)
    """
    alpha = inputs.number("alpha", alpha, 0.0, 1.0)
    n_experts = inputs.count("n_experts", n_experts)
    c = inputs.number("c", c, SMALLEST_C)
    part = share(n_experts, quantile)
    uncovered = f"no theorem covers alpha={alpha!r} with {n_experts} expert" + "s" * (n_experts > 1)
    if c != PAPER_C:
        return Bound(math.inf, f"{uncovered} and c={c!r} (Theorem 1 needs c = 4)")
    largest_alpha = 1.0 / (800.0 * math.log(PAPER_POTENTIAL * n_experts))
    if alpha >= largest_alpha:
        return Bound(math.inf, f"{uncovered} (Theorem 1 needs alpha < {largest_alpha:.3g})")
    regret = math.sqrt(2.0 * PAPER_C * math.log(PAPER_POTENTIAL / part) / alpha)
    return Bound(regret, "Theorem 1", PAPER_POTENTIAL)


def hedge_bound(alpha: float, n_experts: int, eta: float, quantile: float | None = None) -> Bound:
    r"""Return the bound for discounted Hedge, at any rate and any number of experts.

    .. math:: R_i \le \frac{\ln N}{\eta} + \frac{\eta}{2\alpha(1-\alpha)}, \qquad
              R_\epsilon \le \frac{\ln(1/\epsilon)}{\eta} + \frac{\eta}{2\alpha(1-\alpha)}

    With ``L = ln mean_i exp(eta R_i)`` and ``d = 1 - alpha``: the new regrets are ``d (R + r/d)``,
    so ``L' <= d ln mean_i exp(eta R_i + eta r_i / d)`` (Jensen) ``<= d (L + eta^2 / 2 d^2)``
    (Hoeffding: the weights ∝ exp(eta R) give r/d mean zero and range 2/d). Hence
    ``L <= eta^2 / (2 alpha d)`` in all rounds. The bound printed in Section 4.1 of the paper,
    ``sqrt(ln N / (alpha - alpha^2 / 2))``, is smaller and false: its proof uses weights that the
    algorithm does not play.

    Parameters
    ----------
    alpha, eta
        The settings of Hedge.
    n_experts, quantile
        As for `theorem_1`.

    Examples
    --------
    >>> print(hedge_bound(alpha=0.001, n_experts=1000, eta=0.1175))
    regret <= 117.599 (discounted Hedge)
    """
    alpha = inputs.number("alpha", alpha, 0.0, 1.0)
    eta = inputs.number("eta", eta, 0.0, LARGEST_ETA)
    part = share(inputs.count("n_experts", n_experts), quantile)
    log_potential = eta * eta / (2.0 * alpha * (1.0 - alpha))
    regret = (math.log(1.0 / part) + log_potential) / eta
    return Bound(regret, "discounted Hedge", exp_or_inf(log_potential))


def share(n_experts: int, quantile: float | None) -> float:
    """Return the share of the experts to whose regret a bound applies: at least one expert."""
    if n_experts > MOST_EXPERTS:
        raise ValueError(f"n_experts must be at most 1e100, got {n_experts}")
    if quantile is None:
        return 1.0 / n_experts
    return max(inputs.quantile(quantile), 1.0 / n_experts)


def gain_error(n_experts: int, potential: float) -> float:
    """Return eps, the largest error of the gain of the hedger in one round."""
    exponent = math.log1p(n_experts * (potential - 1.0))
    return 8.0 * UNIT * (n_experts + 8.0 * exponent + 16.0)


def computed_potential(alpha: float, n_experts: int, c: float, potential: float) -> float:
    r"""Return a bound on the average potential of regrets that are computed in doubles.

    Let ``u = 2^-53``, and start a round from the computed regrets. The program finds the gain of
    the hedger with an error of at most ``eps``, and each regret with a further error of at most
    ``u (3 |R| + 8)``. So each scaled regret becomes y + e, where y is the exact result and

    .. math:: |e| \le E = h\,\varepsilon + u\,(3 x_{max} + 8 h), \qquad
              \varepsilon = 8 u\,(N + 8 \ln(1 + N (B-1)) + 16), \qquad h = \sqrt\alpha,

    and ``Phi(y + e) <= (1 + omega) exp(y^2/2c)``, with
    ``1 + omega = exp((2 (x_max + 2h) E + E^2) / 2c)``. The average of the one-step inequality says
    ``Psi' <= (1 + omega) (Psi + alpha A (B - Psi))``. Its fixed point is never exceeded:

    .. math:: \hat B = \frac{B}{1 - \dfrac{\omega}{(1+\omega)\,\alpha A}}, \qquad
              A \ge \frac{1}{2c(B-1)},

    where the inequality at x = 0 gives the limit of A. docs/certificates.md counts the errors.

    Parameters
    ----------
    alpha, n_experts, c
        The settings of NormalHedge, and the number of experts that ever take part.
    potential
        B, which the average potential of exact regrets never exceeds by a certificate of one round.

    Returns
    -------
    float
        A little more than B; infinity where the errors of so many experts are too large.

    Examples
    --------
    >>> computed_potential(0.001, 1000, 4.0, 1.153448) - 1.153448 < 2e-10
    True
    """
    if n_experts < 2:
        return potential
    limit = potential
    for _ in range(3):  # x_max follows from the result
        h, x = math.sqrt(alpha), scaled_limit(limit, 1.0 / n_experts, c)
        error = h * gain_error(n_experts, limit) + UNIT * (3.0 * x + 8.0 * h)
        exponent = (2.0 * (x + 2.0 * h) * error + error * error) / (2.0 * c)
        if exponent > 700.0:  # beyond the largest double
            return math.inf
        omega = math.expm1(exponent)
        lost = omega / (1.0 + omega) * 2.0 * c * (potential - 1.0) / alpha
        if not lost < 0.01:
            return math.inf
        # The factor is for the rounding of these lines themselves.
        limit = potential / (1.0 - lost) * (1.0 + 1e-14)
    return limit
