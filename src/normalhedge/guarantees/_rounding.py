r"""What is proved for the numbers that the program computes: doubles, rounded in every step.

Let ``u = 2^-53``, and let the regrets be those that were computed. In the next round the program
finds the gain of the hedger with an error of at most ``eps``, and each regret with a further error
of at most ``u (3 |R| + 8)``. So each scaled regret becomes y + e, where y is the exact result and

.. math:: |e| \le E = h\,\varepsilon + u\,(3 x_{max} + 8 h), \qquad
          \varepsilon = 8 u\,(N + 8 \ln(1 + N (B-1)) + 16), \qquad h = \sqrt\alpha,

and ``Phi(y + e) <= (1 + omega) exp(y^2/2c)``, with
``1 + omega = exp((2 (x_max + 2h) E + E^2) / 2c)``. The average of the one-step inequality says
``Psi' <= (1 + omega) (Psi + alpha A (B - Psi))``. Its fixed point is never exceeded:

.. math:: \hat B = \frac{B}{1 - \dfrac{\omega}{(1+\omega)\,\alpha A}}, \qquad
          A \ge \frac{1}{2c(B-1)},

where the inequality at x = 0 gives the limit of A. docs/certificates.md counts the errors.
"""

import math

from normalhedge.guarantees._bounds import scaled_limit

UNIT = 2.0**-53
"""The relative error of one operation."""


def gain_error(n_experts: int, potential: float) -> float:
    """Return eps, the largest error of the gain of the hedger in one round."""
    exponent = math.log1p(n_experts * (potential - 1.0))
    return 8.0 * UNIT * (n_experts + 8.0 * exponent + 16.0)


def computed_potential(alpha: float, n_experts: int, c: float, potential: float) -> float:
    """Return what the average potential of the computed regrets never exceeds.

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
    found = potential
    for _ in range(3):  # x_max is that of the result
        h, x = math.sqrt(alpha), scaled_limit(found, 1.0 / n_experts, c)
        error = h * gain_error(n_experts, found) + UNIT * (3.0 * x + 8.0 * h)
        exponent = (2.0 * (x + 2.0 * h) * error + error * error) / (2.0 * c)
        if exponent > 700.0:  # beyond what a double can hold
            return math.inf
        omega = math.expm1(exponent)
        lost = omega / (1.0 + omega) * 2.0 * c * (potential - 1.0) / alpha
        if not lost < 0.01:
            return math.inf
        # The factor is for the rounding of these lines themselves.
        found = potential / (1.0 - lost) * (1.0 + 1e-14)
    return found
