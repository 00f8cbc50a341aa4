"""The bench of quantile forecasts, on simulated hubs; and the goals, where the hub's file is."""

import numpy as np
import pytest

from benchmarks.panels import hubs, quantiles

here = pytest.mark.skipif(not hubs.DATA.is_dir(), reason="the panels are not here")


def test_auto_is_better_than_plain_combinations_of_a_simulated_hub() -> None:
    panel = quantiles.simulated_hub(0, skilled=True, lag=1)
    assert (np.diff(quantiles.auto(panel), axis=1) >= 0.0).all()
    found = quantiles.relative([panel])
    assert found["auto"] < 1.0
    assert found["worst"] == found["auto"]


def test_nothing_is_learned_before_it_is_known() -> None:
    """Whatever the last outcomes are, forecasts made before they are known stay as they are."""
    panel = quantiles.simulated_hub(1, skilled=False, lag=2)
    late = panel.made >= 20
    other = panel._replace(outcomes=np.where(late, 1e3, panel.outcomes))
    one, two = quantiles.auto(panel), quantiles.auto(other)
    before = panel.made < 23
    np.testing.assert_array_equal(one[before], two[before])
    assert (one[~before] != two[~before]).any()


def test_the_speed_is_a_ratio() -> None:
    (line,) = quantiles.speed(rounds=50, n=3)
    assert line.startswith("50 rounds x 3 models x 23 levels: ")


@here
def test_the_goals_of_flusight() -> None:
    *_, mean, log, worst = quantiles.judge()
    assert mean.strip() == "mean 58.28, the goal is below 60.0: met"
    assert log == "log scale 0.2869, the goal is below 0.29: met"
    assert worst.endswith("the goal is 1.01: met")
