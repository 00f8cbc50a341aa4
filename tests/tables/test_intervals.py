"""Intervals of a table: the same as in a loop over mixtures, to the bit."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures import crps
from normalhedge.mixtures.state._table_facts import TableFacts
from tests.rules import either
from tests.tables import quantile_examples
from tests.tables.examples import cross_validation, wide

NAMES = ["gam", "ar", "naive"]
OPTIONS: dict[str, Any] = {"interval": (0.9, 0.5), "season": 4}
COLUMNS = ["blend", "blend-lo-50", "blend-hi-50", "blend-lo-90", "blend-hi-90"]


def told(made: Any, key: str | None = None) -> list[float]:
    """Return the blend and its bounds in the order of the columns."""
    parts = [made.value, *made.intervals[0.5], *made.intervals[0.9]]
    found = [part if key is None else part[key] for part in parts]
    return [np.nan if part is None else part for part in found]


def loop(frame: pd.DataFrame, lag: int, *, pooled: bool, **options: Any) -> np.ndarray:
    """Return what a loop over mixtures predicts: each series its own, or all in one."""
    found = np.full((len(frame), len(COLUMNS)), np.nan)
    groups: Iterable[Any] = [frame.index] if pooled else frame.groupby("unique_id").groups.values()
    for group in groups:
        mixture, waiting = Mixture(**OPTIONS, **options), list[tuple[int, dict[str, float]]]()
        mixture.join(NAMES)
        for _, rows in frame.loc[group].groupby("ds"):
            if len(waiting) > lag:
                ticket, outcome = waiting.pop(0)
                if not np.isnan(list(outcome.values())).all():
                    mixture.update(ticket, outcome)
            keys = rows.unique_id.tolist()
            made = mixture.predict({n: dict(zip(keys, rows[n], strict=True)) for n in NAMES})
            for place, key in zip(rows.index, keys, strict=True):
                found[place] = told(made, key)
            waiting.append((made.ticket, dict(zip(keys, rows.y, strict=True))))
    return found


def example(rounds: int = 60, series: int = 1) -> pd.DataFrame:
    """Return a table with unknown outcomes and rows without any expert awake."""
    frame = pd.DataFrame(wide(rounds, series))
    frame.loc[frame.ds % 17 == 11, "y"] = np.nan
    frame.loc[frame.ds % 13 == 5, NAMES] = np.nan
    return frame


def bounds(frame: pd.DataFrame) -> np.ndarray:
    return np.asarray(frame[COLUMNS], dtype=float)


def tokens(mixture: Mixture) -> dict[Any, Any]:
    """Return the tokens of rounds that wait, by their items and numbers."""
    return {(*one.items, one.number): one.tokens for one in mixture.pending.values()}


@either
@pytest.mark.parametrize("lag", [0, 3])
@pytest.mark.parametrize(("series", "pooled"), [(1, True), (3, True), (3, False)])
def test_a_table_has_the_intervals_of_a_loop(
    hedger: str | None, lag: int, series: int, pooled: bool
) -> None:
    frame = example(60, series)
    by: dict[str, Any] = {"by": "unique_id", "pooled": pooled}
    expected = loop(frame, lag, pooled=pooled, hedger=hedger)
    result = blend(frame, "y", NAMES, time="ds", lag=lag, hedger=hedger, **by, **OPTIONS)
    np.testing.assert_array_equal(bounds(result.frame), expected)
    assert np.isfinite(expected[-1]).all()
    assert list(result.frame.columns)[-len(COLUMNS) :] == COLUMNS


@either
@pytest.mark.parametrize("lag", [0, 3])
@pytest.mark.parametrize(("series", "pooled"), [(1, True), (3, True), (3, False)])
def test_tables_in_a_row_have_the_intervals_of_one(
    hedger: str | None, lag: int, series: int, pooled: bool, tmp_path: Path
) -> None:
    frame = example(60, series)
    given: dict[str, Any] = {"by": "unique_id", "time": "ds", "lag": lag, "pooled": pooled}
    whole = blend(frame, "y", NAMES, **given, hedger=hedger, **OPTIONS)
    mixture: Any = None
    parts = []
    for start, stop in ((0, 30), (30, 32), (32, 60)):
        part = frame[(frame.ds >= start) & (frame.ds < stop)]
        options = {"hedger": hedger, **OPTIONS} if mixture is None else {"mixture": mixture}
        mixture = blend(part, "y", NAMES, **given, **options).mixture
        again = blend(part, "y", NAMES, **given, mixture=mixture)
        parts.append(again.frame)
        again.mixture.save(tmp_path / "m.json")
        mixture = Mixture.load(tmp_path / "m.json")
    np.testing.assert_array_equal(bounds(pd.concat(parts)), bounds(whole.frame))
    live, other = mixture.live, whole.mixture.live
    np.testing.assert_array_equal(live.intervals, other.intervals)
    np.testing.assert_array_equal(live.interval_rounds, other.interval_rounds)
    kept = tokens(mixture)
    assert kept.keys() == tokens(whole.mixture).keys()
    for key, array in tokens(whole.mixture).items():
        np.testing.assert_array_equal(kept[key], array)


@either
def test_a_cutoff_tells_when_outcomes_are_known(hedger: str | None) -> None:
    frame, _ = cross_validation()
    names = ["AutoARIMA", "Naive"]
    result = blend(frame, experts=names, pooled=False, hedger=hedger, **OPTIONS).frame
    expected = np.full((len(frame), len(COLUMNS)), np.nan)
    step = (frame.ds - frame.cutoff).dt.days
    for _, rows in frame.groupby([frame.unique_id, step]):
        mixture, waiting = Mixture(hedger, **OPTIONS), list[Any]()
        mixture.join(names)
        for row in rows.sort_values("cutoff").itertuples():
            while waiting and waiting[0][0] <= row.cutoff:
                mixture.update(*waiting.pop(0)[1:])
            made = mixture.predict({name: getattr(row, name) for name in names})
            expected[row.Index] = told(made)
            waiting.append((row.ds, made.ticket, row.y))
    np.testing.assert_array_equal(bounds(result), expected)


def test_rows_that_wait_have_the_interval_of_then_and_learn_from_it() -> None:
    frame = example()
    late = frame.copy()
    late.loc[late.ds >= 50, "y"] = np.nan
    given: dict[str, Any] = {"target": "y", "experts": NAMES, "time": "ds"}
    first = blend(late[late.ds < 55], **given, **OPTIONS)
    waiting = bounds(first.frame)[50:55]
    # The outcomes of two of the rows that wait, and new rows.
    next_part = frame[frame.ds >= 50].copy()
    next_part.loc[next_part.ds >= 52, "y"] = np.nan
    second = blend(next_part, **given, mixture=first.mixture)
    np.testing.assert_array_equal(bounds(second.frame)[:5], waiting)
    mixture = Mixture(**OPTIONS)
    mixture.join(NAMES)
    made: list[Any] = []
    for row in frame.itertuples():
        if row.ds == 55:
            for t in (50, 51):
                mixture.update(made[t].ticket, frame.y[t])
        made.append(mixture.predict({name: getattr(row, name) for name in NAMES}))
        if row.ds < 50 and not np.isnan(row.y):
            mixture.update(made[-1].ticket, row.y)
    np.testing.assert_array_equal(bounds(second.frame)[5:], [told(one) for one in made[55:]])
    third = blend(frame[frame.ds >= 52], **given, mixture=second.mixture)
    known = [t for t in range(52, 60) if not np.isnan(frame.y[t])]
    for t in known:
        mixture.update(made[t].ticket, frame.y[t])
    np.testing.assert_array_equal(third.mixture.live.intervals, mixture.live.intervals)


@pytest.mark.parametrize("lag", [0, 3])
def test_the_future_has_intervals_and_changes_nothing(lag: int) -> None:
    frame = example()
    given: dict[str, Any] = {"experts": NAMES, "time": "ds", "lag": lag}
    past = blend(frame[frame.ds < 56], "y", **given, **OPTIONS)
    before = past.mixture.live.version
    seen = past.predict(frame[frame.ds >= 56].drop(columns="y"))
    assert past.mixture.live.version == before
    ahead = frame.copy()
    ahead.loc[ahead.ds >= 56, "y"] = np.nan
    both = blend(ahead, "y", **given, **OPTIONS)
    np.testing.assert_array_equal(bounds(seen), bounds(both.frame)[56:])


def test_a_live_mixture_goes_on_from_a_table() -> None:
    frame = example(40).drop(columns="unique_id")
    result = blend(frame, "y", NAMES, time="ds", lag=3, **OPTIONS)
    mixture = Mixture(**OPTIONS)
    mixture.join(NAMES)
    for row in frame.itertuples():
        made = mixture.predict({name: getattr(row, name) for name in NAMES})
        past = row.ds - 3
        if past >= 0 and not np.isnan(frame.y[past]):
            mixture.update(int(past), frame.y[past])
    for ticket in list(result.mixture.pending):
        if not np.isnan(outcome := TableFacts.of(result.mixture.live).deferred[ticket].outcomes[0]):
            result.mixture.update(ticket, outcome)
            mixture.update(result.mixture.history[-1].round.number, outcome)
    assert made.ticket == 39
    said = dict.fromkeys(NAMES, 1.0)
    assert result.mixture.predict(said).intervals == mixture.predict(said).intervals


def test_names_of_columns_and_what_is_refused() -> None:
    frame = example(20)
    result = blend(frame, "y", NAMES, interval=[0.975, 0.8], weights=True).frame
    assert list(result.columns)[-8:] == [
        "blend", "blend-lo-80", "blend-hi-80", "blend-lo-97.5", "blend-hi-97.5",
        "weight_gam", "weight_ar", "weight_naive",
    ]  # fmt: skip
    with pytest.raises(TypeError, match="interval belongs to the mixture"):
        blend(frame, "y", NAMES, interval=0.9, mixture=Mixture())
    quantiles = pd.DataFrame(
        {"ds": [1, 2] * 2, "y": 1.0, "model": ["a", "a", "b", "b"], "q0.1": 0.0, "q0.9": 2.0}
    )
    with pytest.raises(ValueError, match="level"):
        blend(quantiles, "y", time="ds", model="model", interval=0.9)


@pytest.mark.parametrize("layout", ["long", "wide", "intervals"])
def test_quantiles_of_a_table_are_calibrated_as_in_a_loop(layout: str) -> None:
    table = quantile_examples.wide(rounds=60)
    mixture = Mixture(loss=crps(quantile_examples.LEVELS), interval=(0.5, 0.9))
    mixture.join(list(table.model.unique()))
    expected = []
    for _, rows in table.groupby("ds"):
        columns = [f"q{level:g}" for level in quantile_examples.LEVELS]
        said = dict(zip(rows.model, rows[columns].to_numpy(), strict=True))
        made = mixture.predict(said)
        assert made.intervals is not None
        expected.append([end for level in (0.5, 0.9) for end in made.intervals[level]])
        mixture.update(made.ticket, rows.y.iloc[0])
    if layout == "long":
        table = quantile_examples.as_long(table)
    elif layout == "intervals":
        table = quantile_examples.as_nixtla(table)
    table = table.drop(columns="unique_id")
    past = blend(table[table.ds < 50], interval=(0.5, 0.9))
    names = ["calibrated-lo-50", "calibrated-hi-50", "calibrated-lo-90", "calibrated-hi-90"]
    later = blend(table[table.ds >= 50], mixture=past.mixture).frame
    frame = pd.concat([past.frame, later]).drop_duplicates("ds").sort_values("ds")
    np.testing.assert_allclose(frame[names].to_numpy(), np.array(expected), rtol=1e-12)
