"""The bench of quantile forecasts, on simulated hubs; and the goals, where the hub's file is."""

import numpy as np
import pandas as pd
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
@pytest.mark.parametrize(
    ("season", "score", "log_score"), [("2022-23", 87.68, 0.3851), ("2023-24", 58.64, 0.2843)]
)
def test_the_goals_of_flusight(season: str, score: float, log_score: float) -> None:
    goal, goal_log, slack = quantiles.GOALS[season]
    *_, mean, log, worst = quantiles.judge_season(season)
    assert mean.strip() == f"mean {score}, the goal is below {goal}: met"
    assert log == f"log scale {log_score}, the goal is below {goal_log}: met"
    assert worst.endswith(f"the goal is {slack}: met")


def test_residuals_make_quantiles_of_the_past_alone() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=60)
    panel = pd.DataFrame({"series": "a", "time": range(60), "y": y, "m": y + rng.normal(size=60)})
    one = hubs.residual_quantiles(panel, (0.1, 0.5, 0.9), horizon=2)
    assert one.made.tolist() == list(range(22, 60))
    np.testing.assert_allclose(one.forecasts[:, 1, 0], panel["m"][22:])
    later = panel.assign(y=np.where(panel["time"] > 40, 9.0, panel["y"]))
    two = hubs.residual_quantiles(later, (0.1, 0.5, 0.9), horizon=2)
    np.testing.assert_array_equal(one.forecasts[one.made < 43], two.forecasts[two.made < 43])
    assert (one.forecasts[one.made == 43] != two.forecasts[two.made == 43]).any()
