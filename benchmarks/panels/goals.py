"""Goals on real forecasters: ``python -m benchmarks.panels.goals``.

The default, "auto", and a single rule with one setting for each of the two hubs, beside the hubs'
own ensembles. The files of the hubs are not part of this project; without them they are skipped.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.panels import hubs
from benchmarks.panels.hubs import BASELINE, DATA, HUB
from normalhedge import blend

CLASSES = list(hubs.CLASSES)

FLUSIGHT: dict[str, Any] = {"pooled": True, "hedger": "normal-hedge"}
EU_DEATHS: dict[str, Any] = {"pooled": True, "include": "median", "even": 0.5}
"""The single rule: one setting for all horizons, with the default memory of 20 rounds."""


def flusight() -> pd.DataFrame:
    """Return the mean of 1 - p(truth) at each horizon: ours, even weights and the hub's."""
    data = pd.read_parquet(DATA / "flusight_ratechange_pmf.parquet")
    hub = data[data.model == "FluSight-ens_q_cat"]
    teams = data[~data.model.str.startswith("FluSight-")]
    keys = ["reference_date", "location"]
    found = {}
    for horizon in range(4):
        part = teams[teams.horizon == horizon]
        plain = part.groupby(keys, observed=True)[CLASSES].mean().reset_index()
        theirs = hub[hub.horizon == horizon]
        same = theirs[[*keys, "truth_cat"]]  # all are compared in the rows of the hub's ensemble
        found[horizon] = {"even weights": _miss(same.merge(plain, on=keys))}
        for name, options in (("auto", {}), ("single rule", FLUSIGHT)):
            ours = blend(
                part, "truth_cat", by="location", time="reference_date", lag=horizon,
                model="model", classes=CLASSES, loss="l1", **options,
            ).frame.rename(columns={f"blend_{name}": name for name in CLASSES})  # fmt: skip
            found[horizon][name] = _miss(same.merge(ours[[*keys, *CLASSES]], on=keys))
        found[horizon]["hub ensemble"] = _miss(theirs)
    return pd.DataFrame(found).T


def _miss(frame: pd.DataFrame) -> float:
    p = frame[CLASSES].to_numpy()[np.arange(len(frame)), frame["truth_cat"].astype(int)]
    return float(1.0 - p.mean())


def eu_deaths() -> pd.DataFrame:
    """Return the MAE relative to the hub's baseline at each horizon, mean over the countries."""
    data = pd.read_parquet(DATA / "covid_eu_incdeath_median.parquet")
    names = data.model.astype(str)
    keys = ["location", "target_end_date"]
    found = {}
    for horizon in range(1, 5):
        at = data.horizon == horizon
        teams = data[at & ~names.str.startswith("EuroCOVIDhub-")]
        plain = teams.groupby(keys, observed=True).forecast.median().rename("median").reset_index()
        hub = data[at & names.isin([HUB, BASELINE])].pivot_table(
            index=keys, columns="model", values="forecast", observed=True
        )
        rows = plain.merge(hub.reset_index(), on=keys)
        for name, options in (("auto", {}), ("single rule", EU_DEATHS)):
            ours = blend(
                teams, "truth", by="location", time="target_end_date", lag=horizon - 1,
                model="model", forecast="forecast", loss="absolute", **options,
            ).frame.rename(columns={"blend": name})  # fmt: skip
            rows = rows.merge(
                ours[[*keys, "truth", name]], on=[c for c in (*keys, "truth") if c in rows]
            )
        rows = rows.dropna()
        compared = ("auto", "single rule", "median", HUB)
        errors = {name: (rows[name] - rows.truth).abs() for name in (*compared, BASELINE)}
        country = pd.DataFrame(errors).groupby(rows.location, observed=True).mean()
        found[horizon] = {
            name: float((country[name] / country[BASELINE]).mean()) for name in compared
        }
    return pd.DataFrame(found).T


def trump_approval() -> dict[str, float]:
    """Return the MAE of river's pollsters: ours, plain mean, best pollster."""
    days = hubs.trump_approval()
    frame = blend(days, "y", time="time").frame
    errors = days.drop(columns=["series", "time", "y"]).sub(days["y"], axis=0)
    return {
        "auto": float((frame["blend"] - days["y"]).abs().mean()),
        "plain mean": float(errors.mean(axis=1).abs().mean()),
        "best pollster": float(errors.abs().mean().min()),
    }


def lines() -> Iterator[str]:
    """Yield the tables, and whether the goals are met."""
    trump = ", ".join(f"{name} {value:.3f}" for name, value in trump_approval().items())
    yield f"\nTrumpApproval, mean absolute error: {trump}"
    if not DATA.is_dir():
        yield f"the panels are not at {DATA.name}: skipped"
        return
    flu = flusight()
    yield f"\nFluSight, mean 1 - p(truth) by horizon\n{flu.round(4).to_string()}"
    yield _beaten(flu, "hub ensemble")
    eu = eu_deaths()
    yield f"\nEU deaths, relative MAE by horizon\n{eu.round(4).to_string()}"
    yield _beaten(eu, HUB)


def _beaten(table: pd.DataFrame, hub: str) -> str:
    ours = ("auto", "single rule")
    counts = [f"by {name} at {int((table[name] < table[hub]).sum())}" for name in ours]
    return f"the hub's ensemble is beaten {' and '.join(counts)} of 4 horizons"


if __name__ == "__main__":
    for line in lines():
        print(line)
