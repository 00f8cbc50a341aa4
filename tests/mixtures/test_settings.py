"""The settings of a mixture: defaults, plain combinations, names, and bad ones."""

from dataclasses import fields
from functools import partial
from inspect import getdoc, signature
from pathlib import Path
from re import MULTILINE, findall
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import Mixture, NormalHedge, blend
from normalhedge.hedgers import named
from normalhedge.mixtures import Loss, MixtureOptions, MixtureSettings
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.state._settings import OPTIONS
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
    assert Mixture().settings.hedger == Mixture("auto").settings.hedger == Automatic()
    assert Mixture(SINGLE).settings.hedger == NormalHedge(memory=20)
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
        assert Mixture(**one).settings.hedger == NormalHedge(memory=20)
    for one in options[:6]:
        with pytest.raises(ValueError, match=f"{next(iter(one))} belongs to a single rule"):
            Mixture("auto", **one)
    assert Mixture(include=[]).settings.hedger == Automatic()
    assert Mixture("auto:memory=30,guard=false").settings.hedger == Automatic(30, guard=False)


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
        ({"max_pending": 2**63}, "max_pending must be at most 9,223,372,036,854,775,807"),
        ({"history": 2**70}, "history must be at most"),
        ({"interval": 0.9, "season": 10**8}, "season must be at most 1,000,000, got 100000000"),
        ({"interval": 0.9, "season": 2**63}, "season must be at most 1,000,000"),
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
    assert result.mixture.settings.hedger == named("hedge", 4, alpha=0.05)
    long = pd.DataFrame(table).melt(
        ["ds", "unique_id", "y"], var_name="model", value_name="forecast"
    )
    for models in (long, long.astype({"model": "category"})):
        again = blend(models, "y", by="unique_id", hedger="fixed-share", include=iter(["mean"]))
        assert again.mixture.settings.hedger == named("fixed-share", 4, alpha=0.05)
        assert again.mixture.names == ["(mean)", *dict.fromkeys(long.model)]
    with pytest.raises(ValueError, match="hedge needs n_experts, as in hedge:n_experts="):
        Mixture("hedge")
    with pytest.raises(ValueError, match="hedge-fixed needs eta"):
        blend(pa.table(table), "y", hedger="hedge-fixed")
    assert Mixture("normal-hedge:memory=50").settings.hedger == NormalHedge(memory=50)
    assert Mixture("squint:alpha=0").settings.hedger == named("squint", alpha=0.0)


def test_memory_and_half_life() -> None:
    assert Mixture(memory=50).settings == Mixture(NormalHedge(memory=50)).settings
    assert Mixture(half_life=10).settings == Mixture(NormalHedge(half_life=10)).settings
    rule = Mixture("squint", memory=50).settings.hedger
    assert rule == Mixture("squint:alpha=0.02").settings.hedger
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
        assert Mixture(loss=score).settings == Mixture(loss=loss).settings


GIVEN: dict[str, Any] = {
    "hedger": "squint:alpha=0.25", "loss": "absolute", "combine": "mean", "gradient": False,
    "shared": False, "even": 0.25, "include": "mean", "max_pending": 7, "max_age": 8, "history": 9,
    "forget_after": 10, "max_names": 11, "interval": 0.5, "season": 3,
}  # fmt: skip
"""A value of each setting that is not its default."""


def test_every_option_is_an_argument_of_a_mixture_with_this_default() -> None:
    arguments = dict(signature(Mixture).parameters)
    assert {name: one.default for name, one in arguments.items()} == {
        name: option.default for name, option in OPTIONS.items()
    }
    given = get_type_hints(Mixture.__init__)
    del given["return"]
    assert given == get_type_hints(MixtureOptions)
    documented = getdoc(Mixture)
    assert documented is not None
    part = documented.partition("Parameters\n")[2].partition("\nNotes\n")[0]
    names = [name for line in findall(r"^\w[\w, ]*$", part, MULTILINE) for name in line.split(", ")]
    assert sorted(names) == sorted(OPTIONS)


def test_every_option_arrives_in_the_settings() -> None:
    assert GIVEN.keys() == {one.name for one in fields(MixtureSettings)}
    settings = Mixture(**GIVEN).settings
    for left_out in GIVEN:
        names = GIVEN.keys() - {left_out, "season" if left_out == "interval" else left_out}
        other = Mixture(**{name: GIVEN[name] for name in names}).settings
        assert getattr(other, left_out) != getattr(settings, left_out), left_out


def test_a_file_holds_every_setting(tmp_path: Path) -> None:
    mixture = Mixture(**GIVEN)
    mixture.save(tmp_path / "state.json")
    assert Mixture.load(tmp_path / "state.json").settings == mixture.settings


def test_unknown_options_and_the_former_name() -> None:
    with pytest.raises(TypeError, match="unknown setting 'hedgr': did you mean hedger"):
        MixtureSettings.of(hedgr="squint")  # type: ignore[call-arg]
    mixture = Mixture()
    with pytest.warns(DeprecationWarning, match="recipe is called settings"):
        assert mixture.recipe is mixture.settings
