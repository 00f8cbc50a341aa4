"""Quantile forecasts as a mixture takes them: forms, names of the loss, and bad ones."""

import math
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.mixtures import crps
from tests.mixtures.quantile_examples import LEVELS, NAMES, forecasters


def test_many_levels_are_not_listed() -> None:
    mixture = Mixture(loss=crps([k / 20 for k in range(1, 20)]))
    mixture.update(mixture.predict({"a": np.arange(19)}).ticket, 3.0)
    assert "loss crps, 19 levels from 0.05 to 0.95" in str(mixture.summary())
    assert str(crps(LEVELS)) == crps(LEVELS).brief


def test_forecasts_come_in_many_forms() -> None:
    levels, x = (0.1, 0.5, 0.9), [1.0, 2.0, 4.0]
    forms: list[Any] = [
        x, tuple(x), np.array(x), dict(zip(levels, x, strict=True)),
        {"0.9": 4.0, "0.1": 1.0, ".5": 2.0}, {np.float64(0.5): 2, 0.1: 1, 0.9: 4},
    ]  # fmt: skip
    for form in forms:
        mixture = Mixture("auto:inside=true", loss=crps(levels))
        made = mixture.predict({"a": form, "b": None, "c": math.nan, "d": {}})
        assert made.value.tolist() == x
        mixture.update(made.ticket, 1.5)
        for series in ({"US": form, "06": x, "07": None}, {"US": form, "06": form}):
            made = mixture.predict({"a": series, "b": {"US": None}})
            assert made.value["US"] == made.value["06"] == x
            mixture.update(made.ticket, {"US": 1.0, "06": None})
    made = mixture.predict({"a": [x, x], "b": np.array([x, [np.nan] * 3])})
    assert made.value.tolist() == [x, x]
    mixture.update(made.ticket, [1.0, 2.0])
    assert Mixture(loss=crps(0.5)).predict({"a": 3.0, "b": [3.0]}).value == 3.0


BAD: dict[str, tuple[Any, str]] = {
    "too few": ([1.0, 2.0], "forecasts of 'a' must have 3 quantiles each"),
    "a number": (1.0, "forecasts of 'a' must have 3 quantiles each"),
    "an unknown level": ({0.1: 1.0, 0.3: 2.0}, "level 0.3, which is none of 0.1, 0.5, 0.9"),
    "a level twice": ({0.1: 1.0, "0.1": 2.0}, "have level 0.1 twice"),
    "a series without levels": ({"US": 1.0}, "level 'US', which is none of"),
    "too few of a series": ({"US": [1.0], "06": None}, "must have 3 quantiles each"),
    "words": (["a", "b", "c"], "must be numbers"),
    "three axes": (np.zeros((2, 2, 3)), "must be quantiles by level"),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD.keys())
def test_bad_forecasts_change_nothing(given: Any, message: str) -> None:
    mixture = Mixture(loss=crps(LEVELS))
    mixture.predict({"a": [1.0, 2.0, 3.0]})
    version = mixture.live.version
    with pytest.raises((ValueError, TypeError), match=message):
        mixture.predict({"a": given})
    assert mixture.live.version == version
    assert mixture.rounds == 1


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([], "levels must be numbers between 0 and 1, got none"),
        ([0.5, 0.1], "levels must rise, got 0.5 before 0.1"),
        ([0.1, 0.1], "levels must rise"),
        ([0.1, 1.0], "level must"),
        (None, "levels must be numbers, as in"),
        ("0.1/high", "levels must be numbers, as in 0.1/0.5/0.9, got 'high'"),
    ],
)
def test_bad_levels(levels: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        crps(levels)


def test_the_name_of_the_loss() -> None:
    named = Mixture(loss="crps:levels=0.1/0.5/0.9").settings.loss
    assert named == crps(LEVELS)
    assert Mixture(loss=str(named)).settings.loss == named
    assert Mixture(loss="crps:levels=0.5").settings.loss == crps([0.5])
    with pytest.raises(ValueError, match="crps needs levels, as in crps:levels="):
        Mixture(loss="crps")


def test_a_single_level_of_one_half_is_the_absolute_loss() -> None:
    forecasts, y = forecasters(80, 5, (0.5,), crossing=0.0)
    for options in ({"combine": "mean"}, {"combine": "mean", "gradient": False}):
        one = Mixture("normal-hedge", crps([0.5]), **options)
        two = Mixture("normal-hedge", "absolute", **options)
        for row, outcome in zip(forecasts[:, 0, 0], y[:, 0], strict=True):
            said = dict(zip(NAMES, row.tolist(), strict=True))
            made = [mixture.predict(said) for mixture in (one, two)]
            assert made[0].value == made[1].value
            for mixture, prediction in zip((one, two), made, strict=True):
                mixture.update(prediction.ticket, float(outcome))
