"""Games of hedgers against natures, which give the experts their gains."""

from normalhedge.hedgers.hindsight import (
    Comparator,
    best_expert,
    best_quantile,
    best_sequence,
    leads,
)
from normalhedge.hedgers.trace import Curves, Trace
from normalhedge.research.games._play import play
from normalhedge.research.games.natures import (
    NATURES,
    Blocks,
    BreakAway,
    Changing,
    Contrary,
    GoodAndBad,
    Greedy,
    Holding,
    IndependentCoins,
    Nature,
    Replay,
    check_nature as check_nature,
)

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
    "Holding",
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
