"""Quantile forecasts of any layout: levels come from the data, and results look like the table."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures import crps, pinball
from normalhedge.tables import Blend
from tests.tables.quantile_examples import LEVELS, MODELS, as_long, as_nixtla, columns, wide


def numbers(result: Blend) -> np.ndarray:
    """Return the quantiles of a wide result."""
    return np.asarray(result.frame[columns()].to_numpy(), dtype=float)


def close(found: np.ndarray, wanted: np.ndarray) -> None:
    """Compare blends of experts that stand in another order: sums are rounded otherwise."""
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def as_wide(frame: pd.DataFrame, level: str = "level") -> np.ndarray:
    """Return the quantiles of a long result, sorted by time and series."""
    found = frame.pivot(index=["ds", "unique_id"], columns=level, values="value")
    return np.asarray(found.to_numpy(), dtype=float)


@pytest.mark.parametrize("hedger", [None, "squint"])
@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_one_series_is_a_loop_over_a_mixture_of_vectors(hedger: str | None, asleep: float) -> None:
    table = wide(asleep=asleep).drop(columns="unique_id")
    mixture = Mixture(hedger, crps(LEVELS))
    mixture.join(list(table.model.unique()))
    slow = []
    for _, rows in table.groupby("ds"):
        said = {
            row.model: [getattr(row, f"_{k + 3}") for k in range(5)]
            for row in rows.itertuples(False)
        }
        made = mixture.predict(said)
        slow.append(made.value)
        mixture.update(made.ticket, rows.y.iloc[0])
    found = blend(table, hedger=hedger)
    np.testing.assert_array_equal(numbers(found), np.array(slow))
    assert found.mixture.items == mixture.items
    live = {name: [0.0, 1.0, 2.0, 3.0, 4.0] for name in MODELS}
    assert list(found.mixture.predict(live).value) == list(mixture.predict(live).value)


@pytest.mark.parametrize("pooled", [None, True, False])
@pytest.mark.parametrize("level", ["level", "quantile", "output_type_id", "tau"])
def test_all_layouts_give_the_same_blend(level: str, pooled: bool | None) -> None:
    table = wide(series=2)
    first = blend(table, pooled=pooled)
    long = blend(as_long(table, level), pooled=pooled)
    close(as_wide(long.frame, level), numbers(first))
    assert set(long.frame.columns) == {"unique_id", "ds", "y", "model", level, "value"}
    assert set(long.frame.model) == set(first.frame.model) == {"blend"}
    nixtla = blend(as_nixtla(table), pooled=pooled).frame.sort_values(["ds", "unique_id"])
    assert list(nixtla)[3:] == ["blend", "blend-lo-50", "blend-lo-90", "blend-hi-50", "blend-hi-90"]
    own = nixtla[["blend-lo-90", "blend-lo-50", "blend", "blend-hi-50", "blend-hi-90"]]
    close(own.to_numpy(), numbers(first))


def test_levels_do_not_depend_on_the_order_of_rows_or_columns() -> None:
    table = wide(series=2)
    first = numbers(blend(table))
    backwards = table[[*list(table)[:4], *reversed(columns())]]
    np.testing.assert_array_equal(numbers(blend(backwards)), first)
    long = as_long(table)
    for seed in range(3):
        shuffled = long.sample(frac=1.0, random_state=seed)
        close(as_wide(blend(shuffled).frame), first)
    text = long.assign(level=long.level.map(lambda level: f"{level:.3f}"))
    close(as_wide(blend(text).frame), first)


@pytest.mark.parametrize(
    "names", [lambda x: f"P{100 * x:g}", lambda x: f"{x:g}", lambda x: f"Q_{x:g}"]
)
def test_columns_may_be_named_in_several_ways(names: Any) -> None:
    table = wide()
    renamed = table.rename(columns={f"q{level:g}": names(level) for level in LEVELS})
    found = blend(renamed)
    own = found.frame[[names(level) for level in LEVELS]].to_numpy()
    np.testing.assert_array_equal(own, numbers(blend(table)))
    odd = table.rename(columns={f"q{level:g}": f"c{k}" for k, level in enumerate(LEVELS)})
    levels = {f"c{k}": level for k, level in enumerate(LEVELS)}
    own = blend(odd, quantiles=levels).frame[list(levels)].to_numpy()
    np.testing.assert_array_equal(own, numbers(blend(table)))


def test_columns_of_models_and_levels() -> None:
    table = wide().drop(columns="unique_id")
    found = table.pivot(index=["ds", "y"], columns="model", values=columns())
    found.columns = pd.Index([f"{model}_{q}" for q, model in found.columns])
    result = blend(found.reset_index()).frame
    assert list(result)[2:] == [f"blend_{name}" for name in columns()]
    close(result.to_numpy()[:, 2:], numbers(blend(table)))


def test_other_kinds_of_tables_come_back_as_they_were() -> None:
    table = wide()
    found = blend(pl.from_pandas(table)).frame
    assert isinstance(found, pl.DataFrame)
    np.testing.assert_array_equal(found.select(columns()).to_numpy(), numbers(blend(table)))


def test_the_future_changes_no_quantile() -> None:
    table = wide(series=2)
    whole = numbers(blend(table, lag=2, pooled=True))
    part = numbers(blend(table[table.ds < 20], lag=2, pooled=True))
    np.testing.assert_array_equal(part, whole[: len(part)])
    changed = table.assign(y=table.y.where(table.ds < 17, 1e3))
    np.testing.assert_array_equal(numbers(blend(changed, lag=2, pooled=True))[:40], whole[:40])


@pytest.mark.parametrize("pooled", [True, False])
def test_a_table_continues_where_an_earlier_one_ended(pooled: bool) -> None:
    table = wide(series=3, asleep=0.1)
    whole = blend(table, pooled=pooled, lag=1)
    first = blend(table[table.ds < 20], pooled=pooled, lag=1)
    second = blend(table[table.ds >= 20], pooled=pooled, lag=1, mixture=first.mixture)
    np.testing.assert_array_equal(np.concatenate([numbers(first), numbers(second)]), numbers(whole))
    with pytest.raises(ValueError, match="the table must have the same"):
        blend(table.drop(columns="q0.5"), mixture=first.mixture)
    with pytest.raises(ValueError, match="but the mixture has none: its loss is square"):
        blend(table, mixture=Mixture(shared=pooled))


def test_a_series_that_joins_later_has_its_levels_in_order(tmp_path: Path) -> None:
    table = wide(series=3)
    table = table[(table.ds >= 20) | (table.unique_id != "s0")]
    whole = blend(table, pooled=False)
    first = blend(table[table.ds < 20], pooled=False)
    first.mixture.save(tmp_path / "mixture.json")
    kept = Mixture.load(tmp_path / "mixture.json")
    second = blend(table[table.ds >= 20], pooled=False, mixture=kept)
    key = ["ds", "unique_id"]
    parts = pd.concat([first.frame, second.frame]).sort_values(key, ignore_index=True)
    expected = whole.frame.sort_values(key, ignore_index=True)
    others = expected.unique_id != "s0"  # a series that joins starts from the weights of the others
    pd.testing.assert_frame_equal(parts[others], expected[others])
    assert not (np.diff(numbers(second), axis=1) < 0.0).any()
    assert "s0" in next(note for note in second.notes if "started from the pooled" in note)


@pytest.mark.parametrize("level", [0.1, 0.9])
def test_a_single_level_is_learned_as_that_level(level: float) -> None:
    long = as_long(wide(rounds=60)).query("level in (0.05, 0.95)").assign(level=level)
    long = long.assign(model=long.model + long.value.gt(long.y).astype(str))
    long = long.drop_duplicates(["ds", "model"])
    found = blend(long)
    assert found.mixture.settings.loss == crps([level])
    named = long.rename(columns={"value": f"q{level}"}).drop(columns="level")
    same = blend(named, quantiles=[f"q{level}"]).frame[f"q{level}"]
    np.testing.assert_array_equal(same, found.frame["value"])


def test_the_same_table_again_is_the_same_blend() -> None:
    table = wide(series=2)
    first = blend(table)
    rounds = first.mixture.rounds
    again = blend(table, mixture=first.mixture)
    assert again.mixture.rounds == rounds
    np.testing.assert_array_equal(numbers(again), numbers(first))
    assert str(again.summary()) == str(first.summary())


def test_nothing_new_has_no_scores() -> None:
    table = wide(series=2)
    first = blend(table[table.ds < 10])
    blend(table[table.ds >= 10], mixture=first.mixture)
    again = blend(table[table.ds < 10], mixture=first.mixture)
    assert np.isnan(again.summary().scores.wis[0])  # type: ignore[attr-defined]


@pytest.mark.parametrize("layout", ["long", "wide", "intervals"])
def test_the_future_of_quantiles(layout: str) -> None:
    table = wide(series=2)
    if layout == "long":
        table = as_long(table)
    elif layout == "intervals":
        table = as_nixtla(table)
    past = table.assign(y=table.y.where(table.ds < 35))
    expected = blend(past).frame
    found = blend(table[table.ds < 35])
    result = found.predict(table[table.ds >= 35].drop(columns="y"))
    expected = expected[expected.ds >= 35].drop(columns="y")
    key = ["ds", "unique_id"] + ["level"] * (layout == "long")
    one, other = (frame.sort_values(key, ignore_index=True) for frame in (result, expected))
    pd.testing.assert_frame_equal(one, other)
    with pytest.raises(ValueError, match=r"levels of the past|column"):
        found.predict(table[table.ds >= 35].iloc[:, :3])


def test_with_cutoffs_every_step_and_level_waits_for_its_own_outcome() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (cut, cut + h, np.sin(cut + h), model, *np.sort(rng.normal(size=5)))
        for cut in range(12)
        for h in (1, 2, 3)
        for model in MODELS
    ]
    table = pd.DataFrame(rows, columns=["cutoff", "ds", "y", "model", *columns()])
    found = blend(table)
    known = table.y.where(table.ds <= 8)
    early = blend(table.assign(y=known)[table.cutoff <= 8])
    same = found.frame[found.frame.cutoff <= 8]
    np.testing.assert_array_equal(numbers(early), same[columns()].to_numpy())
    # Outcomes that come later settle the rounds that waited for them, each at its level.
    later = blend(table[table.ds > 8], mixture=early.mixture)
    rest = found.frame[found.frame.ds > 8]
    np.testing.assert_array_equal(numbers(later), rest[columns()].to_numpy())


def test_the_dates_of_a_hub_are_known() -> None:
    table = wide(rounds=6).drop(columns="unique_id").rename(columns={"ds": "horizon", "y": "truth"})
    table = table.assign(
        reference_date=pd.Timestamp("2024-01-06"),
        target_end_date=pd.Timestamp("2024-01-06") + pd.to_timedelta(7 * table.horizon, "D"),
        location="06",
    )
    found = blend(table)
    assert "time: target_end_date" in found.notes
    assert "forecasts made at: reference_date" in found.notes
    assert len(found.frame) == 6


def test_rows_of_another_output_type_are_left_out() -> None:
    long = as_long(wide(), "output_type_id").assign(output_type="quantile")
    first = blend(long).frame
    text = long.assign(output_type_id=long.output_type_id.astype(str))
    mean = text[text.output_type_id == "0.5"].assign(output_type="mean", output_type_id=None)
    found = blend(pd.concat([text, mean]))
    assert "120 rows of another output_type left out" in found.notes
    np.testing.assert_array_equal(found.frame["value"], first["value"])
    with pytest.raises(ValueError, match="no quantile"):
        blend(long.assign(output_type="pmf"))


def test_a_column_of_the_median_comes_before_the_point_forecast() -> None:
    table = as_nixtla(wide())
    first = blend(table).frame
    named = table.rename(columns={"gam": "gam-median"})
    pd.testing.assert_frame_equal(blend(named).frame, first)
    pd.testing.assert_frame_equal(blend(named.assign(gam=1e6)).frame, first)


def test_only_the_models_asked_for_take_part() -> None:
    found = blend(as_nixtla(wide()), experts=["gam", "ar"])
    assert found.mixture.names == ["gam", "ar"]
    assert list(found.frame)[3:] == list(blend(as_nixtla(wide())).frame)[3:]
    assert blend(as_nixtla(wide()), experts=["gam", "gam-lo-90"]).mixture.names == ["gam"]


def test_the_names_of_other_tables_are_no_levels() -> None:
    table = pd.DataFrame({"y": [1.0, 2.0], "ridge_p1": [1.0, 2.0], "ridge_p2": [0.0, 1.0]})
    assert blend(table).mixture.names == ["ridge_p1", "ridge_p2"]
    table = pd.DataFrame({"y": [1.0, 2.0], "p1": [1.0, 2.0], "p2": [0.0, 1.0]})
    assert blend(table).mixture.names == ["p1", "p2"]
    long = pd.DataFrame({"t": [0, 0], "model": ["a", "b"], "level": ["state", "state"]})
    long = long.assign(y=1.0, forecast=[1.0, 2.0])
    assert blend(long).quantiles is None
    quarters = pd.concat([long.assign(q=1, level=1), long.assign(q=2, level=2)])
    assert blend(quarters.drop(columns="level"), by="q", time="t").quantiles is None
    assert blend(quarters.drop(columns="q"), by="level", time="t").quantiles is None


LONG = as_long(wide(rounds=2)).sort_values(["ds", "model", "level"]).reset_index(drop=True)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (LONG.assign(level=LONG.level * 100), {}, "it is 5.0 in row 1; divide per cent"),
        (LONG.assign(level=LONG.level.where(LONG.index != 3)), {}, "row 4 is empty"),
        (LONG.assign(level=LONG.level.where(LONG.index != 3, 1.0)), {}, "it is 1.0 in row 4"),
        (pd.concat([LONG, LONG[:1]]), {}, "for unique_id s0, ds 0, model ar, level 0.05"),
        (LONG.assign(y=np.arange(len(LONG))), {}, "must agree in their target"),
        (LONG, {"loss": "square"}, "leave out loss, got square"),
        (LONG, {"loss": pinball([0.1, 0.9])}, "has quantiles at 0.05 0.25 0.5 0.75 0.95"),
        (LONG, {"level": "lvl"}, "unknown column 'lvl': did you mean level"),
        (LONG, {"level": "level", "quantiles": ["value"]}, "give one of them"),
        (LONG, {"by": ["level"]}, "holds levels: it cannot name a series"),
        (LONG.assign(value="x"), {}, "value must hold numbers"),
        (LONG[:0], {}, "no rows"),
        (wide().assign(P5=1.0), {}, "q0.05 and P5 have the same level, 0.05"),
        (wide(), {"quantiles": ["q0.05", "y"]}, "column y has no level between 0 and 1"),
        (wide(), {"quantiles": {"q0.05": 0.05, "q0.5": 1.5}}, "strictly between 0 and 1, got 1.5"),
        (wide(), {"quantiles": {"q0.05": 0.5, "q0.5": 0.5}}, "have the same level, 0.5"),
        (wide().drop(columns="model"), {}, "look like quantiles of one model"),
        (wide().drop(columns="model"), {"level": "q0.5"}, "level needs a long table"),
        (as_nixtla(wide()), {"quantiles": ["gam"]}, "column gam must name its model and its level"),
        (as_nixtla(wide()).assign(**{"gam-lo-90.0": 1.0}), {}, "have the same level, 0.05"),
        (as_nixtla(wide()).assign(**{"gam-lo-120": 1.0}), {}, "between 0 and 100 per cent"),
    ],
)  # fmt: skip
def test_wrong_tables_get_one_sentence(
    table: pd.DataFrame, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        blend(table, **options)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_levels_are_never_taken_from_the_order_of_series() -> None:
    table = pd.DataFrame({"t": [0, 0], "q": [0.9, 0.1], "y": 1.0, "a": [2.0, 0.0], "b": [1.0, 1.0]})
    with pytest.raises(ValueError, match="the quantile level of each forecast"):
        blend(table, by="q", time="t", experts=["a", "b"], loss=pinball([0.1, 0.9]))
