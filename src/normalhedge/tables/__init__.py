"""Blend whole tables of forecasts and outcomes in the order of time."""

from normalhedge.tables._blending import blend
from normalhedge.tables._hindsight import Hindsight, hindsight
from normalhedge.tables._result import Blend
from normalhedge.tables._timeline import Timeline, timeline
from normalhedge.tables.quantiles import (
    QuantileScores,
    QuantileSummary,
    crps_scores,
    pinball_losses,
    wis_scores,
)

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
