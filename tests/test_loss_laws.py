"""The laws hold of our losses, and fail for losses that lie."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from normalhedge import checks
from normalhedge.boundary.inputs import Floats
from normalhedge.checks import LossLaw
from normalhedge.mixtures import LOSSES, Loss, crps, pinball
from normalhedge.mixtures.losses import (
    Absolute,
    Expectile,
    Huber,
    Kink,
    Mape,
    Square,
)

EVERY: list[Loss] = [
    *(LOSSES[name]() for name in LOSSES if name != "crps"),
    crps([0.1, 0.5, 0.9]),
    crps([0.25]),
    pinball(0.9),
    pinball([0.1, 0.5, 0.95]),
    Huber(0.01),
    Huber(123.456789),
    Expectile(0.8),
    Loss("plain", function=lambda x, y: np.abs(x - y)),
    Loss(
        "debt",
        function=lambda x, y: (x - y) ** 2 - 100.0,
        slope=lambda x, y: 2.0 * (x - y),
        convex=True,
    ),
    Loss(
        "fourth",
        function=lambda x, y: (x - y) ** 4,
        slope=lambda x, y: 4.0 * (x - y) ** 3,
        convex=True,
    ),
]
"""Every loss of the package, with settings, and some of one's own."""


@pytest.mark.parametrize("loss", EVERY, ids=str)
@pytest.mark.parametrize("law", checks.LOSS_LAWS.values(), ids=checks.LOSS_LAWS.keys())
def test_our_losses_obey(law: LossLaw, loss: Loss) -> None:
    law(loss)


@dataclass(frozen=True)
class WrongSlope(Square):
    """The square loss with half of its slope."""

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return 0.5 * super().number_slope(x, y, setting)


@dataclass(frozen=True)
class NotConvex(Absolute):
    """The root of the error, said to be convex."""

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        del setting
        return np.sqrt(np.abs(x - y))


@dataclass(frozen=True)
class WrongKink(Absolute):
    """The absolute loss with a kink that is too flat."""

    def kink(self, y: Floats, setting: Floats) -> Kink:
        del setting
        return Kink(0.5 * np.ones_like(y), np.ones_like(y))


@dataclass(frozen=True)
class HiddenKink(Absolute):
    """The absolute loss that tells of no kink."""

    def kink(self, y: Floats, setting: Floats) -> None:  # type: ignore[override]
        del y, setting


@dataclass(frozen=True)
class OtherCore(Huber):
    """The Huber loss, twice as large in Python."""

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return 2.0 * super().number_loss(x, y, setting)


@dataclass(frozen=True)
class OtherSlope(Expectile):
    """The square loss in Python, whose slope in the core is another."""

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        del setting
        return 2.0 * (x - y)


@dataclass(frozen=True)
class Unnamed(Square):
    """A loss that its text does not tell."""

    more: float = 1.0


@dataclass(frozen=True)
class Narrow(Absolute):
    """The absolute loss with a range that is too small."""

    width = 0.1


@dataclass(frozen=True)
class Positive(Square):
    """The square loss, said to be at least one."""

    least = 1.0


@dataclass(frozen=True)
class NotOfErrors(Mape):
    """A percentage, said to depend on the error alone."""

    of_errors = True


@dataclass(frozen=True)
class RefusesZero(Square):
    """The square loss, said to take no outcome of 0, which the core takes."""

    outcome_must = ("not be 0", "not have 0")

    def takes(self, outcomes: Floats) -> np.ndarray:
        return np.not_equal(outcomes, 0.0)


OWN: dict[str, Any] = {"function": lambda x, y: (x - y) ** 2}

LIARS: dict[str, list[Loss]] = {
    "the_slope_is_the_derivative": [
        WrongSlope(),
        OtherSlope(0.8),
        Loss("own", **OWN, slope=lambda x, y: x - y),
    ],
    "it_is_convex_where_it_says_so": [
        NotConvex(),
        Loss("root", function=lambda x, y: np.sqrt(np.abs(x - y)), convex=True),
    ],
    "its_shape_is_what_it_says": [WrongKink(), NotOfErrors()],
    "the_best_convex_combination_is_proved": [HiddenKink()],
    "the_core_has_the_same_loss": [OtherCore(), OtherSlope(0.8), WrongSlope()],
    "its_text_is_read_back": [Unnamed(), Narrow()],
    "values_lie_in_the_range": [Narrow(), Positive()],
    "outcomes_that_it_does_not_take_are_refused": [RefusesZero()],
}


@pytest.mark.parametrize(
    ("name", "loss"),
    [(name, loss) for name, losses in LIARS.items() for loss in losses],
    ids=lambda one: type(one).__name__ if isinstance(one, Loss) else one,
)
def test_a_loss_that_lies_is_caught(name: str, loss: Loss) -> None:
    with pytest.raises((AssertionError, ValueError)):
        checks.LOSS_LAWS[name](loss)
    with pytest.raises(AssertionError, match="breaks the law"):
        checks.check_loss(loss)


def test_every_law_has_a_loss_that_breaks_it() -> None:
    others = {"mixtures_save_load_and_go_on", "summaries_have_its_means", "bounds_hold"}
    assert (
        set(checks.LOSS_LAWS) - set(LIARS) == others
    )  # of mixtures, which have tests of their own
