"""The ranges of axes."""

import numpy as np
import pytest

from normalhedge.reports._figures import cut_off, positions, robust_range


def test_ordinary_curves_are_shown_whole() -> None:
    curve = np.random.default_rng(0).normal(size=1000)
    found = robust_range(curve, np.array([np.nan, np.inf]))
    assert found.low < curve.min() < curve.max() < found.high
    assert found.cut == 0


@pytest.mark.parametrize("absurd", [1e9, -1e9])
def test_absurd_points_are_cut(absurd: float) -> None:
    curve = np.random.default_rng(0).normal(size=1000)
    curve[[5, 500]] = absurd
    found = robust_range(curve)
    assert -15.0 < found.low < -2.0
    assert 2.0 < found.high < 15.0
    assert found.cut == 2
    assert cut_off(found.cut) == " 2 points far away are cut off."


def test_errors_begin_at_zero() -> None:
    errors = np.append(np.linspace(1.0, 2.0, 20), [1e6, 1e6])
    found = robust_range(errors, zero=True)
    assert found.low == 0.0
    assert 2.0 < found.high < 15.0
    assert found.cut == 2
    assert robust_range(np.append(np.zeros(9), 5.0), zero=True).high >= 5.0  # mostly no error


def test_odd_curves_have_a_range() -> None:
    assert robust_range(np.full(3, np.nan)) == (0.0, 1.0, 0)
    for constant in (0.0, 7.0, -1e300):
        found = robust_range(np.full(3, constant))
        assert found.low < constant < found.high
    assert cut_off(0) == ""


def test_dates_are_milliseconds() -> None:
    x, axis = positions(np.array(["1970-01-02"], dtype="datetime64[us]"))
    assert x.tolist() == [86_400_000.0]
    assert axis["type"] == "date"
    x, axis = positions(np.array(["<b>"], dtype=object))
    assert (x, axis["type"]) == (["&lt;b&gt;"], "category")
