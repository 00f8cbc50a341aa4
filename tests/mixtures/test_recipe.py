"""The settings of a mixture: defaults, plain combinations, names, and bad ones."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import Mixture, NormalHedge, blend
from normalhedge.hedgers import named
from normalhedge.mixtures import Loss
from normalhedge.mixtures.automatic import Automatic
from tests.rules import SINGLE
from tests.tables.examples import wide


def test_those_not_heard_are_not_in_the_plain_mean() -> None:
    mixture = Mixture(include="mean")
    mixture.join(["a", "b"])
    assert mixture.predict({"a": 1.0, "b": 9.0}, confidence={"b": 0.0}).value == 1.0
    nobody = mixture.predict({"a": 1.0, "b": 9.0}, confidence={"a": 0.0, "b": 0.0})
    assert nobody.value is None


def test_the_plain_mean_and_median_as_experts() -> None:
    mixture = Mixture(loss="absolute", include=("mean", "median"))
    made = mixture.predict({"a": 0.0, "b": 1.0, "c": 8.0, "d": None})
    assert mixture.names[:2] == ["(mean)", "(median)"]
    assert mixture.pending[made.ticket].forecasts[0, 0, :2].tolist() == [3.0, 1.0]


def test_what_is_used_by_default() -> None:
    assert Mixture().recipe.hedger == Mixture("auto").recipe.hedger == Automatic()
    assert Mixture(SINGLE).recipe.hedger == NormalHedge(memory=20)
    options: list[dict[str, Any]] = [
        {"combine": "mean"},
        {"gradient": False},
        {"gradient": True},
        {"even": 0.1},
        {"include": "mean"},
        {"include": ["mean"]},
        {"include": iter(["mean"])},
        {"include": ("mean", "median")},
    ]
    for one in options:
        assert Mixture(**one).recipe.hedger == NormalHedge(memory=20)
    for one in options[:6]:
        with pytest.raises(ValueError, match=f"{next(iter(one))} belongs to a single rule"):
            Mixture("auto", **one)
    assert Mixture(include=[]).recipe.hedger == Automatic()
    assert Mixture("auto:memory=30,guard=false").recipe.hedger == Automatic(30, guard=False)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"hedger": 3}, "hedger must be"),
        ({"hedger": "normal-hegde"}, "did you mean normal-hedge"),
        ({"loss": "squared"}, "did you mean square"),
        ({"loss": 3}, "loss must be"),
        ({"loss": "pinball:level=2"}, "level must be"),
        ({"combine": "mode"}, "unknown way to combine 'mode'"),
        ({"combine": "median", "loss": "l1"}, "combine must be 'mean'"),
        ({"combine": "median", "gradient": True}, "gradient needs combine='mean'"),
        ({"loss": lambda x, y: x - y, "gradient": True}, "a loss with a slope"),
        ({"even": 2.0}, "even must be"),
        ({"loss": Loss("x", of_classes=True, function=lambda x, _: x)}, "not of classes"),
        ({"include": "mode"}, "unknown plain combination"),
        ({"include": "median", "loss": "l1"}, "median of class probabilities"),
        ({"max_pending": 0}, "max_pending must be"),
        ({"max_age": -1}, "max_age must be"),
    ],
)
def test_bad_settings_are_a_sentence(options: dict[str, Any], word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=word):
        Mixture(**options)


def alike(forecasts: np.ndarray, _outcome: float, size: float) -> np.ndarray:
    return np.full_like(forecasts, size)


def test_losses_of_your_own_stay_where_files_can_hold_them() -> None:
    for size in (1e201, -1e308, np.inf, np.nan):
        mixture = Mixture(loss=Loss("mine", function=partial(alike, size=size)))
        ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
        with pytest.raises(ValueError, match=r"a finite number within ±1e\+200"):
            mixture.update(ticket, 0.0)
        assert ticket in mixture.pending
    for slope in (np.nan, np.inf, 1e101):
        own = Loss("mine", function=lambda x, y: (x - y) ** 2, slope=lambda *_, s=slope: s)
        mixture = Mixture(loss=own)
        ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
        with pytest.raises(ValueError, match="the slope of loss mine must be a finite number"):
            mixture.update(ticket, 0.0)


def test_names_tuned_by_the_number_of_experts() -> None:
    table = wide(30)
    result = blend(pa.table(table), "y", ["gam", "ar", "naive"], hedger="hedge", include="mean")
    assert result.mixture.recipe.hedger == named("hedge", 4, alpha=0.05)
    long = pd.DataFrame(table).melt(
        ["ds", "unique_id", "y"], var_name="model", value_name="forecast"
    )
    for models in (long, long.astype({"model": "category"})):
        again = blend(models, "y", by="unique_id", hedger="fixed-share", include=iter(["mean"]))
        assert again.mixture.recipe.hedger == named("fixed-share", 4, alpha=0.05)
        assert again.mixture.names == ["(mean)", *dict.fromkeys(long.model)]
    with pytest.raises(ValueError, match="hedge needs n_experts, as in hedge:n_experts="):
        Mixture("hedge")
    with pytest.raises(ValueError, match="hedge-fixed needs eta"):
        blend(pa.table(table), "y", hedger="hedge-fixed")
    assert Mixture("normal-hedge:memory=50").recipe.hedger == NormalHedge(memory=50)
    assert Mixture("squint:alpha=0").recipe.hedger == named("squint", alpha=0.0)


def test_memory_and_half_life() -> None:
    assert Mixture(memory=50).recipe == Mixture(NormalHedge(memory=50)).recipe
    assert Mixture(half_life=10).recipe == Mixture(NormalHedge(half_life=10)).recipe
    rule = Mixture("squint", memory=50).recipe.hedger
    assert rule == Mixture("squint:alpha=0.02").recipe.hedger
    for options, error, match in (
        ({"memory": 5, "half_life": 5}, TypeError, "not both"),
        ({"hedger": "auto", "memory": 5}, ValueError, "auto hedges over many"),
        ({"hedger": NormalHedge(memory=5), "memory": 5}, TypeError, "give it to NormalHedge"),
        ({"hedger": "squint:memory=5", "half_life": 5}, ValueError, "given twice"),
        ({"memory": 0.5}, ValueError, "memory"),
    ):
        with pytest.raises(error, match=match):
            Mixture(**options)


def test_scores_that_people_know() -> None:
    for score, loss in (("mae", "absolute"), ("MSE", "square"), ("rmse", "square")):
        assert Mixture(loss=score).recipe == Mixture(loss=loss).recipe
