"""Games: hedgers against natures."""

from normalhedge.games.natures import (
    NATURES,
    BreakAway,
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
    "Curves",
    "GoodAndBad",
    "Greedy",
    "IndependentCoins",
    "Nature",
    "Replay",
    "Trace",
    "play",
]
