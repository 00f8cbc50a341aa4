"""The default beside stacks that are fitted again: ``python -m benchmarks.panels.stacks``.

A stack is the regression that ten lines make: the outcomes known so far on all forecasts, for each
series by itself; the plain mean takes the place of a forecast that is missing, and of the stack
until ten outcomes are known. Long series are fitted 300 times.

    nnls    min |y - X w|^2,  w >= 0
    ridge   the mean of the forecasts, a constant, and the deviations of the forecasts from the mean
"""

import argparse
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from benchmarks.panels.bench import Panel, entries, load
from benchmarks.panels.scores import DEFAULT, LOSSES, plain, relative_losses, score
from normalhedge.boundary.inputs import Floats

FITS, LEAST = 300, 10
Fit = Callable[[Floats, Floats, Floats], Callable[[Floats], float]]


def non_negative(x: Floats, y: Floats, mean: Floats) -> Callable[[Floats], float]:
    """Return a stack without negative weights."""
    del mean
    weights = nnls(x, y)[0]
    return lambda row: float(row @ weights)


def ridge(x: Floats, y: Floats, mean: Floats) -> Callable[[Floats], float]:
    """Return a stack that is shrunk towards the plain mean."""
    scale = x.std() + 1e-9
    features = np.column_stack([np.full(len(x), scale), x - mean[:, np.newaxis]])
    matrix = features.T @ features + scale**2 * np.eye(features.shape[1])
    weights = np.linalg.solve(matrix, features.T @ (y - mean))
    return lambda row: float(row.mean() + np.append(scale, row - row.mean()) @ weights)


STACKS: dict[str, Fit] = {"nnls": non_negative, "ridge": ridge}


def stacked(panel: Panel, fit: Fit) -> Floats:
    """Return the forecasts of a stack, in the order of the rows."""
    x, y = panel.frame[panel.columns].to_numpy(float), panel.frame["y"].to_numpy(float)
    mean = np.nanmean(x, axis=1)
    x = np.where(np.isnan(x), mean[:, np.newaxis], x)
    result: Floats = mean.copy()
    times = panel.frame["time"].to_numpy()
    for rows in panel.frame.groupby("series", sort=False).indices.values():
        order = rows[np.argsort(times[rows], kind="stable")]
        every, stack = max(1, len(order) // FITS), None
        for t, row in enumerate(order):
            known = order[: max(t - panel.lag, 0)]
            if len(known) >= max(LEAST, x.shape[1] // 2) and (t % every == 0 or t < 40):
                stack = fit(x[known], y[known], x[known].mean(axis=1))
            if stack is not None:
                result[row] = stack(x[row])
    return result


def compare(panel: Panel, loss: str) -> dict[str, float]:
    """Return the losses of the default and of the stacks, relative to the better plain one."""
    rows, forecasts = plain(panel)
    forecasts = forecasts | {name: stacked(panel, fit) for name, fit in STACKS.items()}
    outcomes = rows["y"].to_numpy(float)
    losses = {name: LOSSES[loss](values, outcomes) for name, values in forecasts.items()}
    relative = relative_losses(losses, pd.factorize(rows["series"])[0], ["mean", "median"])
    better = min(relative["mean"], relative["median"])
    result = {name: relative[name] / better for name in STACKS}
    return {DEFAULT: score(panel, loss)[DEFAULT], **result}


def main() -> None:
    """Print a line for each panel, and how often a stack is clearly better or worse."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", default="all", choices=("develop", "judge", "all"))
    parser.add_argument("--loss", default="square", choices=("square", "absolute"))
    parser.add_argument("--lag", type=int, help="let outcomes stay unknown for so many rounds")
    options = parser.parse_args()
    ratios = []
    for panel in (load(entry) for entry in entries(options.kind)):
        if panel.long:
            continue
        if options.lag is not None:
            frame = panel.frame.drop(columns="cutoff", errors="ignore")
            panel = Panel(panel.name, options.lag, frame)  # noqa: PLW2901
        losses = compare(panel, options.loss)
        ratios.append(min(losses[name] for name in STACKS) / losses[DEFAULT])
        print(panel.name.ljust(24), *(f"{name} {loss:10.3f}" for name, loss in losses.items()))
    better, worse = sum(r < 1 / 1.05 for r in ratios), sum(r > 1.3 for r in ratios)
    print(f"the better stack loses 5 % less on {better}, 30 % more on {worse} of {len(ratios)}")


if __name__ == "__main__":
    main()
