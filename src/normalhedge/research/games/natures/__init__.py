"""Natures give the experts their gains: one nature in each file, all with the same protocol."""

from collections.abc import Callable

from normalhedge.research.games.natures._blocks import Blocks
from normalhedge.research.games.natures._break_away import BreakAway
from normalhedge.research.games.natures._contrary import Contrary
from normalhedge.research.games.natures._good_and_bad import GoodAndBad
from normalhedge.research.games.natures._greedy import Greedy
from normalhedge.research.games.natures._independent_coins import IndependentCoins
from normalhedge.research.games.natures._protocol import BLOCK as BLOCK, Changing, Nature
from normalhedge.research.games.natures._replay import Replay

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
