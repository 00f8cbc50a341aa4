"""Quantiles that cross, have gaps or are infinite: repaired, and reported."""

import numpy as np
import pytest

from normalhedge import blend
from tests.tables.quantile_examples import as_long, as_nixtla, columns, wide
from tests.tables.test_quantile_layouts import numbers


def test_models_with_other_levels_are_interpolated_inside_their_own() -> None:
    table = wide()
    own = table.model == "gam"
    between = table.copy()
    between.loc[own, ["q0.25", "q0.75"]] = np.nan
    found = blend(between)
    line = table.copy()
    share = (0.25 - 0.05) / (0.5 - 0.05)
    line.loc[own, "q0.25"] = (1 - share) * table["q0.05"] + share * table["q0.5"]
    line.loc[own, "q0.75"] = (1 - share) * table["q0.95"] + share * table["q0.5"]
    np.testing.assert_allclose(numbers(found), numbers(blend(line)))
    assert "quantiles interpolated: gam at 0.25 0.75" in found.notes
    outside = table.copy()
    outside.loc[own, ["q0.05", "q0.95"]] = np.nan
    found = blend(outside, weights=True, hedger="squint")
    assert "asleep for want of levels: gam at 0.05 0.95" in found.notes
    long = as_long(outside).dropna()
    weights = blend(long, weights=True, hedger="squint").frame
    assert (weights.weight_gam == 0.0).all()  # without the first and last level it sleeps


def test_a_model_without_intervals_sleeps_and_is_scored_at_the_median() -> None:
    table = as_nixtla(wide()).drop(
        columns=[f"naive-{s}" for s in ("lo-90", "lo-50", "hi-50", "hi-90")]
    )
    found = blend(table)
    assert "asleep for want of levels: naive at 0.05 0.25 0.75 0.95" in found.notes
    assert found.mixture.names == ["gam", "ar", "naive"]
    scores = found.summary().scores  # type: ignore[attr-defined]
    assert np.isnan(scores.wis[5])
    assert np.isfinite(scores.pinball[5]).tolist() == [False, False, True, False, False]


def test_crossing_quantiles_are_sorted_and_counted() -> None:
    table = wide()
    crossed = table.copy()
    rows = crossed.index[crossed.model == "ar"][:3]
    crossed.loc[rows, ["q0.05", "q0.95"]] = table.loc[rows, ["q0.95", "q0.05"]].to_numpy()
    found = blend(crossed)
    assert "crossing quantiles sorted (rows): ar (3)" in found.notes
    np.testing.assert_array_equal(numbers(found), numbers(blend(table)))


@pytest.mark.parametrize("hedger", [None, "normal-hedge:memory=3", "squint"])
@pytest.mark.parametrize("pooled", [True, False])
def test_quantiles_of_the_blend_never_cross(hedger: str | None, pooled: bool) -> None:
    rng = np.random.default_rng(3)
    table = wide(rounds=100, series=3, asleep=0.4)
    table[columns()] = np.sort(rng.standard_cauchy(size=(len(table), 5)), axis=1)
    found = numbers(blend(table, hedger=hedger, pooled=pooled))
    assert (np.diff(found, axis=1) >= 0.0).all()


def test_infinite_quantiles_are_missing() -> None:
    table = wide()
    table.loc[0, "q0.95"] = np.inf
    found = blend(table)
    assert "1 infinite forecast counted as missing" in found.notes
    assert np.isfinite(numbers(found)).all()
