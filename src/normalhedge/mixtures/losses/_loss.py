# ruff: noqa: ARG002  (all losses have one signature; few need the outcome and the setting)
"""The interface of every loss: values, slopes, name, facts; and losses of the user's own."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self

import numpy as np

from normalhedge import _core
from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.losses._forecast_kinds import (
    CLASSES,
    LABELS,
    NUMBERS,
    QUANTILES,
    WEALTH,
    ForecastKind,
)

LossFunction = Callable[[Floats, float], Floats]
"""A function of an array of forecasts and an outcome that returns the loss of each forecast."""

LARGEST_LOSS = LARGEST * LARGEST
"""The limit on the size of a loss of your own; the losses of the package are smaller, too."""


FLOOR = 1e-6
"""Smaller probabilities and price relatives count as this: one error costs at most 13.8."""


class Parts(NamedTuple):
    """Forecasts as single numbers: the loss is ``factor`` times the mean of the losses of these."""

    numbers: Floats  # the forecasts that the loss reads; rows x parts x experts
    # outcomes, settings: the outcome and the setting of each number, as `Loss.number_loss` takes
    # them; rows x parts
    outcomes: Floats
    settings: Floats
    origins: Floats  # the zero of the numbers, where their scale matters; rows x parts
    factor: float = 1.0  # the number of parts that the mean must be multiplied by


class Kink(NamedTuple):
    """A loss that is linear on both sides of the outcome, with a kink that may be rounded.

    The loss is ``below (y - x)`` and ``above (x - y)``. If ``soft`` is more than 0, the loss is
    ``(x - y)^2 / (2 soft)`` near y until it is as steep as the lines, and linear from there on.

    Attributes
    ----------
    below, above
        The slopes on both sides of the outcome, without their signs; one for each row.
    soft
        See above.
    """

    below: Floats
    above: Floats
    soft: float = 0.0


class Loss:
    """A loss: the cost of a forecast once the outcome is known.

    ``Loss(name, function=...)`` makes a loss of your own, see `OwnLoss`. A loss of the package is
    a frozen subclass, which overrides the facts below that differ.

    Attributes
    ----------
    name
        Its name. ``str(loss)`` adds the settings, and `loss_of` reads that text.
    kind
        Its name in the core; None for a loss of your own.
    forecasts
        Its kind of forecasts.
    width
        The largest difference of two losses, if it is known beforehand; 0 if it is to be learned.
    least
        A number that no loss is less than.
    convex
        Whether the loss is convex in the forecast.
    convex_in_part
        Whether it is convex in the forecasts that `parts` returns, which it costs no more than the
        forecasts themselves. The logarithms are, which are clipped.
    linear
        Whether the loss of a mean is the mean of the losses.
    of_errors
        Whether `number_loss` depends on x - y alone.
    quadratic
        Whether it is ``(x - y)^2``.
    continuous
        Whether a small change of the forecast changes the loss little.
    slope_from
        The loss whose slope the default blend uses, if that is more informative than its own.
    combine
        How a single rule combines forecasts by default.
    prior
        The shares of the plain combinations in the prior of the default blend.
    score
        The measure of errors (RMSE, MAE) that orders forecasts as this loss does; may be empty.
    levels
        The levels of the quantiles that are forecast.
    function
        The function of a loss of your own.
    """

    name: str = ""
    kind: str | None = None
    forecasts: ForecastKind = NUMBERS
    width: float = 0.0
    least: float = 0.0
    convex: bool = False
    convex_in_part: bool = False
    linear: bool = False
    of_errors: bool = False
    quadratic: bool = False
    continuous: bool = True
    slope_from: str | None = None
    combine: str = "mean"
    prior: tuple[tuple[str, float], ...] = (("median", 0.65), ("trimmed mean", 0.3), ("mean", 0.05))
    score: str = ""
    levels: tuple[float, ...] = ()
    function: LossFunction | None = None

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        del args, settings
        return object.__new__(OwnLoss if cls is Loss else cls)  # type: ignore[return-value]

    # The loss of a number: each subclass defines it, as its struct in the core does.

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the loss of numbers x if the outcomes are y.

        Parameters
        ----------
        x, y
            The numbers, and their outcomes.
        setting
            The setting of each: one of `settings`.
        """
        raise NotImplementedError

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the derivative of `number_loss` by x; 0 at a kink.

        Parameters
        ----------
        x, y, setting
            As for `number_loss`.
        """
        raise NotImplementedError

    def kink(self, y: Floats, setting: Floats) -> Kink | None:
        """Return the kink at y, if the loss is linear on both sides of it; None otherwise.

        Parameters
        ----------
        y, setting
            As for `number_loss`.
        """
        return None

    def takes(self, outcomes: Floats) -> np.ndarray:
        """Tell for which outcomes the loss is defined."""
        return np.ones(np.shape(outcomes), dtype=bool)

    outcome_must: tuple[str, str] = ("", "")
    """The rest of the sentences "outcome must ..." and "column ... must ..."."""

    # Forecasts that may be several numbers.

    @property
    def settings(self) -> tuple[float, ...]:
        """The numbers that the core needs, in turns over the items; at least one."""
        return self.levels or (0.5,)

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        """Return forecasts as single numbers.

        Parameters
        ----------
        table
            The forecasts; rows x numbers x experts.
        outcomes, items
            The outcome and the item of each row.
        """
        y = outcomes[:, np.newaxis]
        setting = np.array(self.settings)[items % len(self.settings)]
        return self._numbers(table, y, setting[:, np.newaxis])

    def _numbers(self, table: Floats, y: Floats, settings: Floats, factor: float = 1.0) -> Parts:
        """Return numbers with an outcome each, or errors if nothing else counts."""
        if not self.of_errors:
            return Parts(table, y, settings, y, factor)
        zeros = np.zeros(y.shape)
        return Parts(table - y[:, :, np.newaxis], zeros, settings, zeros, factor)

    def value(self, forecasts: Floats, outcomes: Floats, items: np.ndarray | None = None) -> Floats:
        """Return the loss of each forecast, in Python.

        Parameters
        ----------
        forecasts
            The forecasts; rows x numbers.
        outcomes, items
            The outcome and the item of each row.
        """
        parts = self._parts_of(forecasts, outcomes, items)
        numbers = self.number_loss(parts.numbers[:, :, 0], parts.outcomes, parts.settings)
        return np.asarray(parts.factor * numbers.mean(axis=1))

    def gradient_of(
        self, forecasts: Floats, outcomes: Floats, items: np.ndarray | None = None
    ) -> Floats:
        """Return the derivative of the loss by each number of each forecast, in Python.

        Parameters
        ----------
        forecasts, outcomes, items
            As for `value`.
        """
        parts = self._parts_of(forecasts, outcomes, items)
        slopes = self.number_slope(parts.numbers[:, :, 0], parts.outcomes, parts.settings)
        return np.asarray(slopes * (parts.factor / slopes.shape[1]))

    def _parts_of(self, forecasts: Floats, outcomes: Floats, items: np.ndarray | None) -> Parts:
        rows = len(forecasts)
        which = np.zeros(rows, dtype=np.int32) if items is None else items
        return self.parts(forecasts[:, :, np.newaxis], np.broadcast_to(outcomes, rows), which)

    def table(
        self, forecasts: Floats, outcomes: Floats, items: np.ndarray, way: str = "mean"
    ) -> Floats:
        """Return the loss of each forecast of a table; rows x experts.

        Rows without an outcome have zeros. A sleeping expert loses as uniform
        weights over the others do.

        Parameters
        ----------
        forecasts
            Rows x numbers x experts.
        outcomes, items
            The outcome and the item of each row.
        way
            How uniform weights combine forecasts.
        """
        assert self.kind is not None
        losses = np.empty((len(forecasts), forecasts.shape[2]))
        table, y, which = (np.ascontiguousarray(array) for array in (forecasts, outcomes, items))
        _core.write_loss_table(table, y, which, np.array(self.settings), self.kind, way, losses)
        return losses

    def slope_table(self, forecasts: Floats, outcomes: Floats, items: np.ndarray) -> Floats:
        """Return the derivative of the loss by each number of a table, by the core.

        Parameters
        ----------
        forecasts
            Rows x numbers x experts.
        outcomes, items
            The outcome and the item of each row.
        """
        assert self.kind is not None
        slopes = np.empty(forecasts.shape)
        _core.write_slope_table(
            forecasts, outcomes, items, np.array(self.settings), self.kind, slopes
        )
        return slopes

    # Questions of a mixture.

    @property
    def differentiable(self) -> bool:
        """Whether the loss has a slope, which the gradient trick needs."""
        return self.continuous

    @property
    def gradient(self) -> bool:
        """Whether the gradient trick is used by default."""
        return self.differentiable and not self.linear

    @property
    def own(self) -> bool:
        """Whether the loss is a function of your own, which no file can hold."""
        return self.kind is None

    @property
    def has_best_convex(self) -> bool:
        """Whether the best convex combination can be found, with a proof."""
        return self.convex or self.convex_in_part

    @property
    def of_classes(self) -> bool:
        """Whether forecasts are class probabilities, and outcomes classes 0, 1, ..."""
        return self.forecasts is CLASSES

    @property
    def of_labels(self) -> bool:
        """Whether forecasts are labels, which have no middle."""
        return self.forecasts is LABELS

    @property
    def of_levels(self) -> bool:
        """Whether each forecast is a vector of quantiles, one for each level."""
        return self.forecasts is QUANTILES

    @property
    def of_wealth(self) -> bool:
        """Whether forecasts and outcomes are price relatives."""
        return self.forecasts is WEALTH

    @property
    def of_single_numbers(self) -> bool:
        """Whether a forecast is one number of which a mean can be taken."""
        return self.forecasts in {NUMBERS, WEALTH}

    @property
    def brief(self) -> str:
        """The name and the settings, in short; for tables."""
        return str(self)

    def __str__(self) -> str:
        pairs = (f"{key}={exactly(value)}" for key, value in self.written_settings().items())
        return ":".join(filter(None, (self.name, ",".join(pairs))))

    def written_settings(self) -> dict[str, Any]:
        """Return the settings by name, for texts and files."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    def to_plain(self) -> dict[str, Any]:
        """Return the loss as plain data, for a file; `restored_loss` reads it."""
        plain = {"name": self.name, "levels": list(self.levels), "own": self.own}
        settings = {} if self.own or self.levels else self.written_settings()
        return plain | ({"settings": settings} if settings else {})


def exactly(number: float) -> str:
    """Return the shortest text that is this number."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


@dataclass(frozen=True)
class OwnLoss(Loss):
    """A loss of your own, made by ``Loss(name, function=...)``; forecasts are single numbers.

    Parameters
    ----------
    name
        Its name.
    function
        The losses of an array of forecasts, given the outcome: see `LossFunction`.
    slope
        The derivative of the loss at a prediction, ``slope(prediction, outcome)``; only the
        gradient trick and the best convex combination need it.
    width
        The largest difference of two losses, if it is known; 0 if it is to be learned.
    convex
        Whether the loss is convex. Then, if it has a slope, summaries have the best convex
        combination.
    of_classes
        Must be false: forecasts are numbers.
    """

    name: str
    function: LossFunction | None = field(default=None, compare=False)
    slope: Callable[[float, float], float] | None = field(default=None, compare=False)
    width: float = 0.0
    convex: bool = False
    of_classes: bool = False

    least = -np.inf

    @property
    def differentiable(self) -> bool:
        return self.slope is not None

    @property
    def has_best_convex(self) -> bool:
        return self.convex and self.differentiable

    def written_settings(self) -> dict[str, Any]:
        return {}

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        x, y = np.broadcast_arrays(x, y)
        pairs = zip(x.ravel(), y.ravel().tolist(), strict=True)
        return np.array([self.row(np.array([a]), b)[0] for a, b in pairs]).reshape(x.shape)

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        x, y = np.broadcast_arrays(x, y)
        pairs = zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
        return np.array([self.slope_at(a, b) for a, b in pairs]).reshape(x.shape)

    def table(
        self, forecasts: Floats, outcomes: Floats, items: np.ndarray, way: str = "mean"
    ) -> Floats:
        losses = np.full((len(forecasts), forecasts.shape[2]), np.nan)
        for row in np.flatnonzero(~np.isnan(outcomes)):
            awake = np.abs(forecasts[row, 0]) < LARGEST
            losses[row, awake] = self.row(forecasts[row, 0, awake], float(outcomes[row]))
        return losses

    def row(self, forecasts: Floats, outcome: float) -> Floats:
        """Call the function; refuse losses that are not finite numbers, one for each forecast.

        Parameters
        ----------
        forecasts, outcome
            The arguments of the function.
        """
        assert self.function is not None
        losses = np.asarray(self.function(forecasts, outcome), dtype=float)
        if losses.shape != forecasts.shape or not (np.abs(losses) < LARGEST_LOSS).all():
            raise ValueError(
                f"loss {self.name} must return a finite number within ±{LARGEST_LOSS:g} for "
                f"each of {len(forecasts)} forecasts, got {losses}"
            )
        return losses

    def slope_at(self, prediction: float, outcome: float) -> float:
        """Call ``slope``; refuse infinite slopes. 0 without a slope or a prediction.

        Parameters
        ----------
        prediction, outcome
            The arguments of the function.
        """
        if self.slope is None or np.isnan(prediction):
            return 0.0
        slope = float(self.slope(float(prediction), outcome))
        if not abs(slope) < LARGEST:
            raise ValueError(
                f"the slope of loss {self.name} must be a finite number within ±{LARGEST:g}, "
                f"got {slope}"
            )
        return slope
