"""Experiments: the paper, reproduced, and the leaderboard of hedgers.

Settings are data, and every number is a pure function of a setting and a seed.
"""
