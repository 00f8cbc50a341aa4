"""Tables of quantile forecasts: their levels, layouts and scores."""

from normalhedge.tables.quantiles._layouts import Quantiles as Quantiles, recognise as recognise
from normalhedge.tables.quantiles._levels import DIGITS as DIGITS, read_levels as read_levels
from normalhedge.tables.quantiles._scores import (
    QuantileScores,
    QuantileSummary,
    cells_of as cells_of,
    central_intervals as central_intervals,
    crps_scores,
    pinball_losses,
    plain_combination as plain_combination,
    summarise_quantiles as summarise_quantiles,
    wis_scores,
)
from normalhedge.tables.quantiles._table import QuantileTable as QuantileTable

__all__ = ["QuantileScores", "QuantileSummary", "crps_scores", "pinball_losses", "wis_scores"]
