"""Attacks: how far an adversary can drive the potential of NormalHedge, or any hedger's regret."""

from normalhedge.research.games.attacks._any import Provoked, provoke
from normalhedge.research.games.attacks._attempts import attack, attempts, break_away
from normalhedge.research.games.attacks._explore import explore
from normalhedge.research.games.attacks._hold import hold
from normalhedge.research.games.attacks._lower_bound import Attack, Goal, Groups, Reached

__all__ = [
    "Attack",
    "Goal",
    "Groups",
    "Provoked",
    "Reached",
    "attack",
    "attempts",
    "break_away",
    "explore",
    "hold",
    "provoke",
]
