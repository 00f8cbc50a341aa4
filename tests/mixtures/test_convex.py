"""Fixed weights of least mean loss: scales, perfect combinations and clipped probabilities."""

import pytest

from normalhedge.mixtures.best_convex import best_convex
from tests.mixtures.convex_oracle import LEVELS, OF_NUMBERS, ROUNDING, check, panel


@pytest.mark.parametrize("scale", [1e8, 1e-8, 1e90, 1e-90])
@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_scales_do_not_matter(kind: str, scale: float) -> None:
    forecasts, outcomes, items = panel(kind, 100, 8, asleep=0.2)
    plain = best_convex(forecasts, outcomes, items, LEVELS, kind)
    found = best_convex(forecasts * scale, outcomes * scale, items, LEVELS, kind)
    by = scale**2 if kind == "square" else scale
    assert found.loss / by == pytest.approx(plain.loss, rel=1e-8)
    assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING


@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_what_can_be_perfect_is(kind: str) -> None:
    forecasts, outcomes, items = panel(kind, 30, 4)
    exact = forecasts.copy()
    exact[:, 0, 2] = outcomes
    assert best_convex(exact, outcomes, items, LEVELS, kind)[1:] == (0.0, 0.0)
    apart = forecasts.copy()
    apart[:, 0, 1] = 2 * outcomes - apart[:, 0, 0]
    assert best_convex(apart, outcomes, items, LEVELS, kind).loss < 1e-9


def test_probabilities_of_zero_count_as_the_least_there_is() -> None:
    forecasts, outcomes, items = panel("log", 200, 6, asleep=0.2)
    forecasts[forecasts < 0.2] = 0.0
    found = best_convex(forecasts, outcomes, items, LEVELS, "log")
    check("log", (forecasts, outcomes, items), found)
    assert found.gap <= 1e-5 * found.loss
