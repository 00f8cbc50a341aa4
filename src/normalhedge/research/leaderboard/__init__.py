"""The leaderboard: hedgers meet natures and panels of forecasts, and are ranked."""

from normalhedge.research.leaderboard._contests import Contest, NatureContest, PanelContest
from normalhedge.research.leaderboard._page import (
    games_table as games_table,
    letters as letters,
    overall_table as overall_table,
    panel_table as panel_table,
    write_leaderboard as write_leaderboard,
)
from normalhedge.research.leaderboard._run import (
    FIELD,
    FIELD_ON_PANELS,
    QUICK,
    compare,
    default_natures,
)
from normalhedge.research.leaderboard._standings import (
    Leaderboard,
    Recommendation,
    Standing,
    recommend,
)
from normalhedge.research.leaderboard._yardsticks import ContestSettings

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
