"""Games of hedgers against natures, which give the experts their gains."""

from normalhedge.games.hindsight import (
    Comparator,
    best_expert,
    best_quantile,
    best_sequence,
    leads,
)
from normalhedge.games.natures import (
    NATURES,
    Blocks,
    BreakAway,
    Changing,
    Contrary,
    GoodAndBad,
    Greedy,
    IndependentCoins,
    Nature,
    Replay,
)
from normalhedge.games.play import play
from normalhedge.games.trace import Curves, Trace

__all__ = [
    "NATURES",
    "Blocks",
    "BreakAway",
    "Changing",
    "Comparator",
    "Contrary",
    "Curves",
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
