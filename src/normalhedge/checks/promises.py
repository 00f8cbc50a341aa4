"""The law that `Mixture.bound` keeps its word, and natures that attack it.

The regret is computed as a user would: from the forecasts, the predictions and the outcomes, by the
loss written down here once more, discounted as the hedger forgets, in the order in which outcomes
come. The regret of a single rule is to each expert. The regret of ``"auto"`` is to the plain mean
and the plain median of the forecasts, which are components of it.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.automatic import Automatic

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


class Loss(NamedTuple):
    """How a loss is attacked: forecasts, outcomes, and the loss once more in NumPy.

    Attributes
    ----------
    forecasts
        The forecasts of n experts for a round, n x numbers, given the winning side and the size.
    outcome
        The outcome, given the side and the size.
    value
        The loss of forecasts, n x numbers, given the outcome.
    """

    forecasts: Callable[[int, float, float], Floats]
    outcome: Callable[[float, float], float]
    value: Callable[[Floats, float], Floats]


def _spread(n: int, _side: float, _size: float) -> Floats:
    """Return forecasts from 0 to 1."""
    return np.linspace(0.0, 1.0, n)[:, np.newaxis]


def _labels(n: int, _side: float, _size: float) -> Floats:
    return (np.arange(n)[:, np.newaxis] >= n / 2).astype(float)


def _classes(n: int, _side: float, _size: float) -> Floats:
    upper = np.linspace(0.02, 0.98, n)
    return np.column_stack([1.0 - upper, upper])


def _relatives(n: int, side: float, size: float) -> Floats:
    """Return price relatives: the assets of the winning side double, or more."""
    wins = (np.arange(n) >= n / 2) == bool(side)
    return np.where(wins, 1.0 + size, 0.5)[:, np.newaxis]


def _quantiles(levels: tuple[float, ...]) -> Callable[[int, float, float], Floats]:
    return lambda n, _side, _size: np.linspace(0.0, 1.0, n)[:, np.newaxis] + np.array(levels)


def _crps(levels: tuple[float, ...]) -> Callable[[Floats, float], Floats]:
    def value(x: Floats, y: float) -> Floats:
        over = x - y
        pinball = np.maximum((1.0 - np.array(levels)) * over, -np.array(levels) * over)
        return np.asarray(2.0 * pinball.mean(axis=1))

    return value


def _of_class(x: Floats, y: float) -> Floats:
    return x[:, int(y)]


def _attacked(mixture: Mixture) -> Loss:
    """Return how the loss of a mixture is attacked."""
    loss = mixture.recipe.loss
    level = loss.levels[0] if loss.levels else 0.5

    def number(value: Callable[[Floats], Floats]) -> Loss:
        return Loss(_spread, lambda side, size: side * size, lambda x, y: value(x[:, 0] - y))

    def probability(value: Callable[[Floats, float], Floats]) -> Loss:
        return Loss(_classes, lambda side, _size: side, value)

    known: dict[str | None, Loss] = {
        "square": number(np.square),
        "absolute": number(np.abs),
        "pinball": number(lambda over: np.maximum((1.0 - level) * over, -level * over)),
        "zero-one": Loss(_labels, lambda side, _: side, lambda x, y: 1.0 * (x[:, 0] != y)),
        "log": probability(lambda x, y: -np.log(np.maximum(_of_class(x, y), 1e-6))),
        "l1": probability(lambda x, y: 1.0 - _of_class(x, y)),
        "log-wealth": Loss(
            _relatives, lambda *_: 1.0, lambda x, _: -np.log(np.maximum(x[:, 0], 1e-6))
        ),
        "crps": Loss(_quantiles(loss.levels), lambda side, size: side * size, _crps(loss.levels)),
    }
    if loss.kind == "zero-one" and loss.of_classes:
        return probability(lambda x, y: 1.0 * (x.argmax(axis=1) != y))
    if loss.kind is None:
        function = loss.function
        assert function is not None
        return Loss(_spread, lambda side, size: side * size, lambda x, y: function(x[:, 0], y))
    return known[loss.kind]


class Settled(NamedTuple):
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
    alpha = float(getattr(mixture.recipe.hedger, "alpha", 0.0))
    regrets: Any = 0.0
    added = reached = 0.0
    for one in _play(mixture, nature, experts, lag, rounds):
        regrets = (1.0 - alpha) * regrets + one.blend - one.losses
        added = (1.0 - alpha) * added + abs(one.blend) + float(np.abs(one.losses).max())
        mixture.update(one.ticket, one.outcome)
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
) -> Iterator[Settled]:
    """Yield the rounds of a game as their outcomes come."""
    attacked, names = _attacked(mixture), [f"expert {i}" for i in range(experts)]
    automatic = isinstance(mixture.recipe.hedger, Automatic)
    waiting: deque[Settled] = deque()
    upper = 0.5
    for t in range(rounds):
        side, size = nature(t, upper)
        said = attacked.forecasts(experts, side, size)
        told = said[:, 0] if said.shape[1] == 1 else said
        made = mixture.predict(dict(zip(names, told.tolist(), strict=True)))
        upper = float(made.distribution[0][experts // 2 :].sum())
        outcome = attacked.outcome(side, size)
        value = np.reshape(made.value, (1, -1))
        compared = said
        if automatic:
            compared = np.array([said.mean(axis=0), np.median(said, axis=0)])
            if mixture.recipe.loss.of_labels or mixture.recipe.loss.of_wealth:
                compared = compared[:1] if mixture.recipe.loss.of_wealth else value
            elif mixture.recipe.loss.of_classes:
                compared = compared[:1]
        losses = attacked.value(compared, outcome)
        blend = float(attacked.value(value, outcome)[0])
        waiting.append(Settled(made.ticket, _outcome(mixture, outcome), blend, losses))
        if len(waiting) > lag:
            yield waiting.popleft()


def _outcome(mixture: Mixture, outcome: float) -> Any:
    """Return an outcome in the form that `Mixture.update` takes."""
    return int(outcome) if mixture.recipe.loss.of_classes else outcome
