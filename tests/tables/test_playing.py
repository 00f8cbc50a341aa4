"""The sums and the weights of a table."""

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.tables import _playing
from tests.rules import SINGLE, either
from tests.tables.examples import values, wide


@either
def test_weights_on_request(hedger: str | None) -> None:
    table = pd.DataFrame(wide(40, series=2))
    found = blend(table, "y", weights=True, hedger=hedger).frame
    shares = found[[f"weight_{name}" for name in ("gam", "ar", "naive")]].to_numpy()
    heard = ~found["blend"].isna().to_numpy()
    np.testing.assert_allclose(shares[heard].sum(axis=1), 1.0)
    forecasts = table[["gam", "ar", "naive"]].fillna(0.0).to_numpy()
    if hedger == SINGLE:  # by default, medians have their say
        np.testing.assert_allclose((shares * forecasts).sum(axis=1)[heard], found["blend"][heard])


@either
def test_the_sums_do_not_depend_on_the_shares(hedger: str | None) -> None:
    table = pa.table(wide(40, series=1500, asleep=0.1))  # large enough to be spread over cores
    found = blend(table, "y", pooled=False, hedger=hedger)
    few = blend(table.filter(pa.compute.equal(table["unique_id"], "s7")), "y", hedger=hedger)
    of_it = np.array(found.frame["unique_id"].to_pylist()) == "s7"
    np.testing.assert_array_equal(values(found)[of_it], values(few))
    summary = found.summary()
    losses = np.square(values(found) - np.array(table["y"]))
    assert summary.blend == pytest.approx(np.nanmean(losses))


@pytest.mark.parametrize("series", [1, 3])
@pytest.mark.parametrize("lag", [0, 7])
@pytest.mark.parametrize("pooled", [True, False])
def test_stretches_of_any_length_have_the_same_results(
    series: int, lag: int, pooled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa.table(wide(90, series=series, asleep=0.2))
    empty = np.random.default_rng(7).random(len(table)) < 0.1
    y = pa.array(np.where(empty, np.nan, table["y"].to_numpy()), from_pandas=True)
    table = table.set_column(table.column_names.index("y"), "y", y)
    early = pa.compute.less(table["ds"], table["ds"].sort()[50 * series])
    parts = table.filter(early), table.filter(pa.compute.invert(early))

    def run() -> list[Any]:
        roles: dict[str, Any] = {"target": "y", "by": "unique_id", "time": "ds"}
        results = [blend(parts[0], **roles, lag=lag, pooled=pooled, max_pending=4)]
        results.append(blend(parts[1], **roles, lag=lag, mixture=results[0].mixture))
        pending = [
            (ticket, waiting.values.tolist())
            for ticket, waiting in results[1].mixture.pending.items()
        ]
        blends = [values(result).tolist() for result in results]
        return [blends, pending, str(results[0].summary()), str(results[1].summary())]

    whole = run()
    monkeypatch.setattr(_playing, "VALUES", 300)
    np.testing.assert_equal(run(), whole)


def test_values_of_components_are_not_kept_for_all_rows() -> None:
    rows = 150_000
    rng = np.random.default_rng(0)
    y = rng.normal(size=rows).cumsum()
    experts = {f"m{k}": y + rng.normal(size=rows) for k in range(4)}
    table = pa.table({"day": np.arange(rows), "y": y, **experts})
    tracemalloc.start()
    result = blend(table, "y", time="day")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # 45 values a row would be 7.5 times the table
    assert peak < 5 * table.nbytes
    assert result.rounds.values.nbytes == 8 * rows
