"""Outcomes that come late: the c that NormalHedge takes, and what blocks of gains do to it."""

import math

from normalhedge.boundary import inputs
from normalhedge.guarantees.potentials import SMALLEST_C, exp_or_inf

LADDER = (1, 2, 3, 5, 10, 24)
"""The delays with proofs at the default c. A proof also covers every shorter delay."""


def default_c(delay: int) -> float:
    r"""Return the c of NormalHedge for outcomes that come late, unless another one is given.

    It is 1 without a delay, and else ``4 (D + 1)``, where D is the first number of `LADDER` that is
    not below the delay, or the delay itself if it is longer. Theorem E asks for ``c >= 2 + 4 d`` as
    alpha -> 0, if the number of experts is not to matter, and the bound on the regret grows as the
    root of c; so c is a little above that. For 1000 experts and alpha = 0.001 a smaller c has
    certificates whose bound is smaller by 20 % at a delay of 1, by 12 % at 3 and by 3 % at 10, with
    a potential that grows with the number of experts. The ladder lets the proofs that come with
    this package cover every delay up to 24.

    Parameters
    ----------
    delay
        The number of other outcomes that are learned between a prediction and its own.

    Examples
    --------
    >>> [default_c(delay) for delay in (0, 1, 3, 4, 5, 24, 30)]
    [1.0, 8.0, 16.0, 24.0, 24.0, 100.0, 124.0]
    """
    delay = inputs.count("delay", delay, least=0)
    if not delay:
        return 1.0
    return 4.0 * (next((rung for rung in LADDER if rung >= delay), delay) + 1)


def blocks_variance(delay: int, block: int) -> float:
    r"""Return V, the variance that NormalHedge sees in blocks of equal gains, with a delay.

    Two halves of the experts win in turn, each for ``block`` rounds. With the autocorrelations
    ``rho_j`` of these gains, a wave of triangles that is ``1 - 2 j / block`` up to ``j = block``,

    .. math:: V = 1 + 2 \sum_{j=1}^d \rho_j .

    Parameters
    ----------
    delay
        The number d of other outcomes that are learned between a prediction and its own.
    block
        The number of rounds in a block.

    Examples
    --------
    >>> blocks_variance(1, 6), blocks_variance(0, 6)
    (2.333..., 1.0)
    """
    delay, block = inputs.count("delay", delay, least=0), inputs.count("block", block)
    lags = range(1, delay % (2 * block) + 1)  # over a whole wave the sum is 0
    return 1.0 + 2.0 * math.fsum(abs(2.0 - 2.0 * lag / block) - 1.0 for lag in lags)


def blocks_potential(delay: int, block: int, c: float) -> float:
    r"""Return the average potential that blocks of equal gains reach as alpha -> 0, with a delay.

    .. math:: \Psi \to e^{V / (2 (2c - V))}, \qquad V \text{ of } \texttt{blocks\_variance},

    infinite if ``2 c <= V``, and 1 if V < 0, when the hedger leans the right way on average. As
    ``V -> 2 d + 1`` for long blocks, no c up to ``d + 1/2`` has a bound that holds for every small
    alpha. Section 8 of docs/certificates.md has the proof (Theorem J).

    Parameters
    ----------
    delay, block
        As for `blocks_variance`.
    c
        The c of NormalHedge.

    Examples
    --------
    >>> round(blocks_potential(delay=1, block=6, c=2.0), 3)
    2.014
    >>> blocks_potential(delay=1, block=6, c=1.0)
    inf
    """
    variance, c = blocks_variance(delay, block), inputs.number("c", c, SMALLEST_C)
    if variance >= 2.0 * c:
        return math.inf
    return exp_or_inf(max(variance, 0.0) / (2.0 * (2.0 * c - variance)))
