"""The loss of portfolios."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._forecast_kinds import WEALTH
from normalhedge.mixtures.losses._loss import Loss, Parts

FLOOR = 1e-6
"""Smaller relatives count as this."""


@dataclass(frozen=True)
class LogWealth(Loss):
    """-ln max(x / y, 1e-6) of a price relative x beside the price relative y of a benchmark.

    An expert is an asset or a portfolio, and its forecast is the factor by which its price changed:
    x = 1.02 is a gain of 2 %. The weighted mean of price relatives is the relative of the portfolio
    with these weights, rebalanced each round. So its wealth is ``exp(-sum of losses)`` times that
    of the benchmark, or of cash if y is 1. A relative at or below zero, a ruin, costs 13.8.
    Relatives are known only after the round, but weights before it: `Mixture.next_weights` returns
    the portfolio to buy.
    """

    name = kind = "log-wealth"
    forecasts = WEALTH
    least = -np.inf
    convex_in_part = True
    prior = (("mean", 1.0),)
    outcome_must = ("be a price relative, more than 0", "have price relatives, more than 0")

    def takes(self, outcomes: Floats) -> np.ndarray:
        """Tell which outcomes are positive."""
        return np.asarray(np.greater(outcomes, 0.0))

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        """Return the wealth beside the benchmark, clipped."""
        ratios = np.maximum(table / outcomes[:, np.newaxis, np.newaxis], FLOOR)
        ones = np.ones((len(table), 1))
        return super().parts(ratios, outcomes, items)._replace(outcomes=ones, origins=0.0 * ones)

    def gradient_of(
        self, forecasts: Floats, outcomes: Floats, items: np.ndarray | None = None
    ) -> Floats:
        """Return the derivative by the forecast, not by the ratio."""
        slopes = super().gradient_of(forecasts, outcomes, items)
        return slopes / np.broadcast_to(outcomes, len(forecasts))[:, np.newaxis]

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return minus the logarithm of the ratio."""
        del setting
        return -np.log(np.maximum(x / y, FLOOR))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return minus the inverse of the relative."""
        del setting
        return -1.0 / np.maximum(x, FLOOR * y)
