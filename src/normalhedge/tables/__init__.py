"""Blend whole tables of forecasts and outcomes in the order of time."""

from normalhedge.tables.blending import Blend, blend
from normalhedge.tables.hindsight import Hindsight, hindsight
from normalhedge.tables.quantiles import (
    QuantileScores,
    QuantileSummary,
    crps_scores,
    pinball_losses,
    wis_scores,
)
from normalhedge.tables.timeline import Timeline, timeline

__all__ = [
    "Blend",
    "Hindsight",
    "QuantileScores",
    "QuantileSummary",
    "Timeline",
    "blend",
    "crps_scores",
    "hindsight",
    "pinball_losses",
    "timeline",
    "wis_scores",
]
