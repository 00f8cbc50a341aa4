"""Games: hedgers against natures."""

from normalhedge.games.hindsight import (
    Followed,
    best_expert,
    best_quantile,
    best_sequence,
    leads,
)
from normalhedge.games.natures import (
    NATURES,
    BreakAway,
    Changing,
    Contrary,
    GoodAndBad,
    Greedy,
    IndependentCoins,
    Nature,
    Replay,
)
from normalhedge.games.play import Curves, Trace, play

__all__ = [
    "NATURES",
    "BreakAway",
    "Changing",
    "Contrary",
    "Curves",
    "Followed",
    "GoodAndBad",
    "Greedy",
    "IndependentCoins",
    "Nature",
    "Replay",
    "Trace",
    "best_expert",
    "best_quantile",
    "best_sequence",
    "leads",
    "play",
]
