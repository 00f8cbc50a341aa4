"""The default: a hedger over ways of combining, for who does not want to choose one."""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from normalhedge import _inputs
from normalhedge._core import Games
from normalhedge._inputs import Floats
from normalhedge.certificates.bounds import Bound
from normalhedge.hedgers import AdaNormalHedge, BatesGranger, CompiledHedger, NormalHedge
from normalhedge.mixtures.losses import Loss

TRUST, TRUST_OF_CLASSES = 0.95, 0.5
"""The share of the prior that the plain combinations have, which the others must overcome: less for
class probabilities, whose losses have a range that one absurd forecast cannot exceed."""


PLAIN_WAYS = {"median": "median", "trimmed mean": "trimmed", "mean": "mean"}


VALUES_BEFORE_WAYS = 4
"""Of a row: the blend, the level that all items share, that of the item alone, and both."""

INSURED = 0.95
"""The share of the insurance's prior that the levels have, and not the ways."""


class Component(NamedTuple):
    """A way of combining.

    Attributes
    ----------
    name
        What it is called in summaries.
    hedger
        What weighs the experts; none where they all count alike.
    combine
        How its weights make a forecast.
    gradient
        Whether its hedger learns by the gradient trick.
    slope
        Of which loss the gradient is, where it is not the mixture's own.
    prior
        Its weight before anything was seen.
    """

    name: str
    hedger: CompiledHedger | None
    combine: str
    gradient: bool = False
    slope: str | None = None
    prior: float = 0.0


@dataclass(frozen=True)
class Automatic:
    r"""Hedge over ways of combining: no algorithm, memory or scale is to be chosen.

    Nobody knows beforehand whether the plain median, last week's best model or inverse mean square
    errors will serve best. Each of these ways plays beside the others, and a level above follows
    those that prove themselves, starting from the plain combinations.

    .. math::

        y_A &= \sum_k p_k z_k, \qquad z_k \text{ the forecast of way } k \\
        p_k &\propto \pi_k \left(\Phi(R_k + u, V_k + u^2) - \Phi(R_k - u, V_k + u^2)\right),
        \qquad \Phi(R, V) = \exp([R]_+^2 / 2V)

    R and V are the discounted sums of ``r = (loss of the blend - loss of the way) / s`` and of its
    square, s is the usual difference, u the largest r. What came d rounds late counts for V d + 1
    times, and is forgotten d + 1 times more slowly: see ``src/core/automatic.hpp``. The prior pi is
    95 % for the plain combinations (50 % for class probabilities).

    Where several items share a mixture, every way plays twice: once for all items together, and
    once for each alone; and so does the level above.

    Parameters
    ----------
    memory
        Of the level above, in rounds, where outcomes are known at once.
    guard
        Whether forecasts out of all proportion to the others and to what was seen are moved to the
        edge of what is not: see ``src/core/guard.hpp``. It is for numbers, not for class
        probabilities, labels and price relatives.

    Notes
    -----
    The ways: plain median, trimmed mean (the middle half) and mean; NormalHedge at memories 5, 20
    and 100, and by weighted medians; AdaNormalHedge and NormalHedge with the gradient trick, which
    compete with the best convex combination; inverse losses (`BatesGranger`).

    **What is proved.** Nothing is of the level above. But the blend is insured: it is the mean of
    what the level says and of the ways, weighed by AdaNormalHedge, which gives the level 95 % of
    its prior. Its theorem, with the priors rho, says of every way, and of the level, that

    .. math::

        \sum_t (\ell_t - \ell_{k,t}) / S_t \le \sqrt{3 C_k \ln(B / \rho_k)}, \qquad
        B = 1 + \tfrac32 \sum_k \rho_k (1 + \ln(1 + C_k)) + X, \quad
        C_k = \sum_t (1 + d_t) |\ell_t - \ell_{k,t}| / S_t

    S is the range of the loss, or where that is not known the largest difference so far; X is zero
    where the loss is convex and outcomes are known at once. Otherwise the condition of the theorem
    is checked each round, and X is by how much it was not met: what `Mixture.bound` says holds
    whatever the loss and the delays, but may say little. No sooner than a way has been ahead of the
    blend for long does this change anything: on the panels of ``make panels`` less than 0.1 %.

    The blend lies within the hull of the forecasts that the guard lets through.

    A round costs O(N log N) time for each of the ways.

    References
    ----------
    Luo and Schapire, "Achieving all with no parameters: AdaNormalHedge" (2015); Bates and Granger,
    "The combination of forecasts" (1969).

    Examples
    --------
    >>> Automatic(guard=False)
    Automatic(memory=100.0, guard=False)
    """

    memory: float = 100.0
    guard: bool = True

    def __post_init__(self) -> None:
        """Check the settings."""
        object.__setattr__(self, "memory", _inputs.number("memory", self.memory, 1.0))
        if not isinstance(self.guard, bool):
            raise TypeError(f"guard must be true or false, got {self.guard!r}")

    def components(self, loss: Loss) -> list[Component]:
        """Return the ways of combining for a loss, the plain ones first."""
        if loss.of_labels:
            plain, hedged = [Component("plain vote", None, "vote", prior=1.0)], _judging("vote")
        elif loss.of_wealth:
            plain = [Component("plain mean", None, "mean", prior=1.0)]
            hedged = [*_judging("mean"), *_by_gradient(loss)]
        else:
            # The logarithm punishes small probabilities, which medians make smaller.
            shares = (0.05, 0.05, 0.9) if loss.kind == "log" else (0.65, 0.3, 0.05)
            plain = [
                Component(f"plain {name}", None, combine, prior=share)
                for (name, combine), share in zip(PLAIN_WAYS.items(), shares, strict=True)
            ]
            hedged = [*_judging("mean"), *_by_median(), *_by_gradient(loss), *_by_inverse_loss()]
        trust = TRUST_OF_CLASSES if loss.of_classes else TRUST
        rest = (1.0 - trust) / len(hedged)
        return [
            *(one._replace(prior=trust * one.prior) for one in plain),
            *(one._replace(prior=rest) for one in hedged),
        ]

    def bound(self, loss: Loss, games: Games) -> Bound:
        """Return what is proved of the blend's regret to each of its components, so far.

        In units of the largest difference of losses so far, or of the range of the loss.
        """
        if not len(games.totals):
            return Bound(0.0, "nothing was predicted yet")
        levels = levels_of(games)
        ways = [one.prior for one in self.components(loss)]
        alone = [one.prior for one in self.components(loss) if one.hedger is not None]
        shares = np.array([INSURED, *((1.0 - INSURED) * p for p in (*ways, *alone))])
        growth = 1.5 * (shares * (1.0 + np.log1p(levels.clocks))).sum(axis=1, keepdims=True)
        potential = shares.sum() + growth + levels.excess
        with np.errstate(invalid="ignore"):  # a clock at zero, where the excess is not finite
            regrets = np.sqrt(3.0 * levels.clocks * np.log(potential / shares))
        unit = "the range of the loss" if loss.width else "the largest difference of losses so far"
        source = f"in units of {unit}; Luo and Schapire 2015, Theorem 1"
        if not np.isfinite(regrets).all():
            return Bound(inf, "the condition of the theorem was not met by far")
        return Bound(float(regrets.max(initial=0.0)), source, float(potential.max() / shares.sum()))

    def engine(self, loss: Loss) -> tuple[Any, ...]:
        """Return what the core is made with."""
        return (
            [
                (
                    None if one.hedger is None else one.hedger._engine,
                    one.combine,
                    one.gradient,
                    one.slope,
                    one.prior,
                )
                for one in self.components(loss)
            ],
            "vote" if loss.of_labels else "mean",
            1.0 / self.memory,
            self.guard and not (loss.of_classes or loss.of_labels or loss.of_wealth),
        )


class Levels(NamedTuple):
    """What the levels of auto remember in each game: see ``src/core/automatic.hpp``.

    Attributes
    ----------
    ways
        Weights of the plain components, of those that all items share, and of those of an item
        alone.
    choice
        Weights of the level that all items share, and of that of an item alone.
    insurance, regrets, clocks
        Weights, regrets and clocks of the insurance: of the levels together, then of the ways.
    excess
        By how much the condition of its theorem was not met, all rounds together.
    """

    ways: Floats
    choice: Floats
    insurance: Floats
    regrets: Floats
    clocks: Floats
    excess: Floats


def levels_of(games: Games) -> Levels:
    """Return what the levels remember."""
    _, _, _, values = games.shape
    count = values - VALUES_BEFORE_WAYS
    sizes = [count, 2 * count + 1, 2, 5, 1 + count, 1 + count, 1 + count, 1, 1]
    last = games.totals[:, -sum(sizes) :]
    ways, _, choice, _, *insurance, _ = np.split(last, np.cumsum(sizes[:-1]), axis=1)
    return Levels(ways, choice, *insurance)


def _judging(combine: str) -> list[Component]:
    """Return NormalHedge on the losses themselves, at a ladder of memories: who is good now."""
    return [
        Component(f"NormalHedge {memory}", NormalHedge(memory=memory), combine)
        for memory in (5, 20, 100)
    ]


def _by_median() -> list[Component]:
    """Return hedgers whose forecast is a weighted median: nobody alone can move it far."""
    return [
        Component("NormalHedge 20, median", NormalHedge(memory=20), "median"),
        Component("AdaNormalHedge 20, median", AdaNormalHedge(alpha=0.05), "median"),
    ]


def _by_gradient(loss: Loss) -> list[Component]:
    """Return hedgers that compete with the best convex combination; none for a linear loss.

    Of the absolute loss the gradient is a sign, and that of the square loss says more: one of three
    goes by the former.
    """
    if loss.linear or not loss.differentiable:
        return []
    slope = "square" if loss.kind == "absolute" else None
    return [
        Component(
            "AdaNormalHedge 20, gradient",
            AdaNormalHedge(alpha=0.05),
            "mean",
            gradient=True,
            slope=slope,
        ),
        Component("AdaNormalHedge, gradient", AdaNormalHedge(), "mean", gradient=True, slope=slope),
        Component("NormalHedge 100, gradient", NormalHedge(memory=100), "mean", gradient=True),
    ]


def _by_inverse_loss() -> list[Component]:
    """Return weights by inverse losses, which never swing."""
    return [
        Component("inverse loss 100", BatesGranger(alpha=0.01), "mean"),
        Component("inverse loss 100, squared", BatesGranger(alpha=0.01, power=2.0), "mean"),
        Component("inverse loss 20, squared", BatesGranger(alpha=0.05, power=2.0), "mean"),
    ]
