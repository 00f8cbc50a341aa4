"""A choice, and the record of a round."""

from collections.abc import Mapping
from typing import NamedTuple

from normalhedge.boundary.inputs import Floats


class Choice(NamedTuple):
    """An action, and how it was chosen.

    Attributes
    ----------
    action
        The name of the action.
    probability
        The probability with which it was chosen.
    probabilities
        The probability of each action of the router, in the order of `Router.actions`.
    ticket
        The number that `Router.reward` needs.
    """

    action: str
    probability: float
    probabilities: Floats
    ticket: int


class Record(NamedTuple):
    """A round whose gains are known: a line of a log for `evaluate`.

    Attributes
    ----------
    action
        The action that was chosen.
    probability
        The probability with which it was chosen.
    gain
        Its gain.
    context
        The context of the round; None without one.
    awake
        The actions that were offered; None for all.
    gains
        All gains that are known, by action.
    ticket
        The ticket of the round.
    """

    action: str
    probability: float
    gain: float
    context: str | None = None
    awake: tuple[str, ...] | None = None
    gains: Mapping[str, float] = {}
    ticket: int = -1
