"""Natures give the experts their gains: one nature in each file, all with the same protocol."""

from collections.abc import Callable

from normalhedge.research.games.natures.blocks import Blocks
from normalhedge.research.games.natures.break_away import BreakAway
from normalhedge.research.games.natures.contrary import Contrary
from normalhedge.research.games.natures.good_and_bad import GoodAndBad
from normalhedge.research.games.natures.greedy import Greedy
from normalhedge.research.games.natures.independent_coins import IndependentCoins
from normalhedge.research.games.natures.protocol import Changing, Nature
from normalhedge.research.games.natures.replay import Replay

NATURES: dict[str, Callable[..., Nature]] = {
    "good-and-bad": GoodAndBad,
    "independent-coins": IndependentCoins,
    "break-away": BreakAway,
    "blocks": Blocks,
    "contrary": Contrary,
    "greedy": Greedy,
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
    "IndependentCoins",
    "Nature",
    "Replay",
]
