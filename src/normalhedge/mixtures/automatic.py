"""The default: a hedger over ways of combining, for who does not want to choose one."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from normalhedge import _inputs
from normalhedge._core import Games
from normalhedge._inputs import Floats
from normalhedge.hedgers import AdaNormalHedge, BatesGranger, CompiledHedger, NormalHedge
from normalhedge.mixtures.losses import Loss

TRUST, TRUST_OF_CLASSES = 0.95, 0.5
"""The share of the prior that the plain combinations have, which the others must overcome: less for
class probabilities, whose losses have a range that one absurd forecast cannot exceed."""


PLAIN_WAYS = {"median": "median", "trimmed mean": "trimmed", "mean": "mean"}


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

    Nothing is proved of the level above. It is AdaNormalHedge with squares in place of absolute
    values; with these its theorem would hold of gains in [-1, 1]. On the panels of ``make panels``
    that lost 2 % more on average, and 23 % more than the better of plain mean and median at worst,
    instead of 8 %. The blend lies within the hull of the forecasts that the guard lets through.

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


def level_weights(games: Games) -> tuple[Floats, Floats]:
    """Return the weights of the components in each game, and of the choice between two levels.

    The components are the plain ones, those that all items share, and those of an item alone; the
    levels that which all items share, and that of an item alone. See ``src/core/automatic.hpp``.
    """
    _, totals, _, values = games.shape
    most = values - 3
    choice = totals - _level_size(2)
    first = choice - _level_size(most)
    return games.totals[:, first : first + most], games.totals[:, choice : choice + 2]


def _level_size(ways: int) -> int:
    """Return how many numbers a level of so many ways remembers: see ``Level``."""
    return 3 * ways + 1


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
