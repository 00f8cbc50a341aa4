"""The sums and the weights of a table."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import blend
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
