"""The last settled rounds of a mixture, and the checkpoints from which they can be played again.

When an expert leaves, the rounds are not rewritten: a `Departure` is added, and a round gets its
present columns when it is read. So a departure costs the same however many rounds are kept.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.mixtures.interval_memory import IntervalMemory
from normalhedge.mixtures.tickets import PendingRound


class SettledRound(NamedTuple):
    """A round and its outcome.

    Attributes
    ----------
    round
        The round.
    outcomes
        The outcome of each row; NaN where it is unknown.
    ticket
        The ticket of the round.
    rounds
        The number of rounds that were predicted when the outcome arrived.
    """

    round: PendingRound
    outcomes: Floats
    ticket: int
    rounds: int


class Departure(NamedTuple):
    """Experts that left.

    Attributes
    ----------
    stay
        The columns of the experts that stayed, in order.
    """

    stay: np.ndarray


class Checkpoint(NamedTuple):
    """The content of a mixture at a moment from which its rounds can be played again.

    Attributes
    ----------
    arrays, states
        Copies of the arrays of the core, and the states of a hedger written by the user.
    experts, items
        The numbers of experts and items.
    rounds, next_ticket, expired
        As in `normalhedge.mixtures.books.Books`.
    pending
        The rounds that waited for their outcomes, by ticket.
    intervals
        What was known of the intervals; None without intervals.
    last
        The last entry of the history; None if there was none.
    """

    arrays: tuple[np.ndarray, ...]
    states: list[Any] | None
    experts: int
    items: int
    rounds: int
    next_ticket: int
    expired: int
    pending: dict[int, PendingRound]
    intervals: IntervalMemory | None
    last: Any


Entry = SettledRound | Departure
"""An entry of the history. The core adds settled rounds as plain tuples with the same fields."""


def settled_rounds(history: Iterable[Entry], experts: int) -> list[SettledRound]:
    """Return the settled rounds with the columns of the present experts, the oldest first.

    Parameters
    ----------
    history
        The entries, the oldest first.
    experts
        The present number of experts.
    """
    entries = list(history)
    columns, departed = np.arange(experts), False
    found = []
    for entry in reversed(entries):
        if isinstance(entry, Departure):
            columns, departed = entry.stay[columns[columns < len(entry.stay)]], True
            continue
        one = SettledRound(*entry)
        found.append(one._replace(round=one.round.only(columns)) if departed else one)
    return found[::-1]


def entries_since(history: deque[Entry], checkpoint: Checkpoint) -> list[SettledRound] | None:
    """Return the rounds settled since a checkpoint; None if some of them are not kept any more.

    Parameters
    ----------
    history
        The entries, the oldest first. There is no departure after the checkpoint.
    checkpoint
        The checkpoint.
    """
    found: list[SettledRound] = []
    for entry in reversed(history):
        if entry is checkpoint.last:
            return found[::-1]
        found.append(SettledRound(*entry))
    whole = checkpoint.last is None and len(history) < (history.maxlen or 0)
    return found[::-1] if whole else None
