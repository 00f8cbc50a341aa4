"""The intervals of one round or several, and of a whole table."""

from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats


class Interval(NamedTuple):
    """The intervals of one round, or of several, with a token to settle them.

    Attributes
    ----------
    low, high
        The bounds, by level; with one more axis in front if there are several rounds.
    token
        Plain numbers that `observe` needs with the outcome. Keep them with the waiting round.
    """

    low: Floats
    high: Floats
    token: Floats


class IntervalRun(NamedTuple):
    """The intervals of a whole table.

    Attributes
    ----------
    low, high
        The bounds, a row for each round and a column for each level.
    games
        The memory of all games after the last round.
    predicted
        How many rounds of each game were predicted, before the table and in it.
    waiting
        The rounds whose outcomes are never known in this table, by their place in it.
    tokens, numbers
        For each of these, its token, and how many rounds of its game were predicted before it.
    """

    low: Floats
    high: Floats
    games: Floats
    predicted: np.ndarray
    waiting: np.ndarray
    tokens: Floats
    numbers: np.ndarray
