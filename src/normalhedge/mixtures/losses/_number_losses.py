# ruff: noqa: ARG002  (all losses have one signature; few need the outcome and the setting)
"""Losses of single numbers: forecasts, quantiles, labels and price relatives."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._forecast_kinds import LABELS, QUANTILES, WEALTH
from normalhedge.mixtures.losses._loss import FLOOR, Kink, Loss, Parts, exactly

FEW = 5
"""The largest number of quantile levels that `Crps.brief` lists."""


@dataclass(frozen=True)
class Square(Loss):
    """(x - y)^2. Its best constant forecast is the mean."""

    name = kind = "square"
    convex = of_errors = quadratic = True
    score = "RMSE"

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.square(x - y)

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return 2.0 * (x - y)


@dataclass(frozen=True)
class Absolute(Loss):
    """``|x - y|``. Its best constant forecast is the median."""

    name = kind = "absolute"
    convex = of_errors = True
    combine = "median"
    slope_from = "square"  # its own slope is only a sign
    score = "MAE"

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.abs(x - y)

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.sign(x - y)

    def kink(self, y: Floats, setting: Floats) -> Kink:
        return Kink(np.ones_like(y), np.ones_like(y))


@dataclass(frozen=True)
class Huber(Loss):
    """``(x - y)^2 / 2`` where ``|x - y| < delta``, else ``delta (|x - y| - delta / 2)``.

    It counts small errors as the square loss does, and large ones as the absolute loss does.

    Parameters
    ----------
    delta
        The error from which on the loss is linear, in units of the outcomes; more than 0.

    References
    ----------
    Huber, "Robust estimation of a location parameter" (1964).
    """

    delta: float = 1.0

    name = kind = "huber"
    convex = of_errors = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", inputs.number("delta", self.delta, 0.0))

    @property
    def settings(self) -> tuple[float, ...]:
        return (self.delta,)

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        size = np.abs(x - y)
        return np.where(size < setting, 0.5 * np.square(size), setting * (size - 0.5 * setting))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.clip(x - y, -setting, setting)

    def kink(self, y: Floats, setting: Floats) -> Kink:
        return Kink(setting, setting, soft=1.0)


@dataclass(frozen=True)
class Expectile(Loss):
    """level (x - y)^2 where x < y, else (1 - level) (x - y)^2.

    Its best constant forecast is an expectile. Level 0.5 is half of the square loss. A higher level
    makes it dearer to forecast too little.

    Parameters
    ----------
    level
        A number strictly between 0 and 1.

    References
    ----------
    Newey and Powell, "Asymmetric least squares estimation and testing" (1987).
    """

    level: float = 0.5

    name = kind = "expectile"
    convex = of_errors = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", inputs.number("level", self.level, 0.0, 1.0))

    @property
    def settings(self) -> tuple[float, ...]:
        return (self.level,)

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.where(x > y, 1.0 - setting, setting) * np.square(x - y)

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return 2.0 * np.where(x > y, 1.0 - setting, setting) * (x - y)


@dataclass(frozen=True)
class Mape(Loss):
    """``|x - y| / |y|``, a share; its mean is the mean absolute percentage error, divided by 100.

    An outcome of 0 has no percentage errors, and is refused. Small outcomes count much, so that
    forecasts which are too small are cheaper than ones which are too large.
    """

    name = kind = "mape"
    convex = True
    combine = "median"
    outcome_must = (
        "not be 0 with the mape loss, which divides by it",
        "not have 0 with the mape loss, which divides by it",
    )

    def takes(self, outcomes: Floats) -> np.ndarray:
        return np.asarray(np.not_equal(outcomes, 0.0))

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.abs(x - y) / np.maximum(np.abs(y), 1e-100)

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.sign(x - y) / np.maximum(np.abs(y), 1e-100)

    def kink(self, y: Floats, setting: Floats) -> Kink:
        steepness = 1.0 / np.maximum(np.abs(y), 1e-100)
        return Kink(steepness, steepness)


@dataclass(frozen=True)
class Smape(Loss):
    """``2 |x - y| / (|x| + |y|)``, and 0 if x = y = 0: the symmetric percentage error, up to 2.

    A forecast on the other side of 0 costs 2, however far away it is. So the loss is not convex:
    by default there is no gradient trick, and no best convex combination to compare with.
    """

    name = kind = "smape"
    width = 2.0
    combine = "median"

    @property
    def gradient(self) -> bool:
        return False

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.asarray(2.0 * np.abs(x - y) / np.maximum(np.abs(x) + np.abs(y), 1e-300))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        size = np.maximum(np.abs(x) + np.abs(y), 1e-100)
        steep = np.where(np.sign(x) * np.sign(y) > 0.0, 4.0 * (np.abs(y) / size) / size, 0.0)
        return np.asarray(steep * np.sign(x - y), dtype=np.float64)


@dataclass(frozen=True)
class Pinball(Loss):
    """level (y - x) where x < y, else (1 - level) (x - y).

    Its best constant forecast is the quantile of the level. With several levels, a forecast has
    a number for each, and each of these is an item.
    """

    levels: tuple[float, ...] = (0.5,)

    name = kind = "pinball"
    convex = of_errors = True
    combine = "median"

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.maximum((1.0 - setting) * (x - y), -setting * (x - y))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.where(x > y, 1.0 - setting, np.where(x < y, -setting, 0.0))

    def kink(self, y: Floats, setting: Floats) -> Kink:
        return Kink(setting, 1.0 - setting)

    def __str__(self) -> str:
        return f"{self.name}:level={'/'.join(map(exactly, self.levels))}"

    def written_settings(self) -> dict[str, Any]:
        return {"level": self.levels}


def pinball(level: str | float | Sequence[float] = 0.5) -> Pinball:
    """Return the loss whose best constant forecast is the quantile of this level.

    Parameters
    ----------
    level
        A number strictly between 0 and 1, or one for each component of vectors of quantiles; or a
        text of these, as in ``"0.1/0.9"``.
    """
    levels = _read_levels(level)
    if not levels:
        raise ValueError("level must be a number or one number for each component, got none")
    return Pinball(levels)


@dataclass(frozen=True)
class Crps(Pinball):
    """Twice the pinball loss, its mean over the levels: see `crps`."""

    name = kind = "crps"
    forecasts = QUANTILES
    combine = "mean"

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        y = np.broadcast_to(outcomes[:, np.newaxis], table.shape[:2])
        return self._numbers(table, y, np.broadcast_to(self.levels, y.shape), 2.0)

    @property
    def brief(self) -> str:
        if len(self.levels) <= FEW:
            return str(self)
        low, high = self.levels[0], self.levels[-1]
        return f"{self.name}, {len(self.levels)} levels from {low:g} to {high:g}"

    def __str__(self) -> str:
        return f"{self.name}:levels={'/'.join(map(exactly, self.levels))}"


def crps(levels: str | float | Sequence[float]) -> Crps:
    r"""Return the loss of quantile forecasts: twice the pinball loss, its mean over the levels.

    .. math::

        \frac1L \sum_{l=1}^{L} 2 \left(1[y < x_l] - \tau_l\right) (x_l - y)

    If the levels are symmetric and include 0.5, this is the weighted interval score (WIS) of
    forecast hubs. It tends to the continuous ranked probability score (CRPS) as the levels become
    dense. Each forecast is a sequence with a quantile for each level, or a mapping of levels to
    quantiles; quantiles that cross are sorted, which never increases the loss.

    Parameters
    ----------
    levels
        Numbers strictly between 0 and 1 that rise; or a text of them, as in ``"0.1/0.5/0.9"``.

    Examples
    --------
    >>> str(crps([0.1, 0.5, 0.9]))
    'crps:levels=0.1/0.5/0.9'
    """
    if not isinstance(levels, str | int | float | Iterable):
        raise TypeError(f"levels must be numbers, as in [0.1, 0.5, 0.9], got {levels!r}")
    numbers = _read_levels(levels)
    if not numbers:
        raise ValueError("levels must be numbers between 0 and 1, got none")
    for low, high in pairwise(numbers):
        if not low < high:
            raise ValueError(f"levels must rise, got {low:g} before {high:g}")
    return Crps(numbers)


def _read_levels(levels: str | float | Sequence[float]) -> tuple[float, ...]:
    """Return quantile levels as numbers; ``"0.1/0.9"`` is a text of two."""
    if isinstance(levels, int | float):
        levels = [levels]
    parts = levels.split("/") if isinstance(levels, str) else levels
    return tuple(inputs.number("level", _as_number(part), 0.0, 1.0) for part in parts)


def _as_number(level: object) -> object:
    if not isinstance(level, str):
        return level
    try:
        return float(level)
    except ValueError:
        raise ValueError(f"levels must be numbers, as in 0.1/0.5/0.9, got {level!r}") from None


@dataclass(frozen=True)
class LogWealth(Loss):
    """-ln max(x / y, 1e-6) of a price relative x beside the price relative y of a benchmark.

    An expert is an asset or a portfolio, and its forecast is the factor by which its price changed:
    x = 1.02 is a gain of 2 %. The weighted mean of price relatives is the relative of the portfolio
    with these weights, rebalanced each round. So its wealth is ``exp(-sum of losses)`` times the
    wealth of the benchmark, or of cash if y is 1. A relative at or below zero, a ruin, costs 13.8.
    Relatives are known only after the round, but weights before it: `Mixture.next_weights` returns
    the portfolio to buy.
    """

    name = kind = "log-wealth"
    forecasts = WEALTH
    least = -np.inf
    convex_in_part = True
    prior = (("mean", 1.0),)
    outcome_must = ("be a price relative, more than 0", "have price relatives, more than 0")

    def takes(self, outcomes: Floats) -> np.ndarray:
        return np.asarray(np.greater(outcomes, 0.0))

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        ratios = np.maximum(table / outcomes[:, np.newaxis, np.newaxis], FLOOR)
        ones = np.ones((len(table), 1))
        return super().parts(ratios, outcomes, items)._replace(outcomes=ones, origins=0.0 * ones)

    def gradient_of(
        self, forecasts: Floats, outcomes: Floats, items: np.ndarray | None = None
    ) -> Floats:
        # The parts are ratios, and the derivative is by the forecast.
        slopes = super().gradient_of(forecasts, outcomes, items)
        return slopes / np.broadcast_to(outcomes, len(forecasts))[:, np.newaxis]

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return -np.log(np.maximum(x / y, FLOOR))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return -1.0 / np.maximum(x, FLOOR * y)


@dataclass(frozen=True)
class ZeroOne(Loss):
    """1 where x is not y, else 0; x and y are labels."""

    name = kind = "zero-one"
    forecasts = LABELS
    width = 1.0
    continuous = False
    combine = "vote"
    prior = (("vote", 1.0),)

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.not_equal(x, y).astype(float)
