"""Classes with names: in forecasts, predictions, outcomes, files and streams."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.mixtures.losses import Brier
from normalhedge.mixtures.streams import Stream
from normalhedge.service._past import losses_of

GAM, AR = {"calm": 0.7, "outage": 0.3}, {"outage": 0.5, "calm": 0.5}


def learned(hedger: str | None = None, rounds: int = 10) -> Mixture:
    mixture = Mixture(hedger, loss="brier")
    for t in range(rounds):
        made = mixture.predict({"gam": GAM, "ar": AR})
        mixture.update(made.ticket, "calm" if t % 3 else "outage")
    return mixture


@pytest.mark.parametrize("hedger", [None, "squint", "auto:inside=true"])
def test_names_are_numbers_with_names(hedger: str | None) -> None:
    mixture, plain = learned(hedger), Mixture(hedger, loss="brier")
    for t in range(10):
        made = plain.predict({"gam": [0.7, 0.3], "ar": [0.5, 0.5]})
        plain.update(made.ticket, 0 if t % 3 else 1)
    value = mixture.predict({"ar": AR, "gam": dict(reversed(GAM.items()))}).value
    expected = plain.predict({"ar": [0.5, 0.5], "gam": [0.7, 0.3]}).value
    assert list(value) == ["calm", "outage"]
    np.testing.assert_array_equal(list(value.values()), expected)
    assert mixture.next_weights() == plain.next_weights()


def test_the_order_of_names_does_not_matter() -> None:
    one, other = Mixture(loss="brier"), Mixture(loss="brier")
    forward, backward = ({"a": 0.2, "b": 0.8}, {"b": 0.8, "a": 0.2})
    assert one.predict({"x": forward}).value == other.predict({"x": backward}).value
    assert one.live.classes == other.live.classes == ["a", "b"]


def test_items_have_mappings_each() -> None:
    mixture = Mixture(loss="log")
    made = mixture.predict({"gam": {"n": GAM, "s": AR, "w": None}, "ar": {"n": AR, "s": GAM}})
    assert made.value["n"] == {
        "calm": pytest.approx(0.6, abs=0.01),
        "outage": pytest.approx(0.4, abs=0.01),
    }
    assert made.value["w"] is None
    with pytest.raises(ValueError, match="outcome must be one of the classes calm, outage, got 1"):
        mixture.update(made.ticket, {"n": 1, "s": "calm"})
    mixture.update(made.ticket, {"n": "calm", "s": None})
    assert mixture.predict({"gam": None}).value is None


def test_names_stay_with_a_mixture(tmp_path: Path) -> None:
    mixture = learned()
    mixture.save(tmp_path / "state.json")
    copies = [
        Mixture.load(tmp_path / "state.json"),
        pickle.loads(pickle.dumps(mixture)),
        copy.copy(mixture),
    ]
    expected = mixture.peek({"gam": GAM}).value
    for other in copies:
        assert other.predict({"gam": GAM}).value == expected
        other.update(other.next_ticket - 1, "outage")


def test_an_outcome_is_corrected_by_name() -> None:
    mixture, right = learned(rounds=4), learned(rounds=3)
    mixture.correct(3, "calm")
    right.update(right.predict({"gam": GAM, "ar": AR}).ticket, "calm")
    assert (
        mixture.predict({"gam": GAM, "ar": AR}).value == right.predict({"gam": GAM, "ar": AR}).value
    )


WRONG: dict[str, tuple[Any, str]] = {
    "unknown": ({"calm": 0.5, "fog": 0.5}, "have the class 'fog', which is none of calm, outage"),
    "missing": ({"calm": 1.0}, "lack the class 'outage'"),
    "a sequence": ([0.5, 0.5], "must be a mapping of the classes calm, outage"),
    "a number": (0.5, "must be a mapping of the classes calm, outage"),
    "too much": ({"calm": 0.5, "outage": 0.7}, "probabilities that sum to one"),
    "negative": ({"calm": -0.5, "outage": 1.5}, "probabilities that sum to one"),
    "text": ({"calm": "x", "outage": 1.5}, "must be numbers, got 'x'|must be a mapping of the cl"),
    "a truth": ({True: 0.4, "calm": 0.6}, "names of classes must be strings, got True"),
}


@pytest.mark.parametrize(("forecast", "word"), WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("alone", [True, False])
def test_other_forms_are_refused(forecast: Any, word: str, alone: bool) -> None:
    mixture = learned()
    before = mixture.live.version
    told = {"ar": forecast} if alone else {"gam": GAM, "ar": forecast}
    with pytest.raises((ValueError, TypeError), match=word):
        mixture.predict(told)
    assert mixture.live.version == before


def test_first_rounds_that_are_refused() -> None:
    mixture = Mixture(loss="log")
    for told, word in (
        ({"a": {"calm": 1.0}}, "two classes or more, got 'calm' alone"),
        ({"a": {"calm": 0.4, "x": 0.6}, "b": [0.5, 0.5]}, "must be a mapping of the classes"),
        ({"a": {"calm": 0.4, "x": 0.6}, "b": {"calm": 1.0}}, "lack the class 'x'"),
    ):
        with pytest.raises((ValueError, TypeError), match=word):
            mixture.predict(told)
    assert mixture.live.classes == []
    mixture.predict({"a": [0.4, 0.6]})
    with pytest.raises(ValueError, match="have the class 'calm', which is none of 0, 1"):
        mixture.predict({"a": {"calm": 0.4, "x": 0.6}})


@pytest.mark.parametrize("outcome", ["fog", 0, True, 1.0, ["calm"]])
def test_outcomes_of_no_class_are_refused(outcome: Any) -> None:
    mixture = learned()
    made = mixture.predict({"gam": GAM})
    before = mixture.live.version
    with pytest.raises(ValueError, match="outcome must be one of the classes calm, outage, got"):
        mixture.update(made.ticket, outcome)
    assert mixture.live.version == before


def test_a_stream_and_the_past_of_the_service() -> None:
    stream = Stream(Mixture(loss="brier"))
    lines = [{"forecasts": {"gam": GAM, "ar": AR}}, {"ticket": 0, "outcome": "calm"}]
    first, second = stream.answers(map(json.dumps, lines))
    assert first["prediction"].keys() == {"calm", "outage"}
    assert second["settled"] == 0
    told = {"forecasts": {"gam": GAM, "ar": AR}, "prediction": GAM, "outcome": "calm"}
    assert losses_of(told, Brier())["loss"] == pytest.approx(0.18)


def test_classes_that_are_taken_for_items_are_told() -> None:
    mixture = Mixture()
    made = mixture.predict({"a": {"calm": 0.7, "outage": 0.3}, "b": {"calm": 0.6, "outage": 0.4}})
    with pytest.raises(TypeError, match=r"calm is one of several items here.*loss='brier'"):
        mixture.update(made.ticket, "calm")
    assert mixture.pending
