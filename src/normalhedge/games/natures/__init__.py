"""Natures give the experts their gains: one nature in each file, all with the same protocol."""

from collections.abc import Callable

from normalhedge.games.natures.blocks import Blocks
from normalhedge.games.natures.break_away import BreakAway
from normalhedge.games.natures.contrary import Contrary
from normalhedge.games.natures.good_and_bad import GoodAndBad
from normalhedge.games.natures.greedy import Greedy
from normalhedge.games.natures.independent_coins import IndependentCoins
from normalhedge.games.natures.protocol import Changing, Nature
from normalhedge.games.natures.replay import Replay

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
