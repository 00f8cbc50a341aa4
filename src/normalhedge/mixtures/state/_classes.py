"""The classes of a mixture of class probabilities: the core keeps their names, in one order."""

from normalhedge._core import Live
from normalhedge.mixtures.losses import Loss


def join_classes(live: Live, loss: Loss, count: int) -> None:
    """Let so many classes join as far as they are not there yet."""
    new = number_classes(live, loss, count)
    live.join(live.version, [], [], [], new)


def number_classes(live: Live, loss: Loss, count: int) -> list[str]:
    """Return the names of new classes for forecasts of so many: numbers, where none were given."""
    known = len(live.classes) if loss.of_classes else count
    return [str(k) for k in range(known, count)]
