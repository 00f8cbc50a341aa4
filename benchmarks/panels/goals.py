"""Goals on real forecasters: ``python -m benchmarks.panels.goals``.

One setting for each of the two hubs, which teams know beforehand, beside what the hubs publish. The
files of the hubs are not part of this project; what needs them is skipped when they are absent.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.panels import hubs
from benchmarks.panels.hubs import BASELINE, DATA, HUB
from normalhedge import blend

CLASSES = list(hubs.CLASSES)

FLUSIGHT: dict[str, Any] = {"pooled": True, "loss": "l1", "hedger": "normal-hedge"}
EU_DEATHS: dict[str, Any] = {"pooled": True, "loss": "absolute", "include": "median", "even": 0.5}
"""One setting for all horizons; the memory is the default of 20 rounds."""


def flusight() -> pd.DataFrame:
    """Return the mean of 1 - p(truth) at each horizon: ours, uniform weights and the hub's."""
    data = pd.read_parquet(DATA / "flusight_ratechange_pmf.parquet")
    hub = data[data.model == "FluSight-ens_q_cat"]
    teams = data[~data.model.str.startswith("FluSight-")]
    keys = ["reference_date", "location"]
    found = {}
    for horizon in range(4):
        part = teams[teams.horizon == horizon]
        result = blend(
            part, "truth_cat", by="location", time="reference_date", lag=horizon, model="model",
            classes=CLASSES, **FLUSIGHT,
        )  # fmt: skip
        ours = result.frame.rename(columns={f"blend_{name}": name for name in CLASSES})
        plain = part.groupby(keys)[CLASSES].mean().reset_index()
        theirs = hub[hub.horizon == horizon]
        same = theirs[[*keys, "truth_cat"]]  # all are compared in the rows of the hub's ensemble
        found[horizon] = {
            "blend": _miss(same.merge(ours[[*keys, *CLASSES]], on=keys)),
            "uniform": _miss(same.merge(plain, on=keys)),
            "hub ensemble": _miss(theirs),
        }
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
        result = blend(
            teams, "truth", by="location", time="target_end_date", lag=horizon - 1, model="model",
            forecast="forecast", **EU_DEATHS,
        )  # fmt: skip
        plain = teams.groupby(keys, observed=True).forecast.median().rename("median").reset_index()
        hub = data[at & names.isin([HUB, BASELINE])].pivot_table(
            index=keys, columns="model", values="forecast", observed=True
        )
        rows = result.frame.merge(plain, on=keys).merge(hub.reset_index(), on=keys).dropna()
        errors = {
            name: (rows[name] - rows.truth).abs() for name in ("blend", "median", HUB, BASELINE)
        }
        country = pd.DataFrame(errors).groupby(rows.location, observed=True).mean()
        found[horizon] = {
            name: float((country[name] / country[BASELINE]).mean())
            for name in ("blend", "median", HUB)
        }
    return pd.DataFrame(found).T


def trump_approval() -> dict[str, float]:
    """Return the MAE of river's pollsters: ours, plain mean, best pollster."""
    days = hubs.trump_approval()
    frame = blend(days, "y", time="time").frame
    errors = days.drop(columns=["series", "time", "y"]).sub(days["y"], axis=0)
    return {
        "blend": float((frame["blend"] - days["y"]).abs().mean()),
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
    beaten = int((flu["blend"] < flu["hub ensemble"]).sum())
    yield f"the hub's ensemble is beaten at {beaten} of 4 horizons (goal: 4)"
    eu = eu_deaths()
    yield f"\nEU deaths, relative MAE by horizon\n{eu.round(4).to_string()}"
    worst = float((eu["blend"] / eu[["median", HUB]].min(axis=1)).max())
    beaten = int((eu["blend"] < eu[HUB]).sum())
    yield (
        f"at worst {worst:.4f}x the better of ensemble and median (goal: 1.01x); the ensemble is "
        f"beaten at {beaten} of 4 horizons (goal: 3)"
    )


if __name__ == "__main__":
    for line in lines():
        print(line)
