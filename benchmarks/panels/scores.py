"""Losses of the blend, beside what is plain: the mean and the median of the experts awake in a row.

Series differ in scale. So losses are relative to the better plain combination of each series, the
loss of a panel is the mean of that over its series, and the blend's is given relative to that of
the better plain combination in the panel:

    L(m) = mean over series s of  loss(m, s) / min(loss(mean, s), loss(median, s)),
    L(blend) / min(L(mean), L(median)).

With one series this is loss(blend) / min(loss(mean), loss(median)). Relative to the plain mean of
each series instead, one absurd forecast would hide whatever the blend loses in that series.

For class probabilities, whose losses have one scale, all rows are one series, and the plain mean is
what they are relative to.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.panels import hubs
from benchmarks.panels.bench import Panel
from normalhedge import blend
from normalhedge.boundary.inputs import Floats

DEFAULT = "default"
"""The hedger that a mixture has when nobody names one."""

LEAST = 1e-6
"""What probabilities are clipped at by the log loss, as everywhere in this project."""

LOSSES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "square": lambda forecasts, outcomes: (forecasts - outcomes) ** 2,
    "absolute": lambda forecasts, outcomes: np.abs(forecasts - outcomes),
    "l1": lambda forecasts, outcomes: 1.0 - _of_class(forecasts, outcomes),
    "log": lambda forecasts, outcomes: -np.log(np.maximum(_of_class(forecasts, outcomes), LEAST)),
}
"""Plain NumPy, so that the core is not judged by itself."""


def _of_class(forecasts: Floats, outcomes: Floats) -> Floats:
    chosen: Floats = forecasts[np.arange(len(forecasts)), outcomes.astype(int)]
    return chosen


def losses_of(panel: Panel) -> tuple[str, str]:
    """Return the names of the two losses that a panel is judged by."""
    return ("l1", "log") if panel.long else ("square", "absolute")


def score(panel: Panel, loss: str, hedgers: Sequence[str] = (DEFAULT,)) -> dict[str, float]:
    """Return the loss of the blend with each hedger, relative to the better plain combination."""
    rows, said = plain(panel)
    outcomes = rows["y"].to_numpy(float)
    series = np.zeros(len(rows), int) if panel.long else pd.factorize(rows["series"])[0]
    said |= {f"blend, {name}": blended(panel, loss, name, rows) for name in hedgers}
    lost = {name: LOSSES[loss](forecasts, outcomes) for name, forecasts in said.items()}
    plainly = ["mean"] if panel.long else ["mean", "median"]
    relative = relative_losses(lost, series, plainly)
    better = min(relative[name] for name in plainly)
    return {name: relative[f"blend, {name}"] / better for name in hedgers}


def plain(panel: Panel) -> tuple[pd.DataFrame, dict[str, Floats]]:
    """Return ``series``, ``time`` and ``y`` of the rows, and what is said without any weights."""
    keys = ["series", "time", "y"]
    if panel.long:
        means = panel.frame.groupby(keys)[panel.columns].mean().reset_index()
        return means[keys], {"mean": means[panel.columns].to_numpy(float)}
    forecasts = panel.frame[panel.columns].to_numpy(float)
    return panel.frame[keys], {
        "mean": np.nanmean(forecasts, axis=1),
        "median": np.nanmedian(forecasts, axis=1),
    }


def blended(panel: Panel, loss: str, hedger: str, rows: pd.DataFrame) -> Floats:
    """Return what the blend says in these rows, told only the columns, the delay and the loss."""
    options: dict[str, Any] = {} if hedger == DEFAULT else {"hedger": hedger}
    if "cutoff" in panel.frame:
        options["cutoff"] = "cutoff"
    else:
        options["lag"] = panel.lag
    if panel.long:
        options |= {"model": "model", "classes": panel.columns}
    frame = blend(panel.frame, target="y", by="series", time="time", loss=loss, **options).frame
    names = [f"blend_{name}" for name in panel.columns] if panel.long else ["blend"]
    said = rows.merge(frame[["series", "time", *names]], on=["series", "time"], how="left")
    forecasts = said[names].to_numpy(float)
    if not np.isfinite(forecasts).all():
        raise ValueError(f"{panel.name}: the blend says nothing in some rows")
    result: Floats = forecasts if panel.long else forecasts[:, 0]
    return result


def relative_losses(
    lost: Mapping[str, Floats], series: np.ndarray, plainly: Sequence[str]
) -> dict[str, float]:
    """Return the mean over series of each loss, relative to the least of some in each series."""
    sums = {name: np.bincount(series, losses) for name, losses in lost.items()}
    least = np.min([sums[name] for name in plainly], axis=0)
    some = least > 0.0  # where a plain combination is never wrong there is nothing to compare
    return {name: float((sum_[some] / least[some]).mean()) for name, sum_ in sums.items()}


def eu_deaths(panels: Mapping[int, Panel], hedgers: Sequence[str] = (DEFAULT,)) -> pd.DataFrame:
    """Return the MAE relative to the hub's baseline, mean over the countries, by horizon."""
    found = {}
    for horizon, panel in panels.items():
        rows, said = plain(panel)
        said |= {f"blend, {name}": blended(panel, "absolute", name, rows) for name in hedgers}
        theirs = hubs.eu_deaths(horizon, hub=True)[["series", "time", hubs.HUB, hubs.BASELINE]]
        table = rows.assign(**said).merge(theirs, on=["series", "time"]).dropna()
        names = [name for name in table if name not in {"series", "time", "y"}]
        errors = table[names].sub(table["y"], axis=0).abs().groupby(table["series"]).mean()
        found[horizon] = errors.div(errors[hubs.BASELINE], axis=0).mean()
    return pd.DataFrame(found).T
