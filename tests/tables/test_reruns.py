"""The same table again: the same forecasts, nothing learned twice, and the same state."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.state._table_facts import TableFacts
from normalhedge.tables.frames import WholeTable
from tests.rules import either
from tests.tables.examples import values, wide
from tests.torture.snapshot import difference, snapshot


@either
@pytest.mark.parametrize("lag", [0, 3])
def test_the_same_table_twice_is_the_same_table_once(
    hedger: str | None, lag: int, tmp_path: Path
) -> None:
    table = pd.DataFrame(wide(series=2))
    once = blend(table, "y", lag=lag, hedger=hedger)
    before = snapshot(once.mixture)
    first = values(once)
    once.mixture.save(tmp_path / "m.json")
    for mixture in (once.mixture, Mixture.load(tmp_path / "m.json")):
        twice = blend(table, "y", lag=lag, mixture=mixture)
        np.testing.assert_array_equal(values(twice), first)
        assert difference(snapshot(twice.mixture), before) is None
        shuffled = table.sample(frac=1.0, random_state=0)
        again = blend(shuffled, "y", lag=lag, mixture=mixture)
        np.testing.assert_allclose(values(again), first[shuffled.index], rtol=1e-12)
        assert mixture.rounds == before["rounds"]


@either
def test_the_second_of_two_tables_can_be_repeated(hedger: str | None, tmp_path: Path) -> None:
    table = pd.DataFrame(wide(series=2))
    mixture = blend(table.head(100), "y", hedger=hedger).mixture
    rest = table.iloc[100:]
    first = values(blend(rest, "y", mixture=mixture))
    before = snapshot(mixture)
    mixture.save(tmp_path / "m.json")
    mixture = Mixture.load(tmp_path / "m.json")
    np.testing.assert_array_equal(values(blend(rest, "y", mixture=mixture)), first)
    assert difference(snapshot(mixture), before) is None


@either
def test_a_daily_job_with_a_growing_table_is_one_blend(hedger: str | None) -> None:
    """Each day one outcome more is known, and the last rows are forecasts that are revised."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(wide(asleep=0.0))
    mixture = None
    for today in range(60, 80):
        rows = table.head(today + 7).copy()
        rows.loc[today:, "y"] = np.nan
        rows.loc[today:, ["gam", "ar"]] += rng.normal(size=(7, 2))
        options = {"hedger": hedger} if mixture is None else {"mixture": mixture}
        found = blend(rows, "y", **options)  # type: ignore[arg-type]
        mixture = found.mixture
        fresh = blend(rows, "y", hedger=hedger)
        np.testing.assert_array_equal(values(found), values(fresh))
        assert difference(snapshot(mixture), snapshot(fresh.mixture)) is None
        assert any("7 rows at the end without an outcome" in note for note in found.notes)


@either
def test_pending_rows_keep_their_forecasts(hedger: str | None) -> None:
    """New rows only, each day: a row that waits gets the forecast that was made for it."""
    table = pd.DataFrame(wide(asleep=0.0))
    first = table.head(65).copy()
    first.loc[60:, "y"] = np.nan
    found = blend(first, "y", hedger=hedger)
    said = values(found)
    second = table.iloc[60:70].copy()
    second.loc[61:, "y"] = np.nan
    later = blend(second, "y", mixture=found.mixture)
    assert later.frame.index.size == 10
    np.testing.assert_array_equal(values(later)[:5], said[60:])
    assert "5 rows were blended before: 1 outcome filled in, 5 kept the forecast" in later.notes[-2]


def test_another_value_is_another_table() -> None:
    table = pd.DataFrame(wide(series=2))
    mixture = blend(table, "y").mixture
    for column in ("y", "gam"):
        other = table.copy()
        other.loc[17, column] = 0.125
        before = snapshot(mixture)
        found = blend(other, "y", mixture=mixture)
        assert len(found.frame) == 0
        assert "240 rows were blended before" in found.notes[-1]
        assert difference(snapshot(mixture), before) is None


def test_a_mixture_that_was_used_since_does_not_go_back() -> None:
    table = pd.DataFrame(wide())
    mixture = blend(table, "y").mixture
    mixture.update(mixture.predict({"gam": 1.0, "ar": 2.0, "naive": 3.0}).ticket, 1.0)
    rounds = mixture.rounds
    assert len(blend(table, "y", mixture=mixture).frame) == 0
    assert mixture.rounds == rounds


def test_without_times_the_same_rows_are_recognised_unless_they_are_few() -> None:
    table = pd.DataFrame(wide()).drop(columns=["ds"])
    mixture = blend(table, "y").mixture
    before, rounds = snapshot(mixture), mixture.rounds
    blend(table, "y", mixture=mixture)
    assert difference(snapshot(mixture), before) is None
    blend(table.head(5), "y", mixture=mixture)
    blend(table.head(5), "y", mixture=mixture)
    assert mixture.rounds == rounds + 10


@pytest.mark.parametrize("change", ["retire", "leave", "rename", "inherit"])
def test_a_change_of_experts_is_not_undone_by_the_next_run(change: str) -> None:
    table = pd.DataFrame(wide(asleep=0.0))
    mixture = blend(table.head(80), "y").mixture
    experts = {"rename": ("gam", "gam_v2"), "inherit": ("gam_v2", "gam")}.get(change, ("gam",))
    getattr(mixture, change)(*experts)
    names, retired = mixture.names, mixture.retired
    found = blend(table.head(90), "y", mixture=mixture)
    assert mixture.names[: len(names)] == names
    assert mixture.retired == retired
    assert len(found.frame) == 10


@either
def test_a_growing_table_of_steps_is_one_blend_though_some_steps_are_missing(
    hedger: str | None,
) -> None:
    """A step that is not there moves the outcomes of its cutoff to later times."""
    rng = np.random.default_rng(0)
    rows = [
        {"cutoff": t, "ds": t + h, "y": rng.normal(), "a": rng.normal(), "b": rng.normal()}
        for t in range(20) for h in (1, 2, 3) if (t, h) not in {(6, 1), (6, 2), (9, 1)}
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table["y"] = table["ds"].map(table.groupby("ds")["y"].first())
    mixture = None
    for today in range(5, 20):
        known = table[table["cutoff"] <= today].copy()
        known["y"] = known["y"].where(known["ds"] <= today)
        options = {"hedger": hedger} if mixture is None else {"mixture": mixture}
        found = blend(known, pooled=False, **options)  # type: ignore[arg-type]
        mixture = found.mixture
        fresh = blend(known, pooled=False, hedger=hedger)
        np.testing.assert_array_equal(values(found), values(fresh))
        assert difference(snapshot(mixture), snapshot(fresh.mixture)) is None


def test_a_growing_table_of_steps_may_have_all_its_outcomes() -> None:
    """The outcomes of new rows may be older than the outcomes of the last table."""
    rng = np.random.default_rng(0)
    rows = [
        {"cutoff": t, "ds": t + h, "y": np.sin(t + h), "a": rng.normal(), "b": rng.normal()}
        for t in range(20) for h in (1, 2, 3) if (t, h) not in {(9, 1), (9, 2), (12, 1)}
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    mixture = blend(table[table["cutoff"] < 10], pooled=False).mixture
    for today in range(10, 20):
        known = table[table["cutoff"] <= today]
        found = blend(known, pooled=False, mixture=mixture)
        fresh = blend(known, pooled=False)
        np.testing.assert_array_equal(values(found), values(fresh))
        assert difference(snapshot(mixture), snapshot(fresh.mixture)) is None


def test_a_part_of_a_larger_table_has_the_same_numbers_and_is_not_remembered() -> None:
    table = pd.DataFrame(wide(series=2))
    whole, part = blend(table, "y"), blend(table, "y", whole=WholeTable())
    np.testing.assert_array_equal(values(part), values(whole))
    assert TableFacts.of(whole.mixture.live).last_table is not None
    assert TableFacts.of(part.mixture.live).last_table is None
