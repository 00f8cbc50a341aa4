"""Tables that continue earlier tables, and outcomes that arrive later."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.state._table_facts import TableFacts
from tests.rules import SINGLE, either
from tests.tables.examples import cross_validation, values, wide


@pytest.mark.parametrize("own", [{}, {"hedger": SINGLE}, {"include": ("mean", "median")}])
@pytest.mark.parametrize("lag", [0, 5])
@pytest.mark.parametrize(("series", "pooled"), [(1, False), (3, False), (3, True)])
def test_tomorrow_continues_today(
    tmp_path: Path, lag: int, series: int, pooled: bool, own: dict[str, Any]
) -> None:
    table = pa.table(wide(series=series))
    options: dict[str, Any] = {
        "lag": lag,
        "pooled": pooled,
        "by": "unique_id" if series > 1 else (),
    }
    settings: dict[str, Any] = {"loss": "absolute"} | own
    experts = ["gam", "ar", "naive"]
    whole = values(blend(table, "y", experts, **options, **settings))
    found, mixture = [], None
    for first, last in ((0, 21), (21, 22), (22, 80), (80, 120)):
        part = table.slice(first * series, (last - first) * series)
        extra = settings if mixture is None else {"mixture": mixture}
        result = blend(part, "y", experts, **options, **extra)
        found.append(values(result))
        result.mixture.save(tmp_path / "state.json")
        mixture = Mixture.load(tmp_path / "state.json")
    np.testing.assert_array_equal(np.concatenate(found), whole)


@either
def test_a_file_that_grows_gets_the_same_forecasts_again(hedger: str | None) -> None:
    table = wide(series=2)
    whole = values(blend(pa.table(table), "y", lag=2, hedger=hedger))
    today = pd.DataFrame(table).head(100)
    first = blend(today, "y", lag=2, hedger=hedger)
    second = blend(pd.DataFrame(table), "y", lag=2, mixture=first.mixture)
    np.testing.assert_array_equal(values(second), whole)
    assert second.notes[-1] == (
        "the rows of the last table are here again: they were not learned twice"
    )
    third = blend(pd.DataFrame(table), "y", lag=2, mixture=second.mixture)
    np.testing.assert_array_equal(values(third), whole)


@either
def test_rows_of_an_earlier_table_are_not_learned_again(hedger: str | None) -> None:
    table = pd.DataFrame(wide(series=2))
    whole = values(blend(table, "y", lag=2, hedger=hedger))
    mixture = blend(table.head(60), "y", lag=2, hedger=hedger).mixture
    blend(table.iloc[60:100], "y", lag=2, mixture=mixture)
    last = blend(table, "y", lag=2, mixture=mixture)
    np.testing.assert_array_equal(values(last), whole[56:])  # four rows waited for the lag
    assert (
        "60 rows were blended before: 0 outcomes filled in, 4 kept the forecast" in last.notes[-1]
    )


@either
def test_outcomes_that_come_later_are_filled_in(hedger: str | None) -> None:
    table = pd.DataFrame(wide(asleep=0.0))
    whole = blend(table, "y", lag=2, hedger=hedger)
    today = table.head(80).copy()
    today.loc[78:, "y"] = np.nan  # the last two are not known yet, which the lag allows for
    first = blend(today, "y", lag=2, hedger=hedger)
    assert not np.isnan(values(first)).any()
    second = blend(table.iloc[70:], "y", lag=2, mixture=first.mixture)
    assert "2 outcomes filled in" in second.notes[-1]
    np.testing.assert_array_equal(values(second), values(whole)[78:])
    np.testing.assert_allclose(second.mixture.live.expert_sums, whole.mixture.live.expert_sums)
    # One that comes too late is learned when it comes.
    today.loc[70:, "y"] = np.nan
    late = blend(today, "y", hedger=hedger)
    assert len(TableFacts.of(late.mixture.live).deferred) == 10
    after = blend(table.iloc[60:], "y", mixture=late.mixture)
    assert not TableFacts.of(after.mixture.live).deferred
    assert after.mixture.live.total_sums[2] == whole.mixture.live.total_sums[2]


@either
def test_a_day_whose_outcomes_are_all_unknown(hedger: str | None) -> None:
    table = pd.DataFrame(wide(series=2, asleep=0.0))
    whole = values(blend(table, "y", lag=1, hedger=hedger))
    mixture = blend(table.head(100), "y", lag=1, hedger=hedger).mixture
    days = []
    for first in range(100, 120, 2):  # every day: yesterday with its outcome, today without
        today = table.iloc[first - 2 : first + 2].copy()
        today["y"] = [*today["y"][:2], None, None]
        found = blend(
            pa.Table.from_pandas(today, preserve_index=False), "y", lag=1, mixture=mixture
        )
        days.append(values(found)[-2:])
        mixture = found.mixture
        np.testing.assert_array_equal(values(found), whole[first - 2 : first + 2])
    np.testing.assert_array_equal(np.concatenate(days), whole[100:120])
    empty = pa.table({"ds": [1], "y": pa.nulls(1), "a": [1.0], "b": [3.0]})
    assert values(blend(empty, "y")).tolist() == [2.0]


@either
def test_with_a_cutoff_outcomes_are_filled_in_by_their_times(hedger: str | None) -> None:
    frame, _ = cross_validation()
    options: dict[str, Any] = {"loss": "absolute", "hedger": hedger}
    whole = blend(frame, **options).frame
    mixture, found = None, []
    for day in sorted(frame.cutoff.unique()):
        # Today's forecasts, and the rows of before whose outcome has become known.
        today = frame[frame.cutoff == day].assign(y=np.nan)
        known = frame[(frame.ds == day) & (frame.cutoff < day)]
        extra = options if mixture is None else {"mixture": mixture}
        result = blend(pd.concat([known, today]), "y", **extra)
        mixture = result.mixture
        made = result.frame[result.frame.cutoff == day]
        found.append(made[["unique_id", "ds", "cutoff", "blend"]])
    both = whole.merge(pd.concat(found), on=["unique_id", "ds", "cutoff"])
    assert len(both) == len(frame)
    np.testing.assert_array_equal(both["blend_x"], both["blend_y"])


@either
def test_what_waits_is_not_thrown_away(hedger: str | None) -> None:
    table = pa.table(wide(12, series=8, asleep=0.0))
    options: dict[str, Any] = {"by": "unique_id", "lag": 5}
    whole = values(blend(table, "y", **options, hedger=hedger))
    settings: list[dict[str, Any]] = [{"max_pending": 3}, {"max_age": 2}]
    for limits in settings:
        first = blend(table.slice(0, 64), "y", **options, hedger=hedger, **limits)
        second = blend(table.slice(64), "y", **options, mixture=first.mixture)
        np.testing.assert_array_equal(values(second), whole[64:])
    silent = wide(60, asleep=0.0)
    silent["y"] = np.full(60, np.nan)
    found = blend(pa.table(silent), "y", hedger=hedger, max_pending=10).mixture
    assert len(TableFacts.of(found.live).deferred) == len(found.pending) == 10
    assert found.expired == 50


@either
def test_steps_that_share_weights_are_learned_one_by_one(hedger: str | None) -> None:
    """Each step of a cutoff is a round; outcomes are learned when they are known, out of order."""
    frame, _ = cross_validation()
    mixture = Mixture(hedger, "square")
    mixture.join(["AutoARIMA", "Naive"])
    steps = frame.groupby(["unique_id", "cutoff"]).cumcount() + 1
    waiting: list[tuple[Any, int, dict[str, float]]] = []
    expected = pd.Series(np.nan, frame.index)
    for (cutoff, step), rows in frame.groupby(["cutoff", steps]):
        if step == 1:
            for known, ticket, outcome in sorted(waiting, key=lambda w: w[1]):
                if known <= cutoff:
                    mixture.update(ticket, outcome)
            waiting = [w for w in waiting if w[0] > cutoff]
        keys = [f"{key}|step {step}" for key in rows.unique_id]
        made = mixture.predict(
            {name: dict(zip(keys, rows[name], strict=True)) for name in ("AutoARIMA", "Naive")}
        )
        outcome = dict(zip(keys, rows.y, strict=True))
        waiting.append((rows.ds.iloc[0], made.ticket, outcome))
        expected[rows.index] = [made.value[key] for key in keys]
    found = blend(frame, loss="square", hedger=hedger, pooled=True)
    if hedger is not None:  # auto has a game for each item, which a loop knows when it sees them
        np.testing.assert_allclose(found.frame["blend"], expected, rtol=1e-12)
    early = frame[frame.cutoff < frame.cutoff.iloc[-1] - pd.Timedelta(days=9)]
    part = blend(early.assign(y=early.y.where(early.ds <= early.cutoff.max())),
                 loss="square", hedger=hedger, pooled=True)  # fmt: skip
    np.testing.assert_array_equal(part.frame["blend"], found.frame.loc[early.index, "blend"])
    rest = frame[~frame.index.isin(early.index) | (frame.ds > early.cutoff.max())]
    later = blend(rest, mixture=part.mixture)
    np.testing.assert_array_equal(later.frame["blend"], found.frame.loc[rest.index, "blend"])


@either
def test_a_late_outcome_of_a_step_is_not_taken_for_a_new_row(hedger: str | None) -> None:
    """Without its first steps, a second step that comes again looks like a first one."""
    rng = np.random.default_rng(0)
    rows = [
        {"unique_id": s, "cutoff": t, "ds": t + h, "a": rng.normal(), "b": rng.normal()}
        for t in range(12) for s in ("u", "v") for h in (1, 2)
        if (s, h) != ("u", 1) or t not in {7, 8}
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table["y"] = np.sin(table["ds"]) + (table["unique_id"] == "u")
    whole = blend(table, pooled=False, hedger=hedger).frame["blend"].to_numpy()
    found, mixture = np.full(len(table), np.nan), None
    for today in range(12):
        day = table[(table["cutoff"] == today) | (table["ds"] == today)].copy()
        day["y"] = day["y"].where(day["ds"] <= today)
        options = {"hedger": hedger} if mixture is None else {"mixture": mixture}
        result = blend(day, pooled=False, **options)  # type: ignore[arg-type]
        mixture = result.mixture
        assert len(result.frame) == len(day)
        new = (day["cutoff"] == today).to_numpy()
        found[day.index[new]] = result.frame["blend"].to_numpy()[new]
        np.testing.assert_array_equal(
            result.frame["blend"].to_numpy()[~new], found[day.index[~new]]
        )
    np.testing.assert_allclose(found, whole, rtol=1e-9)
