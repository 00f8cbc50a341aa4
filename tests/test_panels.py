"""The goals on real forecasters, where their files are."""

import pytest

from benchmarks.panels import goals, hubs

here = pytest.mark.skipif(not hubs.DATA.is_dir(), reason="the panels are not here")


def test_pollsters() -> None:
    found = goals.trump_approval()
    assert found["plain mean"] == pytest.approx(0.662, abs=1e-3)
    assert found["best pollster"] == pytest.approx(1.111, abs=1e-3)
    assert found["blend"] < 0.44


@here
def test_flusight() -> None:
    found = goals.flusight()
    assert (found["blend"] < found["hub ensemble"]).all()
    assert found["uniform"].round(4).tolist() == [0.5267, 0.5226, 0.5167, 0.5007]
    assert found["hub ensemble"].round(4).tolist() == [0.4902, 0.4770, 0.4682, 0.4511]


@here
def test_eu_deaths() -> None:
    found = goals.eu_deaths()
    better = found[["median", hubs.HUB]].min(axis=1)
    assert (found["blend"] <= 1.01 * better).all()
    assert (found["blend"] < found[hubs.HUB]).sum() >= 3
    assert found["median"][1] == pytest.approx(0.754, abs=1e-3)
