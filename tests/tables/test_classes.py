"""Tables of class probabilities: columns of classes, and probabilities of one event."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from tests.cli.command import call

RNG = np.random.default_rng(1)
ODDS = 1.5 * RNG.normal(size=120)
RAINED = RNG.random(120) < 1.0 / (1.0 + np.exp(-ODDS))
HONEST = 1.0 / (1.0 + np.exp(-ODDS))
BOLD = 1.0 / (1.0 + np.exp(-4.0 * ODDS))
WIDE = pd.DataFrame({"day": range(120), "rained": RAINED, "honest": HONEST, "bold": BOLD})
NAMES = ["honest", "bold"]
LONG = pd.concat(
    [
        pd.DataFrame(
            {
                "day": range(120),
                "model": name,
                "sky": np.where(RAINED, "rain", "dry"),
                "p_dry": 1.0 - p,
                "p_rain": p,
            }
        )
        for name, p in (("honest", HONEST), ("bold", BOLD))
    ]
)


def test_a_proper_loss_is_the_default() -> None:
    """L1 follows the overconfident expert, the Brier loss the honest one."""
    found = blend(LONG, "sky", time="day", classes=["p_dry", "p_rain"], hedger="squint")
    assert found.mixture.settings.loss.name == "brier"
    weights = dict(zip(found.mixture.names, found.mixture.weights[0], strict=True))
    assert weights["honest"] > 0.5
    other = blend(LONG, "sky", time="day", classes=["p_dry", "p_rain"], hedger="squint", loss="l1")
    weights = dict(zip(other.mixture.names, other.mixture.weights[0], strict=True))
    assert weights["bold"] > 0.5


FORMS: dict[str, Any] = {
    "booleans": (RAINED, {}),
    "0 and 1": (RAINED.astype(int), {"loss": "brier"}),
    "floats": (RAINED.astype(float), {"loss": "brier"}),
    "yes and no": (np.where(RAINED, "Yes", "No"), {}),
    "two texts": (np.where(RAINED, "rain", "dry"), {"classes": ["dry", "rain"]}),
    "two texts and a loss": (
        np.where(RAINED, "rain", "dry"),
        {"classes": ["dry", "rain"], "loss": "brier"},
    ),
}


@pytest.mark.parametrize(("outcomes", "options"), FORMS.values(), ids=FORMS.keys())
def test_probabilities_of_one_event(outcomes: Any, options: dict[str, Any]) -> None:
    """They are the probabilities of two classes."""
    found = blend(WIDE.assign(rained=outcomes), "rained", NAMES, **options)
    both = blend(LONG, "sky", time="day", classes=["p_dry", "p_rain"])
    np.testing.assert_allclose(found.frame["blend"], both.frame["blend_p_rain"], rtol=1e-12)
    assert list(found.frame.columns) == ["rained", "blend"]
    assert found.frame["rained"].tolist() == list(outcomes)
    assert found.summary().comparison.lines


def test_each_expert_alone_is_its_own_blend() -> None:
    found = blend(WIDE, "rained", ["honest"], hedger="squint")
    np.testing.assert_allclose(found.frame["blend"], HONEST)


def test_long_tables_of_one_event() -> None:
    long = LONG.assign(rained=LONG["sky"] == "rain")
    found = blend(long, "rained", time="day", model="model", forecast="p_rain", loss="log")
    wide = blend(WIDE, "rained", NAMES, loss="log")
    np.testing.assert_allclose(found.frame["blend"], wide.frame["blend"], rtol=1e-12)


def test_the_classes_of_a_long_table_are_found() -> None:
    found = blend(LONG, "sky", time="day")
    given = blend(LONG, "sky", time="day", classes=["p_dry", "p_rain"])
    assert "classes: p_dry, p_rain" in found.notes
    pd.testing.assert_frame_equal(found.frame, given.frame)


def test_the_classes_do_not_depend_on_later_rows() -> None:
    """While only one class has happened, there are as many as columns."""
    dry = LONG[(LONG["sky"] == "dry") | (LONG["day"] > 60)]
    early = dry[dry["day"] <= 60]
    whole, part = (blend(table, "sky", time="day").frame for table in (dry, early))
    np.testing.assert_array_equal(
        whole["blend_p_rain"].to_numpy()[: len(part)], part["blend_p_rain"].to_numpy()
    )


def test_the_next_days_and_a_later_table() -> None:
    texts = WIDE.assign(rained=np.where(RAINED, "yes", "no"))
    first = blend(texts[:80], "rained", NAMES, time="day")
    ahead = first.predict(texts[80:90].drop(columns="rained"))
    later = blend(texts[80:], "rained", NAMES, time="day", mixture=first.mixture)
    whole = blend(texts, "rained", NAMES, time="day")
    np.testing.assert_allclose(ahead["blend"].iloc[0], whole.frame["blend"].iloc[80])
    np.testing.assert_array_equal(later.frame["blend"], whole.frame["blend"][80:])


def test_rows_that_wait() -> None:
    waiting = WIDE.astype({"rained": object})
    waiting.loc[100:, "rained"] = None
    first = blend(waiting, "rained", NAMES, time="day", loss="brier")
    later = blend(WIDE[100:], "rained", NAMES, time="day", mixture=first.mixture)
    np.testing.assert_array_equal(later.frame["blend"], first.frame["blend"][100:])


WRONG: dict[str, Any] = {
    "two texts alone": (
        {"rained": np.where(RAINED, "rain", "dry")},
        {},
        "holds the texts 'dry' and 'rain': if the forecasts are probabilities of one of them, name",
    ),
    "two texts": (
        {"rained": np.where(RAINED, "rain", "dry")},
        {"loss": "log"},
        "name its two texts with classes",
    ),
    "another text": (
        {"rained": np.where(RAINED, "rain", "dry")},
        {"classes": ["dry", "snow"]},
        "has the label 'rain', which is not one of dry, snow",
    ),
    "no columns": (
        {"rained": RAINED.astype(int)},
        {"classes": ["dry", "rain"]},
        "classes must name columns of probabilities",
    ),
    "no probabilities": (
        {"honest": 100.0 * HONEST},
        {},
        "forecasts of honest must be probabilities between 0 and 1, one is",
    ),
    "counts": ({"rained": 2 * RAINED}, {"loss": "brier"}, "must hold classes in 0..1"),
}


@pytest.mark.parametrize(("columns", "options", "word"), WRONG.values(), ids=WRONG.keys())
def test_what_is_no_event_is_refused(
    columns: dict[str, Any], options: dict[str, Any], word: str
) -> None:
    with pytest.raises(ValueError, match=word):
        blend(WIDE.assign(**columns), "rained", NAMES, **options)


def test_what_is_no_table_of_classes_is_refused() -> None:
    for table, word in (
        (LONG.assign(p_dry=0.9), "sum to one: see the columns p_dry, p_rain"),
        (
            LONG.assign(lead=3, sky=LONG["sky"].map("p_{}".format)),
            "see the columns p_dry, p_rain, lead, or name others",
        ),
        (LONG.replace("dry", "fog"), "column sky has 'fog', and none of the columns"),
    ):
        with pytest.raises(ValueError, match=word):
            blend(table, "sky", time="day")
    with pytest.raises(ValueError, match="has the label 'rain', which is not one of dry"):
        blend(LONG, "sky", time="day", classes=["p_dry"])


def test_a_mixture_that_names_its_classes() -> None:
    mixture = Mixture(loss="brier")
    made = mixture.predict({"bold": {"rain": 0.5, "dry": 0.5}})
    mixture.update(made.ticket, "dry")
    before = mixture.rounds
    with pytest.raises(ValueError, match="classes of the mixture are dry, rain"):
        blend(LONG, "sky", time="day", classes=["p_rain", "p_dry"], mixture=mixture)
    assert mixture.rounds == before
    found = blend(LONG, "sky", time="day", classes=["p_dry", "p_rain"], mixture=mixture)
    assert found.mixture.peek({"bold": {"dry": 0.1, "rain": 0.9}}).value.keys() == {"dry", "rain"}


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    LONG.to_csv(tmp_path / "sky.csv", index=False)
    WIDE.assign(rained=RAINED.astype(int)).to_csv(tmp_path / "rain.csv", index=False)
    out, words = tmp_path / "out.csv", ["--out", str(tmp_path / "out.csv")]
    for more, loss, column in (
        (["sky.csv", "--target", "sky", "--time", "day", "--classes", "p_dry,p_rain"], "brier", 3),
        (["sky.csv", "--target", "sky", "--time", "day"], "brier", 3),
        (["rain.csv", "--target", "rained", "--time", "day", "--loss", "log"], "log", 2),
    ):
        path = str(tmp_path / more[0])
        code, printed, errors = call(capsys, "blend", path, *more[1:], *words)
        assert code == 0, errors
        assert f"loss {loss}" in printed + errors
        blended = pd.read_csv(out).iloc[:, column]
        assert blended.between(0.0, 1.0).all()
        assert (blended[60:] > 0.5).sum() > 10
