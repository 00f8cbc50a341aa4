"""The leaderboard: hedgers meet natures and panels of forecasts, and are ranked."""

from normalhedge.experiments.leaderboard.contests import Contest, NatureContest, PanelContest
from normalhedge.experiments.leaderboard.recommendation import Recommendation, recommend
from normalhedge.experiments.leaderboard.run import (
    FIELD,
    FIELD_ON_PANELS,
    QUICK,
    compare,
    default_natures,
)
from normalhedge.experiments.leaderboard.standings import Leaderboard, Standing
from normalhedge.experiments.leaderboard.yardsticks import ContestSettings

__all__ = [
    "FIELD",
    "FIELD_ON_PANELS",
    "QUICK",
    "Contest",
    "ContestSettings",
    "Leaderboard",
    "NatureContest",
    "PanelContest",
    "Recommendation",
    "Standing",
    "compare",
    "default_natures",
    "recommend",
]
