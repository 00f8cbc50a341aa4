"""The ways of combining that the default blend hedges over."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import AdaNormalHedge, BatesGranger, CompiledHedger, NormalHedge
from normalhedge.mixtures.losses import Loss

TRUST, TRUST_OF_CLASSES = 0.95, 0.5
"""The share of the prior of the plain combinations, which the other ways must overcome. It is less
for class probabilities: the range of their losses is bounded, so no absurd forecast costs more."""

PLAIN_WAYS = {"median": "median", "trimmed mean": "trimmed", "mean": "mean", "vote": "vote"}
"""The plain combinations, and their names in the core."""

BY_POOL, BY_HEDGED_POOLS = 0.05, 0.05
"""The priors of the plain logarithmic pool and of the hedged ones; the others share the rest."""

PLAIN_QUANTILES = (0.04, 0.03, 0.01)
"""The priors of the plain combinations of quantiles, in the order of `PLAIN_WAYS`."""

BY_RELATIVE, BY_GRADIENT, BY_SHAPE = (0.2, 0.04, 0.01), (0.3, 0.29, 0.04, 0.03), 0.01
"""The priors of the other ways of combining quantiles: relative losses; the gradient trick; and
ways with weights that differ between levels. They are chosen by two seasons of a hub, simulated
hubs, the medians of a hub of deaths and quantiles made of the residuals of models on the panels to
develop on: all these ways begin as a plain combination, so they need less trust than the ways of
combining numbers, and trimmed means stay near the plain median when many teams err together."""

ALONE, CAUTION = 0.1, 20.0
"""For quantiles, the prior of a way of an item alone as a share of the shared way's, and how many
times the largest difference the meta level waits for: see ``src/core/meta_level.hpp``."""

PLAIN_INSIDE = (0.12, 0.12, 0.1)
TRIMMED_INSIDE, RELATIVE_INSIDE, GRADIENT_INSIDE, OTHERS_INSIDE = 0.2, 0.12, 0.24, 0.1
"""The priors of quantiles with ``inside=true``, and of files before version 6."""

SMOOTH = 5
"""The number of knots of weights that are smooth over the levels of quantiles."""


@dataclass(frozen=True)
class RelativeLoss:
    r"""Weights by relative losses: the loss of an expert divided by the plain mean's.

    .. math::

        p_i \propto \left(\frac{A_i + M/T}{B_i + M/T}\right)^{-power}

    A is the discounted loss of the expert over the rows in which it was awake, B the loss of the
    plain mean over the same rows, and M / T the usual loss of the plain mean in a round. All losses
    are added up in their own unit: see ``src/core/relative.hpp``.
    """

    power: float  # how far the weights follow the losses: 0 is the plain mean
    memory: float = 100.0  # the memory in rounds

    @property
    def _engine(self) -> tuple[float, float]:
        """The arguments that the core needs."""
        return 1.0 - 1.0 / self.memory, self.power


class Component(NamedTuple):
    """A way of combining."""

    name: str  # its name in summaries
    # the hedger that weighs the experts; None if all experts have the same weight
    hedger: CompiledHedger | RelativeLoss | None
    combine: str  # how weights and forecasts make its forecast
    gradient: bool = False  # whether its hedger learns by the gradient trick
    slope: str | None = None  # the loss whose gradient is used; None for the loss of the mixture
    prior: float = 0.0  # its weight before the first outcome
    # for quantiles, the number of knots of its weights over the levels: one if all levels share
    # their weights, as many as levels if each has its own
    knots: int = 1

    @property
    def rows(self) -> int:
        """The number of rows of a ledger for each of its knots; its weights come first."""
        assert self.hedger is not None
        return 3 if isinstance(self.hedger, RelativeLoss) else 1 + self.hedger._engine.rows

    def knot_shares(self, levels: int) -> Floats:
        """Return the share of each knot in its weights, over so many levels."""
        places = np.linspace(0.0, self.knots - 1.0, levels)
        distances = np.abs(places - np.arange(self.knots)[:, np.newaxis])
        shares: Floats = np.maximum(1.0 - distances, 0.0).mean(axis=1)
        return shares if self.knots > 1 else np.ones(1)


def ledger_weights(components: Sequence[Component], ledgers: Floats, levels: int) -> Floats:
    """Return the weights of the experts by each hedged component; games x components x experts."""
    row, weights = 0, []
    for way in components:
        if way.hedger is not None:
            stop = row + way.knots * way.rows
            knots = ledgers[:, row : stop : way.rows]
            weights.append(np.einsum("k,gkn->gn", way.knot_shares(levels), knots))
            row = stop
    return np.stack(weights, axis=1)


def components_of(loss: Loss, *, inside: bool) -> list[Component]:
    """Return the ways of combining for a loss, the plain ones first.

    With ``inside`` no way leaves the range of the forecasts, as logarithmic pools of classes do.
    """
    if loss.of_levels:
        return _of_quantiles_inside(loss) if inside else _of_quantiles(loss)
    combine, medians = loss.forecasts.combine, loss.forecasts.medians
    hedged = [
        Component(f"NormalHedge {memory}", NormalHedge(memory=memory), combine)
        for memory in (5, 20, 100)
    ]
    quick, slow = AdaNormalHedge(alpha=0.05), AdaNormalHedge()
    if medians:  # no single expert can move a weighted median far
        hedged += [
            Component("NormalHedge 20, median", NormalHedge(memory=20), "median"),
            Component("AdaNormalHedge 20, median", quick, "median"),
        ]
    if loss.gradient:  # they compete with the best convex combination
        slope = loss.slope_from  # the gradient of another loss, if that tells more
        hedged += [
            Component("AdaNormalHedge 20, gradient", quick, "mean", gradient=True, slope=slope),
            Component("AdaNormalHedge, gradient", slow, "mean", gradient=True, slope=slope),
            Component("NormalHedge 100, gradient", NormalHedge(memory=100), "mean", gradient=True),
        ]
    if medians:  # inverse losses change slowly
        hedged += [
            Component("inverse loss 100", BatesGranger(alpha=0.01), "mean"),
            Component("inverse loss 100, squared", BatesGranger(alpha=0.01, power=2.0), "mean"),
            Component("inverse loss 20, squared", BatesGranger(alpha=0.05, power=2.0), "mean"),
        ]
    trust = TRUST_OF_CLASSES if loss.of_classes else TRUST
    plain = [
        Component(f"plain {name}", None, PLAIN_WAYS[name], prior=trust * share)
        for name, share in loss.prior
    ]
    ways = plain + _sharing(1.0 - trust, hedged)
    return ways if inside or not loss.of_classes else _with_pools(ways)


def _with_pools(ways: list[Component]) -> list[Component]:
    """Return ways of combining class probabilities, and logarithmic pools, the plain ones first."""
    rest = 1.0 - BY_POOL - BY_HEDGED_POOLS
    ways = [way._replace(prior=rest * way.prior) for way in ways]
    pool = Component("plain logarithmic pool", None, "logarithmic", prior=BY_POOL)
    hedged = [
        Component("AdaNormalHedge 20, logarithmic", AdaNormalHedge(alpha=0.05), "logarithmic"),
        Component("NormalHedge 100, logarithmic", NormalHedge(memory=100), "logarithmic"),
    ]
    plain = [way for way in ways if way.hedger is None]
    others = [way for way in ways if way.hedger is not None]
    return [*plain, pool, *others, *_sharing(BY_HEDGED_POOLS, hedged)]


def _of_quantiles(loss: Loss) -> list[Component]:
    """Return the ways of combining quantiles: weights shared over levels, smooth, and by level."""
    quick, slow = AdaNormalHedge(alpha=0.05), AdaNormalHedge()
    relative = [
        Component("relative loss, trimmed mean", RelativeLoss(2.0), "trimmed"),
        Component("relative loss 4, trimmed mean", RelativeLoss(4.0), "trimmed"),
        Component("relative loss", RelativeLoss(4.0), "mean"),
    ]
    gradient = [
        Component("AdaNormalHedge, gradient, trimmed mean", slow, "trimmed", gradient=True),
        Component("AdaNormalHedge, gradient", slow, "mean", gradient=True),
        Component("AdaNormalHedge 20, gradient, trimmed mean", quick, "trimmed", gradient=True),
        Component("AdaNormalHedge 20, gradient", quick, "mean", gradient=True),
    ]
    shaped = _shaped(loss, relative[-1], gradient[1])
    rest = 0.0 if shaped else BY_SHAPE
    priors = (*BY_RELATIVE, BY_GRADIENT[0] + rest, *BY_GRADIENT[1:])
    return [
        *_plain_quantiles(PLAIN_QUANTILES),
        *(way._replace(prior=p) for way, p in zip([*relative, *gradient], priors, strict=True)),
        *_sharing(BY_SHAPE, shaped),
    ]


def _of_quantiles_inside(loss: Loss) -> list[Component]:
    """Return the ways of combining quantiles of earlier versions, and without corrections."""
    relative = [
        Component(
            "relative loss, trimmed mean", RelativeLoss(2.0), "trimmed", prior=TRIMMED_INSIDE
        ),
        Component("relative loss", RelativeLoss(4.0), "mean", prior=RELATIVE_INSIDE),
    ]
    quick, slow = AdaNormalHedge(alpha=0.05), AdaNormalHedge()
    gradient = [
        Component("AdaNormalHedge 20, gradient", quick, "mean", gradient=True),
        Component("AdaNormalHedge, gradient", slow, "mean", gradient=True),
    ]
    others = [
        Component("NormalHedge 20", NormalHedge(memory=20), "mean"),
        Component("NormalHedge 100", NormalHedge(memory=100), "mean"),
        *_shaped(loss, relative[-1], gradient[-1]),
    ]
    return [
        *_plain_quantiles(PLAIN_INSIDE),
        *relative,
        *_sharing(GRADIENT_INSIDE, gradient),
        *_sharing(OTHERS_INSIDE, others),
    ]


def _plain_quantiles(priors: tuple[float, ...]) -> list[Component]:
    """Return the plain combinations of quantiles."""
    return [
        Component(f"plain {name}", None, combine, prior=share)
        for (name, combine), share in zip(PLAIN_WAYS.items(), priors, strict=False)
    ]


def _shaped(loss: Loss, *ways: Component) -> list[Component]:
    """Return ways with weights that are smooth over the levels, or by level."""
    count = len(loss.levels)
    shapes = {"smooth": SMOOTH} if count > SMOOTH else {}
    shapes |= {"by level": count} if count > 1 else {}
    return [
        way._replace(name=f"{way.name}, {shape}", knots=knots)
        for shape, knots in shapes.items()
        for way in ways
    ]


def _sharing(prior: float, ways: list[Component]) -> list[Component]:
    """Return ways that share a prior evenly."""
    return [way._replace(prior=prior / len(ways)) for way in ways]
