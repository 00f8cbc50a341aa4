"""Life with models: peek, ids of one's own, rename, inherit and retire."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from tests.rules import either
from tests.torture.snapshot import difference, snapshot

FORECASTS = {"gbm": 1.0, "ar": 4.0, "naive": 9.0}


def learned(hedger: str | None = None, rounds: int = 40) -> Mixture:
    rng = np.random.default_rng(0)
    mixture = Mixture(hedger)
    for _ in range(rounds):
        y = float(rng.normal())
        forecasts = {"gbm": y + 0.1 * rng.normal(), "ar": y + 2.0, "naive": y + 5.0 * rng.normal()}
        mixture.update(mixture.predict(forecasts).ticket, y)
    return mixture


@either
def test_peek_is_predict_and_changes_nothing(hedger: str | None) -> None:
    mixture = learned(hedger)
    before = snapshot(mixture)
    for forecasts in (FORECASTS, {"gbm": 1.0}, {"gbm": 1.0, "new": 2.0}):
        seen = mixture.peek(forecasts, {"gbm": 0.5})
        assert difference(snapshot(mixture), before) is None
        made = learned(hedger).predict(forecasts, {"gbm": 0.5})
        assert (seen.value, seen.weights, seen.ticket) == (made.value, made.weights, -1)
    with pytest.raises(KeyError, match="never given out"):
        mixture.update(seen.ticket, 1.0)
    with pytest.raises(ValueError, match="at least one expert"):
        Mixture(hedger).peek({})


def test_ids_replace_tickets() -> None:
    mixture, plain = Mixture(), Mixture()
    for day in ("monday", "tuesday", 3):
        assert mixture.predict(FORECASTS, id=day).ticket == plain.predict(FORECASTS).ticket
    with pytest.raises(ValueError, match='id "monday" waits'):
        mixture.predict(FORECASTS, id="monday")
    mixture.update(outcome=2.0, id="tuesday")
    plain.update(1, 2.0)
    with pytest.raises(KeyError, match="no round with id 'tuesday' waits"):
        mixture.update(outcome=2.0, id="tuesday")
    mixture.correct(outcome=3.0, id="tuesday")
    plain.correct(1, 3.0)
    assert mixture.ids == {'"monday"': 0, "3": 2}
    one, two = snapshot(mixture), snapshot(plain)
    for part in (one, two):
        del part["ids"], part["pending"]
    assert difference(one, two) is None
    with pytest.raises(TypeError, match="the ticket or the id"):
        mixture.update(2, 1.0, id="x")
    with pytest.raises(KeyError, match="no round with id 'sunday' was predicted lately"):
        mixture.correct(id="sunday", outcome=1.0)


@either
def test_a_renamed_expert_keeps_everything(hedger: str | None) -> None:
    mixture, same = learned(hedger), learned(hedger)
    mixture.rename("gbm", "gradient boosting")
    assert mixture.names == ["gradient boosting", "ar", "naive"]
    new = mixture.predict({"gradient boosting": 1.0, "ar": 4.0, "naive": 9.0})
    old = same.predict(FORECASTS)
    assert new.value == old.value
    assert new.weights["gradient boosting"] == old.weights["gbm"]
    mixture.rename("gradient boosting", "gbm")
    assert difference(snapshot(mixture), snapshot(same)) is None
    for wrong, name, error, match in (
        ("nobody", "x", ValueError, "no expert 'nobody'"),
        ("ar", "naive", ValueError, "an expert 'naive' already"),
        ("ar", 3, TypeError, "must be strings"),
    ):
        with pytest.raises(error, match=match):
            mixture.rename(wrong, name)  # type: ignore[arg-type]
    assert difference(snapshot(mixture), snapshot(same)) is None


@pytest.mark.parametrize(
    "hedger", [None, "normal-hedge", "boa", "squint", "bates-granger", "ml-poly"]
)
def test_a_new_version_starts_where_the_old_one_stands(hedger: str | None) -> None:
    mixture, same = learned(hedger), learned(hedger)
    mixture.inherit("gbm_v2", "gbm")
    mixture.retire("gbm")
    new = mixture.predict({"gbm_v2": 1.0, "ar": 4.0, "naive": 9.0, "gbm": 1e6})
    old = same.predict(FORECASTS)
    assert new.weights["gbm"] == 0.0
    assert new.weights["gbm_v2"] == pytest.approx(old.weights["gbm"], rel=0.35)
    assert new.value == pytest.approx(old.value, abs=0.3)
    record = {row.name: row for row in mixture.summary().experts}
    assert record["gbm"].loss == {row.name: row for row in same.summary().experts}["gbm"].loss
    assert np.isnan(record["gbm_v2"].loss)


def test_inherit_and_retire_refuse_what_makes_no_sense() -> None:
    mixture = learned()
    before = snapshot(mixture)
    with pytest.raises(ValueError, match="no expert 'nobody'"):
        mixture.inherit("x", "nobody")
    with pytest.raises(ValueError, match="cannot inherit"):
        mixture.inherit("gbm", "gbm")
    with pytest.raises(ValueError, match="no expert 'nobody'"):
        mixture.retire("nobody")
    assert difference(snapshot(mixture), before) is None
    mixture.retire("gbm")
    mixture.retire("ar")
    with pytest.raises(ValueError, match="one expert stays"):
        mixture.retire("naive")


def test_retired_experts_stay_retired_in_files_and_tables(tmp_path: Path) -> None:
    mixture = learned()
    mixture.retire("naive")
    mixture.save(tmp_path / "m.json")
    loaded = Mixture.load(tmp_path / "m.json")
    assert loaded.predict(FORECASTS).weights == mixture.predict(FORECASTS).weights
    assert loaded.predict(FORECASTS).weights["naive"] == 0.0
    table = pa.table({"y": [0.0, 1.0]} | {name: [2.0, 3.0] for name in FORECASTS})
    result = blend(table, target="y", mixture=loaded, weights=True).frame
    assert result["weight_naive"].to_pylist() == [0.0, 0.0]
    loaded.leave("naive")
    assert loaded.predict(FORECASTS).weights["naive"] > 0.0


def test_a_correction_keeps_names_that_were_given_since() -> None:
    mixture, right = Mixture(), Mixture()
    for k in range(30):
        for one in (mixture, right):
            wrong = k == 20 and one is mixture
            one.update(one.predict({"a": 1.0 + k % 3, "b": 2.0}).ticket, 9.0 if wrong else 1.5)
            if k == 25:
                one.rename("a", "z")  # and another a joins with the next round
    mixture.correct(20, 1.5)
    assert mixture.names == right.names == ["z", "b", "a"]
    np.testing.assert_array_equal(mixture.weights, right.weights)
