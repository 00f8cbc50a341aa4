"""Natures give the experts their gains; all have the same protocol."""

from collections.abc import Callable

from normalhedge.research.games.natures._adversaries import Contrary, Greedy, Holding
from normalhedge.research.games.natures._coins import GoodAndBad, IndependentCoins
from normalhedge.research.games.natures._halves import Blocks, BreakAway
from normalhedge.research.games.natures._protocol import (
    Changing,
    InBlocks as InBlocks,
    Nature,
    check_nature as check_nature,
)
from normalhedge.research.games.natures._replay import Replay

NATURES: dict[str, Callable[..., Nature]] = {
    "good-and-bad": GoodAndBad,
    "independent-coins": IndependentCoins,
    "break-away": BreakAway,
    "blocks": Blocks,
    "contrary": Contrary,
    "greedy": Greedy,
    "hold": Holding,
    "replay": Replay,
}
"""Every nature, by its name on the command line."""

__all__ = [
    "NATURES",
    "Blocks",
    "BreakAway",
    "Changing",
    "Contrary",
    "GoodAndBad",
    "Greedy",
    "Holding",
    "IndependentCoins",
    "Nature",
    "Replay",
]
