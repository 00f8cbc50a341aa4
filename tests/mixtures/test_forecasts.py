"""The forms of forecasts, confidences and outcomes, good and bad."""

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from tests.mixtures.examples import NAMES, experts
from tests.rules import SINGLE, either


@either
def test_words_are_no_numbers_at_any_time(hedger: str | None) -> None:
    mixture = Mixture(hedger)
    for _ in range(2):
        with pytest.raises(TypeError, match="must be numbers"):
            mixture.predict({"a": "1", "b": 2.0})
        mixture.predict({"a": 1.0, "b": 2.0})


@either
def test_confidence(hedger: str | None) -> None:
    mixture = Mixture(hedger or "auto:inside=true")
    made = mixture.predict({"a": 1.0, "b": 2.0}, confidence={"b": 0.5})
    assert made.weights == {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)}
    mixture.update(made.ticket, 1.0)
    assert mixture.predict({"a": 1.0, "b": 2.0}, confidence={"a": 0.0}).value == 2.0
    with pytest.raises(ValueError, match="confidence of 'a' must be in"):
        mixture.predict({"a": 1.0, "b": 2.0}, confidence={"a": 1.5})
    with pytest.raises(ValueError, match="'z', which is not an expert"):
        mixture.predict({"a": 1.0, "b": 2.0}, confidence={"z": 0.5})


@either
def test_infinite_forecasts_sleep_and_are_told_once(hedger: str | None) -> None:
    mixture = Mixture(hedger)
    with pytest.warns(RuntimeWarning, match="infinite forecasts count as missing"):
        assert mixture.predict({"a": 1.0, "b": math.inf}).value == 1.0
    assert mixture.predict({"a": 2.0, "b": -math.inf}).value == 2.0  # warnings are errors here


@either
def test_vectors_with_shared_and_with_own_weights(hedger: str | None) -> None:
    forecasts, y = experts(80, np.random.default_rng(6), rows=2)
    shared, own = Mixture(hedger), Mixture(hedger, shared=False)
    alone = [Mixture(hedger), Mixture(hedger)]
    for mixture in (shared, own, *alone):
        mixture.join(NAMES)
    for round_, outcome in zip(forecasts, y, strict=True):
        said = {name: round_[:, i] for i, name in enumerate(NAMES)}
        for mixture in (shared, own):
            made = mixture.predict(said)
            mixture.update(made.ticket, outcome)
        for k, mixture in enumerate(alone):
            single = mixture.predict({name: value[k] for name, value in said.items()})
            mixture.update(single.ticket, float(outcome[k]))
            expected = math.nan if single.value is None else single.value
            assert made.value[k] == expected or math.isnan(made.value[k])
    assert (own.weights == np.concatenate([m.weights for m in alone])).all()
    # By default, there is a game for each item beside the one that they share.
    assert shared.weights.shape == (1 if hedger == SINGLE else 3, 4)


@either
def test_mappings_and_partly_known_outcomes(hedger: str | None) -> None:
    mixture = Mixture(hedger, "absolute")
    made = mixture.predict({"a": {"DE": 1.0, "FR": 2.0}, "b": {"FR": 4.0, "IT": 5.0}})
    assert made.value == {"DE": 1.0, "FR": 3.0, "IT": 5.0}
    assert made.weights["b"] == {"DE": 0.0, "FR": 0.5, "IT": 1.0}
    with pytest.raises(ValueError, match="'ES', which was not forecast"):
        mixture.update(made.ticket, {"ES": 1.0})
    mixture.update(made.ticket, {"FR": 2.0})
    good, bad = mixture.state().weights
    assert good > bad
    assert mixture.items == ["DE", "FR", "IT"]


@either
@pytest.mark.parametrize(
    ("loss", "said", "word"),
    [
        ("square", {}, "must name at least one expert"),
        ("square", [1.0, 2.0], "must be a mapping"),
        ("square", {"a": "x"}, "must be numbers"),
        ("square", {"a": 1.0, "b": [1.0, 2.0]}, "all be of one form"),
        ("square", {"a": [1.0], "b": [1.0, 2.0]}, "all be of one form"),
        ("square", {"a": [[1.0]]}, "must be a number or a sequence"),
        ("square", {1: 2.0}, "names of experts must be strings"),
        ("l1", {"a": [0.5, 0.6]}, "sum to one"),
        ("l1", {"a": [1.5, -0.5]}, "sum to one"),
        ("l1", {"a": 0.5}, "must be class probabilities"),
        ("l1", {"a": [0.5, 0.5], "b": [0.2, 0.3, 0.5]}, "must have 3 class probabilities"),
    ],
)
def test_bad_forecasts_are_a_sentence(loss: str, said: Any, word: str, hedger: str | None) -> None:
    mixture = Mixture(hedger, loss)
    with pytest.raises((ValueError, TypeError), match=word):
        mixture.predict(said)
    assert mixture.names == []
    assert mixture.rounds == 0


@either
@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (math.nan, "must be known"),
        (None, "must be known"),
        (math.inf, "must be finite"),
        ("1", "must be a number"),
        ([1.0], "must be a number"),
        (True, "must be a number"),
    ],
)
def test_bad_outcomes_are_a_sentence(outcome: Any, word: str, hedger: str | None) -> None:
    mixture = Mixture(hedger)
    ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
    with pytest.raises((ValueError, TypeError), match=word):
        mixture.update(ticket, outcome)
    mixture.update(ticket, 1.0)  # it is still there
    classes = Mixture(hedger, "l1")
    ticket = classes.predict({"a": [0.5, 0.5]}).ticket
    with pytest.raises(ValueError, match=r"must be a class in 0\.\.1"):
        classes.update(ticket, 2)


@pytest.mark.parametrize("said", [{"a": {}}, {"a": {}, "b": None}, {"a": {}, "b": {}}])
def test_a_round_without_items_is_refused(said: dict[str, Any]) -> None:
    mixture = Mixture()
    mixture.predict({"a": {"x": 1.0}})
    with pytest.raises(ValueError, match="at least one item"):
        mixture.predict(said)
    assert mixture.rounds == 1
    mixture.predict({"a": {}, "b": {"x": 2.0}})


@either
@pytest.mark.parametrize("loss", ["log", "l1", "zero-one-classes"])
def test_one_class_is_refused(loss: str, hedger: str | None) -> None:
    mixture = Mixture(hedger, loss)
    with pytest.raises(ValueError, match="two class probabilities or more, got 1"):
        mixture.predict({"a": [1.0], "b": [1.0]})
    assert mixture.names == []
    made = mixture.predict({"a": None, "b": None})  # nobody is awake: of how many is not known
    mixture.update(made.ticket, 2)


def test_forecasts_of_other_kinds() -> None:
    mixture = Mixture()
    with pytest.raises(TypeError, match="forecasts of 'a' must be numbers"):
        mixture.predict({"a": Decimal(1)})
    with pytest.raises(ValueError, match="forecasts of 'a' must be numbers that a float can hold"):
        mixture.predict({"a": 10**400, "b": 1})
    with pytest.raises(KeyError, match="never given out"):
        mixture.update([], 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "form", [int, np.float64, np.float32, np.array, lambda x: np.array([x])[0]]
)
def test_items_by_name_are_read_alike_in_every_form(form: Any) -> None:
    said = {"a": {"x": 1.0, "y": 2.0}, "b": {"y": 4.0, "x": 3.0, "z": 5.0}, "c": {"x": math.nan}}
    other = {
        name: {key: None if math.isnan(x) else form(x) for key, x in cells.items()}
        for name, cells in said.items()
    }
    one, two = Mixture(), Mixture()
    for _ in range(3):
        ours, theirs = one.predict(said), two.predict(other)
        assert ours.value == theirs.value
        assert list(ours.value) == ["x", "y", "z"]
        one.update(ours.ticket, {"x": 2.0, "z": 4.0})
        two.update(theirs.ticket, {"x": form(2.0) if form is int else 2.0, "z": 4.0})
