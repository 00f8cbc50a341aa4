"""Tables of quantile forecasts: their levels, layouts and scores."""

from normalhedge.tables.quantiles.scores import crps, pinball_losses, wis
from normalhedge.tables.quantiles.summary import QuantileScores, QuantileSummary

__all__ = ["QuantileScores", "QuantileSummary", "crps", "pinball_losses", "wis"]
