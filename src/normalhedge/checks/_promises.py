"""The law that `Mixture.bound` keeps its word, and natures that attack it.

The regret is computed as a user would: from the forecasts, the predictions and the outcomes, by the
loss in Python (`Loss.value`), discounted as the hedger forgets, in the order in which outcomes
come. The regret of a single rule is to each expert. The regret of ``"auto"`` is to the plain mean
and the plain median of the forecasts, which are components of it.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.losses import CLASSES, LABELS, NUMBERS, QUANTILES, WEALTH, Loss
from normalhedge.mixtures.rules import Automatic

Nature = Callable[[int, float], tuple[float, float]]
"""A function of the round and of the share of the weight on the upper half of the experts. It
returns the side that wins, 0 or 1, and the size of the outcome."""

ROUNDING = 1e-9
"""How far the regret may exceed its bound by rounding, relative to the losses added up."""


def _alternate(t: int, _upper: float) -> tuple[float, float]:
    """Let the sides win in turn."""
    return float(t % 2), 1.0


def _contrary(_t: int, upper: float) -> tuple[float, float]:
    """Let the side with less weight win."""
    return float(upper < 0.5), 1.0


def _rare(t: int, _upper: float) -> tuple[float, float]:
    """Let the lower side win most rounds, and the upper side few that count for many."""
    return (1.0, 30.0) if t % 7 == 6 else (0.0, 1.0)


def blocks(length: int) -> Nature:
    """Return a nature that lets each side win so many rounds in a row.

    Parameters
    ----------
    length
        The number of rounds. As long as outcomes are late, no hedger can tell the sides apart.
    """

    def nature(t: int, _upper: float) -> tuple[float, float]:
        return float(t // length % 2), 1.0

    return nature


NATURES: Mapping[str, Nature] = {"alternate": _alternate, "contrary": _contrary, "rare": _rare}
"""The natures other than `blocks`, by name."""


class BoundAttack(NamedTuple):
    """Forecasts and outcomes by which a loss is attacked."""

    # the forecasts of n experts for a round, n x numbers, given the winning side and the size
    forecasts: Callable[[int, float, float], Floats]
    outcome: Callable[[float, float], float]  # the outcome, given the side and the size


def _labels(n: int, _side: float, _size: float) -> Floats:
    return (np.arange(n)[:, np.newaxis] >= n / 2).astype(float)


def _classes(n: int, _side: float, _size: float) -> Floats:
    upper = np.linspace(0.02, 0.98, n)
    return np.column_stack([1.0 - upper, upper])


def _relatives(n: int, side: float, size: float) -> Floats:
    """Return price relatives: the assets of the winning side double, or more."""
    wins = (np.arange(n) >= n / 2) == bool(side)
    return np.where(wins, 1.0 + size, 0.5)[:, np.newaxis]


def _attack(loss: Loss) -> BoundAttack:
    """Return forecasts and outcomes of the kind of a loss."""
    origin = 0.0 if loss.takes(np.zeros(1)).all() else 1.0
    levels = np.array(loss.levels if loss.of_levels else (0.0,))

    def spread(n: int, _side: float, _size: float) -> Floats:
        return np.asarray(origin + np.linspace(0.0, 1.0, n)[:, np.newaxis] + levels)

    numbers = BoundAttack(spread, lambda side, size: origin + side * size)
    return {
        NUMBERS: numbers,
        QUANTILES: numbers,
        CLASSES: BoundAttack(_classes, lambda side, _size: side),
        LABELS: BoundAttack(_labels, lambda side, _size: side),
        WEALTH: BoundAttack(_relatives, lambda *_: 1.0),
    }[loss.forecasts]


def _plain(loss: Loss, forecasts: Floats, blend: Floats) -> Floats:
    """Return the plain combinations that are components of an automatic mixture."""
    if loss.forecasts.combine != "mean":
        return blend
    mean, median = forecasts.mean(axis=0), np.median(forecasts, axis=0)
    return np.array([mean] if loss.forecasts.only_mean else [mean, median])


class SettledOutcome(NamedTuple):
    """A round after its outcome: the losses that are compared with the loss of the blend."""

    ticket: int
    outcome: float
    blend: float
    losses: Floats


def check_bound(
    mixture: Mixture, nature: Nature, *, experts: int = 2, lag: int = 0, rounds: int = 200
) -> float:
    """Let a nature attack a new mixture; raise an AssertionError if a regret exceeds its bound.

    Parameters
    ----------
    mixture
        A mixture that has predicted nothing yet. An ``"auto"`` must have its guard off: with the
        guard its plain combinations are of other forecasts than the ones that were made.
    nature
        One of `NATURES`, `blocks`, or a function of your own.
    experts, lag, rounds
        The number of experts, how many further rounds are predicted before an outcome is known, and
        the length of the game.

    Returns
    -------
    float
        The largest share of its bound that the regret reached; 0 if there is no finite bound.

    Examples
    --------
    >>> round(check_bound(Mixture("normal-hedge", "l1"), NATURES["contrary"]), 2)
    0.63
    """
    alpha = float(getattr(mixture.settings.hedger, "alpha", 0.0))
    regrets: Any = 0.0
    added = reached = 0.0
    for settled in _play(mixture, nature, experts, lag, rounds):
        regrets = (1.0 - alpha) * regrets + settled.blend - settled.losses
        added = (1.0 - alpha) * added + abs(settled.blend) + float(np.abs(settled.losses).max())
        mixture.update(settled.ticket, settled.outcome)
        bound, largest = mixture.bound(), float(np.max(regrets))
        if not largest <= bound.regret + ROUNDING * added:
            raise AssertionError(
                f"{mixture!r}: the regret is {largest:.9g}, and its bound says: {bound}"
            )
        if bound and bound.regret > 0.0:
            reached = max(reached, largest / bound.regret)
    return reached


def _play(
    mixture: Mixture, nature: Nature, experts: int, lag: int, rounds: int
) -> Iterator[SettledOutcome]:
    """Yield the rounds of a game as their outcomes come."""
    loss, names = mixture.settings.loss, [f"expert {i}" for i in range(experts)]
    attack = _attack(loss)
    automatic = isinstance(mixture.settings.hedger, Automatic)
    waiting: deque[SettledOutcome] = deque()
    upper = 0.5
    for t in range(rounds):
        side, size = nature(t, upper)
        forecasts = attack.forecasts(experts, side, size)
        columns = forecasts[:, 0] if forecasts.shape[1] == 1 else forecasts
        made = mixture.predict(dict(zip(names, columns.tolist(), strict=True)))
        upper = float(made.distribution[0][experts // 2 :].sum())
        outcome = attack.outcome(side, size)
        value = np.reshape(made.value, (1, -1))
        losses = loss.value(
            _plain(loss, forecasts, value) if automatic else forecasts, np.array(outcome)
        )
        blend = float(loss.value(value, np.array(outcome))[0])
        waiting.append(SettledOutcome(made.ticket, _outcome(mixture, outcome), blend, losses))
        if len(waiting) > lag:
            yield waiting.popleft()


def _outcome(mixture: Mixture, outcome: float) -> Any:
    """Return an outcome in the form that `Mixture.update` takes."""
    return int(outcome) if mixture.settings.loss.of_classes else outcome
