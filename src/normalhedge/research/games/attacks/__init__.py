"""Attacks on NormalHedge: how far an adversary can drive its potential and its regret."""

from normalhedge.research.games.attacks._attempts import attack, attempts, break_away
from normalhedge.research.games.attacks._explore import explore
from normalhedge.research.games.attacks._hold import hold
from normalhedge.research.games.attacks._lower_bound import Attack, Goal, Groups, Reached

__all__ = [
    "Attack",
    "Goal",
    "Groups",
    "Reached",
    "attack",
    "attempts",
    "break_away",
    "explore",
    "hold",
]
