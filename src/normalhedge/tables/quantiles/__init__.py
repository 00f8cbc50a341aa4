"""Tables of quantile forecasts: their levels, layouts and scores."""

from normalhedge.tables.quantiles.scores import crps_scores, pinball_losses, wis_scores
from normalhedge.tables.quantiles.summary import QuantileScores, QuantileSummary

__all__ = ["QuantileScores", "QuantileSummary", "crps_scores", "pinball_losses", "wis_scores"]
