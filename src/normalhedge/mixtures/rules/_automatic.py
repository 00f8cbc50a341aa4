"""The default: a hedger over ways of combining, for users who do not want to choose one."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from normalhedge._core import (
    CONTEXTS,
    CORRECTIONS,
    QUANTILE_CORRECTIONS,
    STEADY_CORRECTION,
    Live,
)
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import Bound
from normalhedge.mixtures.losses import NUMBERS, Loss
from normalhedge.mixtures.rules import _insurance as insurance
from normalhedge.mixtures.rules._components import ALONE, CAUTION, Component, components_of

BY_CORRECTION = 0.05
"""The prior of each correction, of each correction of a context, and of their base, in the
insurance."""

RECALIBRATIONS = 2
"""The number of recalibrations of class probabilities: of the blend, and of the plain pool."""

SMOOTH_TARGET, KINKED_TARGET = 4.0, 1.5
"""The largest error that corrections learn from, in usual errors."""

BASE = 4
"""The place of the base among the values of a row. Before it: the blend, the two meta levels, the
forecast that is followed; after it: corrections and corrections of contexts, or recalibrations."""

INSURED = 0.95
"""The share of the insurance's prior that the levels have; the ways have the rest."""


class Prior(NamedTuple):
    """The weights of the default before its first outcome."""

    ways: tuple[float, ...]  # of the ways of combining on the meta level, the plain ones first
    insured: float  # the share of the levels in the insurance; the ways have the rest


@dataclass(frozen=True)
class Automatic:
    r"""Hedge over ways of combining: there is no algorithm, memory or scale to choose.

    Nobody knows beforehand whether the plain median, last week's best model or inverse mean square
    errors will serve best. All these ways of combining make forecasts side by side. A meta level
    starts from the plain combinations and moves its weight to the ways with the smallest losses.

    .. math::

        y_A &= \sum_k p_k z_k, \qquad z_k \text{ the forecast of way } k \\
        p_k &\propto \pi_k \left(\Phi(R_k + u, V_k + u^2) - \Phi(R_k - u, V_k + u^2)\right),
        \qquad \Phi(R, V) = \exp([R]_+^2 / 2V)

    R and V are the discounted sums of ``r = (loss of the blend - loss of the way) / s`` and of its
    square, s is the usual difference, u the largest r. Delayed losses are correlated, so an outcome
    that is d rounds late counts sqrt(d + 1) times in V, and is forgotten d + 1 times more slowly.
    The prior pi of the plain combinations is 95 % (50 % for class probabilities).

    Forecasts of numbers are corrected, because the blend cannot leave their range. The base b is
    the blend above or the plain median; ridge regressions on features z, in units of the mean past
    error s, learn the corrections c, and Squint weighs the base and its corrections:

    .. math::

        c = b + s\,\theta^T z, \qquad
        z = \left(1,\ (b - m) / v,\ e / s,\ l / s,\ (x_1 - b) / s, \dots, (x_N - b) / s\right)

    with m and v the discounted mean and deviation of b, e its mean error over some 20 rounds and l
    its last error. With more than 64 experts, the plain mean, the plain median and the best expert
    so far take the places of x. Another correction takes the own bias and scale of every expert, of
    the plain mean and of the plain median away, learned over 20, 100 and all rounds, weighs what is
    left by relative losses, and averages the middle half.

    Quantiles have two other corrections of their base. With m its quantile nearest to the median, w
    the mean of :math:`|b_q - m|` and s the mean past loss,

    .. math::

        c_q = m + w\,\delta + e^\lambda (b_q - m), \qquad c'_q = b_q + s\,\theta_q

    follow the slopes of the loss: the first moves location and spread, the second each quantile
    that is missed too often or too seldom.

    Class probabilities are recalibrated: a blend of experts who know different things is too flat,
    one of overconfident experts too sharp. The base b is the blend or the plain logarithmic pool,

    .. math::

        p_c \propto \exp(a_c + \beta \log b_c), \qquad
        \theta \leftarrow \frac{\sum_t \lambda^{T-t} (h_t \theta_t - g_t)}
                             {\rho + \sum_t \lambda^{T-t} h_t}
        \quad \text{for } \theta = a_c \text{ and } \theta = \beta - 1

    with slopes g and curvatures h of the log loss: small Newton steps that the ridge rho keeps near
    none. A meta level weighs the blend, 95 % at first, and its recalibrations. Items share them.

    If several items share a mixture, every way has two sets of weights, one for all items together
    and one for each item alone; and so have the meta level and the corrections. In what items
    learn together, a round with fewer rows than usual counts as a part of a round.

    Notes
    -----
    The ways: plain median, trimmed mean (the middle half) and mean; NormalHedge at memories 5, 20
    and 100, and by weighted medians; AdaNormalHedge and NormalHedge with the gradient trick, which
    compete with the best convex combination; inverse losses (`BatesGranger`). Quantiles have
    `RelativeLoss` and the gradient trick, by means and by trimmed means, with weights that all
    levels share; and by means with weights that are smooth over the levels, or by level. Their meta
    level waits for evidence of several rounds. With ``inside`` they have the ways of earlier
    versions: NormalHedge in the place of trimmed means.
    Class probabilities have logarithmic pools, too: normalised geometric means with even weights,
    or weights of AdaNormalHedge and NormalHedge, of the probabilities, or of 1e-6 if that is more,
    so that no expert rules out a class alone.

    **Guarantee.** Nothing is proved of the meta level itself. But the blend is insured: it is a
    weighted mean of the forecasts of the meta level, the ways and the corrections (of classes, the
    recalibrations), with the weights of AdaNormalHedge, whose prior gives the meta level 95 %.
    Theorem F of ``docs/two-levels.md``, with the priors rho, says of each of them that

    .. math::

        \sum_t (\ell_t - \ell_{k,t}) / S_t \le \sqrt{3 C_k \ln(B / \rho_k)}, \qquad
        B = \sum_k \rho_k \left(1 + \tfrac12 (1 + \ln(1 + C_k))\right) + X, \quad
        C_k = \sum_t (1 + d_t) |\ell_t - \ell_{k,t}| / S_t

    S is the range of the loss or, if that is unknown, the largest difference so far. X is zero if
    the loss is convex and outcomes are known at once. Otherwise the condition of the theorem is
    checked in each round, and X is the total by which it was violated: the bound of `Mixture.bound`
    holds for all losses and delays, but it may be large. On the panels of ``nox -s panels`` the
    insurance changes the blend by less than 0.1 %.

    For the square loss, Theorem L bounds the regret to every linear combination of the experts
    with weights that sum to one (``Bound.linear``), while there were no more than 64 experts, those
    that left included.

    A corrected forecast lies within four mean errors of its base. With ``inside`` there are no
    corrections, recalibrations and logarithmic pools, and the blend lies within the range of the
    forecasts after the guard. A round costs O(N log N) time for each of the ways, and O(N^2) for
    each of five corrections; from 65 experts on, O(N log N).

    References
    ----------
    Luo and Schapire, "Achieving all with no parameters: AdaNormalHedge" (2015); Bates and Granger,
    "The combination of forecasts" (1969); Vovk, "Competitive on-line statistics" (2001); Koolen and
    van Erven, "Second-order quantile methods for experts and combinatorial games" (2015).

    Examples
    --------
    >>> Automatic(guard=False)
    Automatic(memory=100.0, guard=False, inside=False)
    """

    # the memory of the meta level, in rounds, where outcomes are known at once
    memory: float = 100.0
    # Whether to clip absurd forecasts of numbers to a plausible range around the other forecasts
    # and past outcomes: see ``src/core/guard.hpp``.
    guard: bool = True
    # whether to keep the blend within the range of the forecasts, without corrections,
    # recalibrations and logarithmic pools
    inside: bool = False
    # the prior of the file that a mixture was loaded from, if it is another than the prior of this
    # version of the package; else None
    prior: Prior | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", inputs.number("memory", self.memory, 1.0))
        if not isinstance(self.guard, bool):
            raise TypeError(f"guard must be true or false, got {self.guard!r}")
        if not isinstance(self.inside, bool):
            raise TypeError(f"inside must be true or false, got {self.inside!r}")

    def components(self, loss: Loss) -> list[Component]:
        """Return the ways of combining for a loss, the plain ones first."""
        ways = components_of(loss, inside=self.inside)
        if self.prior is None:
            return ways
        return [way._replace(prior=p) for way, p in zip(ways, self.prior.ways, strict=True)]

    def prior_of(self, loss: Loss) -> Prior:
        """Return the weights before the first outcome, for a loss."""
        insured = INSURED if self.prior is None else self.prior.insured
        return Prior(tuple(way.prior for way in self.components(loss)), insured)

    def starting_from(self, prior: Prior | None) -> "Automatic":
        """Return the same settings with another prior; None for the one of this package."""
        other = Automatic(self.memory, self.guard, self.inside)
        object.__setattr__(other, "prior", prior)
        return other

    def bound(self, loss: Loss, games: Live) -> Bound:
        """Return the bound on the regret of the blend to each component, up to now (Theorem F).

        With one item, or if each item has its own weights, it is in units of the loss. Items that
        share their weights differ in scale: there each round counts in units of the largest
        difference of losses of its item so far, or of the range of the loss if that is known.
        """
        place = None
        if self.target(loss) and loss.name == "square":
            place = self.first_way(loss) - 3 - CONTEXTS - CORRECTIONS + STEADY_CORRECTION
        return insurance.present_bound(self._shares(loss), loss, games, place)

    def bounds(self, loss: Loss, games: Live) -> Floats:
        """Return the bound on the regret to the levels together, and to each way; for each game."""
        return insurance.bounds(self._shares(loss), loss, games)

    def regrets(self, games: Live) -> Floats:
        """Return the regrets that `bounds` bounds."""
        return insurance.regrets(games)

    def with_losses(self, loss: Loss, games: Live, totals: Floats) -> Floats:
        """Return the totals of a file before version 4 as they are kept now.

        Regrets in units of the loss were not kept: they begin as the regrets in gains, times the
        present unit. The growth of the bound on the potential was computed from the clocks.
        """
        return insurance.with_losses(self._shares(loss), games, totals)

    def bound_ahead(self, loss: Loss, rounds: int, delay: int = 0, wide: int = 0) -> Bound:
        r"""Return the bound on the regret of the blend to each component, before the game.

        .. math::

            R_k &\le \sqrt{3T \ln(B/\rho_k)}, \qquad
            B = \left(1 + \tfrac12 (1 + \ln(1 + T))\right) \textstyle\sum_k \rho_k \\
            R_k &\le d + \sqrt{3nA \ln(B_d/\rho_k) + mA}, \qquad
            B_d = \left(1 + \tfrac n2 + 2\ln(1 + A)\right) \textstyle\sum_k \rho_k

        The first is for outcomes that are known at once, the second for outcomes that come d rounds
        late: Theorems F and G of ``docs/two-levels.md``. There n = d + 1, and A is the smaller of T
        and (T + n) / 4 + m.

        Examples
        --------
        >>> from normalhedge.mixtures import LOSSES
        >>> print(Automatic().bound_ahead(LOSSES["l1"](), 10_000))
        regret <= 508.855 (in units of the range of the loss; Theorem F)
        """
        return insurance.bound_ahead(self._shares(loss), loss, rounds, delay, wide)

    def target(self, loss: Loss) -> float:
        """Return the largest error that corrections learn from, in usual errors; 0 without them."""
        if self.inside or loss.forecasts is not NUMBERS or loss.of_levels:
            return 0.0
        return SMOOTH_TARGET if type(loss).kink is Loss.kink else KINKED_TARGET

    def corrections(self, loss: Loss) -> int:
        """Return the number of corrections of the blend; of each item alone, there are as many."""
        if loss.of_levels:
            return 0 if self.inside else QUANTILE_CORRECTIONS
        return CORRECTIONS if self.target(loss) else 0

    def recalibrations(self, loss: Loss) -> int:
        """Return the number of recalibrations of the blend, where it is of class probabilities."""
        return RECALIBRATIONS if loss.of_classes and not self.inside else 0

    def first_way(self, loss: Loss) -> int:
        """Return the place of the first way among the values of a row; see `BASE`."""
        return BASE + len(self._between(loss))

    def _between(self, loss: Loss) -> list[float]:
        """Return the priors of the base and what it is corrected to, for all items.

        These are corrections and corrections of contexts, or recalibrations.
        """
        contexts = CONTEXTS if self.target(loss) else 0
        others = self.corrections(loss) + contexts + self.recalibrations(loss)
        return [BY_CORRECTION] * (1 + others if others else 0)

    def _alone(self, loss: Loss) -> float:
        """Return the prior of a way of an item alone, as a share of the prior of the shared way."""
        return ALONE if loss.of_levels and not self.inside else 1.0

    def _shares(self, loss: Loss) -> Floats:
        """Return the prior of the insurance: of the levels together, and of each way."""
        ways, insured = self.prior_of(loss)
        hedged = [way.prior for way in self.components(loss) if way.hedger is not None]
        separate = [self._alone(loss) * prior for prior in hedged]
        corrections = [BY_CORRECTION] * self.corrections(loss)
        rest = (*self._between(loss), *ways, *separate, *corrections)
        return np.array([insured, *((1.0 - insured) * p for p in rest)])

    def engine(self, loss: Loss) -> tuple[Any, ...]:
        """Return the arguments that the core needs for its part."""
        # `Mixture.peek` asks for them each time. Losses of the user's own are equal if their names
        # are, so they cannot be looked up.
        return _engine_of.__wrapped__(self, loss) if loss.own else _engine_of(self, loss)


@lru_cache(maxsize=64)
def _engine_of(hedger: Automatic, loss: Loss) -> tuple[Any, ...]:
    corrects = loss.of_levels and not hedger.inside
    ways = [
        (
            None if way.hedger is None else way.hedger._engine,
            way.combine,
            way.gradient,
            way.slope,
            way.prior,
            way.knots,
        )
        for way in hedger.components(loss)
    ]
    return (
        ways,
        loss.forecasts.combine,
        1.0 / hedger.memory,
        hedger.prior_of(loss).insured,
        hedger.guard and loss.forecasts.guarded,
        hedger.target(loss),
        (hedger._alone(loss), CAUTION if corrects else 1.0, corrects),
        bool(hedger.recalibrations(loss)),
    )
