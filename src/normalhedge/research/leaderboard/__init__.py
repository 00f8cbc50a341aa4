"""The leaderboard: hedgers meet natures and panels of forecasts, and are ranked."""

from normalhedge.research.leaderboard.contests import Contest, NatureContest, PanelContest
from normalhedge.research.leaderboard.recommendation import Recommendation, recommend
from normalhedge.research.leaderboard.run import (
    FIELD,
    FIELD_ON_PANELS,
    QUICK,
    compare,
    default_natures,
)
from normalhedge.research.leaderboard.standings import Leaderboard, Standing
from normalhedge.research.leaderboard.yardsticks import ContestSettings

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
