"""The blend beside what people use instead: ``python -m benchmarks.panels.overview``.

Each method forecasts every panel of numbers that nothing was chosen by. The loss of a method on a
panel is relative to the plain median of the experts, series by series. The figure of a method is
the geometric mean over the panels, with its worst panel and the time of all panels. A series of
which the median is almost never wrong has enormous ratios in square loss.

    best single model   known in hindsight only
    stacks              fitted again in each round (`benchmarks.panels.stacks`)
    river               `EWARegressor` at its default rate, on errors in units of the plain mean's
                        first ten
    sktime              `NormalHedgeEnsemble` on the losses of the experts, scaled in the same way
    opera               its ML-Poly with gradients, reproduced by `hedgers.MLPolyOpera`
    profoc              its BOA with gradients, reproduced by `hedgers.BOA`
    MELO                least squares that forget at three rates, as further experts of ML-Poly

The figures of held-out panels go to ``docs/overview.json``; ``docs/hero_picture.py`` draws them,
and `benchmarks.overall` puts them next to those of other tasks. A method wins a panel if no other
method that can be had before the end has less loss.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from river import optim

from benchmarks.panels.bench import Panel, entries, load
from benchmarks.panels.scores import DEFAULT, LOSSES, blended, plain
from benchmarks.panels.split import KINDS
from benchmarks.panels.stacks import non_negative, ridge, stacked
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.whole_files import write_whole
from tests.peers import River, Sktime

FIGURES = Path(__file__).parents[2] / "docs" / "overview.json"
MEAN, MEDIAN, BEST, OURS = "plain mean", "plain median", "best single model", "normalhedge"
MEMORIES = (20, 100, 500)
"""The rounds that the least squares of MELO remember."""

Method = Callable[[Panel, str], Floats]


def rounds(panel: Panel) -> Iterator[tuple[np.ndarray, Floats, Floats]]:
    """Yield the rows of each series in order, the forecasts (the mean if missing), the outcomes."""
    x, y = panel.frame[panel.columns].to_numpy(float), panel.frame["y"].to_numpy(float)
    x = np.where(np.isnan(x), np.nanmean(x, axis=1)[:, np.newaxis], x)
    times = panel.frame["time"].to_numpy()
    for rows in panel.frame.groupby("series", sort=False).indices.values():
        order = rows[np.argsort(times[rows], kind="stable")]
        yield order, x[order], y[order]


def river(panel: Panel, loss: str) -> Floats:
    """Return the forecasts of river's exponentially weighted average."""
    del loss
    result = np.empty(len(panel.frame))
    for order, x, y in rounds(panel):
        scale = np.abs(x[:10].mean(axis=1) - y[:10]).mean() or 1.0
        ensemble, values = River(x.shape[1]).ewa, x / scale
        ensemble.loss = optim.losses.Squared()  # its default
        ensemble.weights = [1.0 / x.shape[1]] * x.shape[1]
        for t, row in enumerate(order):
            known = t - panel.lag - 1
            if known >= 0:
                ensemble.learn_one(dict(enumerate(values[known])), y[known] / scale)
            result[row] = scale * ensemble.predict_one(dict(enumerate(values[t])))
    return result


def sktime(panel: Panel, loss: str) -> Floats:
    """Return the forecasts of sktime's NormalHedge on losses, which it takes as they are."""
    result = np.empty(len(panel.frame))
    for order, x, y in rounds(panel):
        scale = np.abs(x[:10].mean(axis=1) - y[:10]).mean() or 1.0
        ensemble, errors = Sktime(x.shape[1]), LOSSES[loss](x / scale, (y / scale)[:, np.newaxis])
        for t, row in enumerate(order):
            known = t - panel.lag - 1
            if known >= 0:
                ensemble.learn(errors[known])
            result[row] = x[t] @ ensemble.weights / ensemble.weights.sum()
    return result


def melo(panel: Panel, loss: str) -> Floats:
    """Return the forecasts of ML-Poly over the experts and least squares that forget."""
    frame = panel.frame.copy()
    for memory in MEMORIES:
        forecasts = np.empty(len(frame))
        for order, x, y in rounds(panel):
            forecasts[order] = _least_squares(x, y, panel.lag, 1.0 - 1.0 / memory)
        frame[f"least squares {memory}"] = forecasts
    wider = replace(panel, frame=frame)
    return blended(wider, loss, "ml-poly", plain(wider)[0])


def _least_squares(x: Floats, y: Floats, lag: int, forget: float) -> Floats:
    """Return the forecasts of least squares on deviations from the mean, with a ridge of 1."""
    mean = x.mean(axis=1)
    scale = np.abs(mean[:10] - y[:10]).mean() or 1.0
    z, e = (x - mean[:, np.newaxis]) / scale, (y - mean) / scale
    a, b = np.eye(x.shape[1]), np.zeros(x.shape[1])
    result = np.empty(len(y))
    for t in range(len(y)):
        known = t - lag - 1
        if known >= 0:
            a = forget * a + (1.0 - forget) * np.eye(len(b)) + np.outer(z[known], z[known])
            b = forget * b + e[known] * z[known]
        result[t] = mean[t] + scale * float(z[t] @ np.linalg.solve(a, b))
    return result


def _plain(name: str, panel: Panel, loss: str) -> Floats:
    del loss
    return plain(panel)[1][name]


def _blended(hedger: str, panel: Panel, loss: str) -> Floats:
    return blended(panel, loss, hedger, plain(panel)[0])


METHODS: dict[str, Method] = {
    MEAN: partial(_plain, "mean"),
    MEDIAN: partial(_plain, "median"),
    "non-negative stack": lambda panel, _loss: stacked(panel, non_negative),
    "ridge stack": lambda panel, _loss: stacked(panel, ridge),
    "river EWA": river,
    "sktime NormalHedge": sktime,
    "opera ML-Poly": partial(_blended, "ml-poly-opera"),
    "profoc BOA": partial(_blended, "boa"),
    "MELO": melo,
    OURS: partial(_blended, DEFAULT),
}


def losses(panel: Panel, loss: str, seconds: dict[str, float]) -> dict[str, float]:
    """Return the loss of each method relative to the plain median, averaged over the series."""
    outcomes, series = panel.frame["y"].to_numpy(float), pd.factorize(panel.frame["series"])[0]
    sums: dict[str, Floats] = {}
    for name, method in METHODS.items():
        begun = time.perf_counter()
        forecasts = method(panel, loss)
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - begun
        sums[name] = np.bincount(series, LOSSES[loss](forecasts, outcomes)).astype(float)
    sums[BEST] = best_single(panel, loss, sums[MEDIAN], series)
    base = sums[MEDIAN]
    some = base > 0.0
    return {name: float((sum_[some] / base[some]).mean()) for name, sum_ in sums.items()}


def best_single(panel: Panel, loss: str, median: Floats, series: np.ndarray) -> Floats:
    """Return the losses, by series, of the best expert of each series in hindsight.

    The loss of an expert that sleeps in some rows of a series is taken from the rows in which it is
    awake, relative to the plain median there; it must be awake in half of the rows.
    """
    experts = panel.frame[panel.columns].to_numpy(float)
    outcomes = panel.frame["y"].to_numpy(float)
    plainly = LOSSES[loss](np.nanmedian(experts, axis=1), outcomes)
    best, count = np.full(median.shape, np.inf), np.bincount(series)
    for expert in experts.T:
        awake = ~np.isnan(expert)
        lost = LOSSES[loss](expert[awake], outcomes[awake])
        own, of_median, awakes = (
            np.bincount(series[awake], weights, minlength=len(median))
            for weights in (lost, plainly[awake], None)
        )
        often = (2 * awakes >= count) & (of_median > 0.0)
        ratio = np.divide(own, of_median, out=np.full(median.shape, np.inf), where=often)
        best = np.minimum(best, ratio)
    return np.where(np.isfinite(best), best, 1.0) * median


def main() -> None:
    """Print the figures of both losses, and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", default="judge", choices=(*KINDS, "all"))
    kind = parser.parse_args().kind
    panels = [panel for entry in entries(kind) if not (panel := load(entry)).long]
    figures: dict[str, object] = {"kind": kind, "panels": len(panels)}
    for loss in ("square", "absolute"):
        seconds: dict[str, float] = {}
        table = pd.DataFrame([losses(panel, loss, seconds) for panel in panels])
        means = np.exp(np.log(table).mean()).sort_values()
        wins = table.drop(columns=BEST).idxmin(axis=1).value_counts()
        print(f"{loss} loss relative to the plain median, {len(panels)} panels")
        for name, value in means.items():
            took = f"{seconds[name]:8.1f} s" if name in seconds else "in hindsight"
            print(f"  {name:20} {value:8.3f}   worst {table[name].max():14.3f} {took:>12}")
        figures[loss] = {
            name: {
                "mean": round(value, 3),
                "worst": round(float(table[name].max()), 3),
                "wins": int(wins.get(name, 0)),
                "seconds": round(seconds.get(name, 0.0), 1),
            }
            for name, value in means.items()
        }
    if kind == "judge":
        text = json.dumps(figures, indent=1) + "\n"
        write_whole(FIGURES, lambda part: part.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
