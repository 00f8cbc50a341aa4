"""Quantile forecasts of hubs, blended by "auto": ``python -m benchmarks.panels.quantiles``.

The priors of the ways of combining quantiles (``rules/_components.py``) were chosen by what
``develop`` shows: simulated hubs, medians of deaths, and every other place of FluSight without the
whole country. All places of FluSight are what ``judge`` shows; that relative losses help was seen
on them, too. ``speed`` blends a large table. The files of the hubs are not part of this project;
without them they are skipped.
"""

import sys
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from time import perf_counter

import numpy as np
import pandas as pd

from benchmarks.panels import hubs
from benchmarks.panels.hubs import DATA, QuantilePanel
from normalhedge import Mixture
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures import crps
from normalhedge.tables._playing import play_table
from normalhedge.tables._rounds import arrange
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames._panels import Panel

LEVELS = (0.01, 0.025, *(k / 20 for k in range(1, 20)), 0.975, 0.99)
"""The levels of FluSight."""

GOAL, GOAL_LOG, SLACK = 60.0, 0.290, 1.01
"""The mean score over the four horizons, the same on the log scale, and how much worse than the
best of the hub's combinations a horizon may be."""


def auto(panel: QuantilePanel) -> Floats:
    """Return the blend of a panel: rows x levels, in the order of its rows."""
    places = sorted(set(panel.series.tolist()))
    series = np.searchsorted(places, panel.series).astype(np.int32)
    times = np.unique(panel.made)
    codes = np.searchsorted(times, panel.made).astype(np.int32)
    mixture = Mixture(loss=crps(panel.levels))
    table = Panel(
        None, list(panel.experts), panel.forecasts.copy(), panel.outcomes, places, series, codes,
        times, panel.known, "numbers",
    )  # fmt: skip
    session = TableSession.of(mixture)
    rounds = arrange(session, table, 0)
    play_table(session, rounds, weights=False, progress=None)
    result = np.empty((len(panel.outcomes), len(panel.levels)))
    result[rounds.row_of] = rounds.values[:, : len(panel.levels)]
    return result


def score(quantiles: Floats, outcomes: Floats, levels: Sequence[float]) -> Floats:
    """Return the weighted interval score of each row: twice the pinball loss, mean over levels."""
    errors = outcomes[:, np.newaxis] - quantiles
    result: Floats = 2.0 * np.maximum(levels * errors, (np.array(levels) - 1.0) * errors).mean(
        axis=1
    )
    return result


def plain(panel: QuantilePanel) -> dict[str, Floats]:
    """Return the mean and the median of the teams awake."""
    return {
        "mean": np.nanmean(panel.forecasts, axis=2),
        "median": np.nanmedian(panel.forecasts, axis=2),
    }


def simulated_hub(seed: int, *, skilled: bool, lag: int) -> QuantilePanel:
    """Return a season of 16 teams in 25 places of different size, with teams that come and go.

    Parameters
    ----------
    seed
        The seed of all that is random.
    skilled
        Whether some teams are much better than others.
    lag
        For how many further dates an outcome stays unknown.
    """
    dates, places, n = 30, 25, 16
    rng = np.random.default_rng(seed)
    normal = np.array([NormalDist().inv_cdf(level) for level in LEVELS])
    t = np.arange(dates)[:, np.newaxis]
    size, peak = rng.normal(4.0, 1.5, places), rng.normal(14.0, 3.0, places)
    logs = size - 0.5 * ((t - peak) / rng.uniform(3.0, 6.0, places)) ** 2
    logs = logs + 0.15 * np.cumsum(rng.normal(0.0, 0.5, (dates, places)), axis=0)
    bias, spread = rng.normal(0.0, 0.15, n), np.exp(rng.normal(-1.2, 0.5 if skilled else 0.1, n))
    wrong = np.exp(rng.normal(0.0, 0.4, n))
    shared = rng.normal(0.0, 0.15, (dates, places, 1))
    errors = rng.normal(size=(dates, places, n)) * spread + shared
    errors += bias * np.cos(t / dates * 6.0)[..., np.newaxis]
    for s in range(1, dates):  # errors last
        errors[s] = 0.6 * errors[s - 1] + 0.8 * errors[s]
    said = np.exp(
        (logs[..., np.newaxis] + errors)[:, :, np.newaxis] + np.outer(normal, spread * wrong)
    )
    begins = rng.integers(0, dates // 2, n) * (rng.random(n) < 0.4)
    asleep = (t < begins) | (rng.random((dates, n)) < 0.08)
    said = np.where(asleep[:, np.newaxis, np.newaxis], np.nan, said)
    made = np.repeat(np.arange(dates), places)
    names = tuple(f"team {i}" for i in range(n))
    where = np.tile([f"place {k}" for k in range(places)], dates)
    forecasts = said.reshape(-1, len(LEVELS), n)
    return QuantilePanel(
        LEVELS, names, forecasts, np.exp(logs).ravel(), where, made, made + 1 + lag
    )


def relative(panels: Sequence[QuantilePanel]) -> dict[str, float]:
    """Return the score of auto relative to the better of mean and median, mean over panels."""
    ratios = []
    for panel in panels:
        combined = {**plain(panel), "auto": auto(panel)}
        known = ~np.isnan(panel.outcomes)
        found = {
            name: score(values[known], panel.outcomes[known], panel.levels).mean()
            for name, values in combined.items()
        }
        ratios.append(found["auto"] / min(found["mean"], found["median"]))
    return {"panels": len(panels), "auto": float(np.mean(ratios)), "worst": float(np.max(ratios))}


def develop() -> Iterator[str]:
    """Yield what the priors were chosen by."""
    found = {
        f"simulated, {'skilled' if skilled else 'alike'}, {lag} late": relative(
            [simulated_hub(seed, skilled=skilled, lag=lag) for seed in range(8)]
        )
        for skilled in (True, False)
        for lag in (0, 3)
    }
    if DATA.is_dir():
        found["EU deaths, medians"] = relative([hubs.deaths_as_quantiles(h) for h in (1, 2, 3, 4)])
        half = [every_other(hubs.flusight_quantiles(h)) for h in range(4)]
        found["FluSight, every other place"] = relative(half)
    yield "auto relative to the better of plain mean and plain median"
    yield pd.DataFrame(found).T.round(4).to_string()


def every_other(panel: QuantilePanel) -> QuantilePanel:
    """Return the panel of every other place, without the whole country."""
    places = sorted(set(panel.series.tolist()) - {"US"})[::2]
    return panel.only(np.isin(panel.series, places))


def judge() -> Iterator[str]:
    """Yield the scores of auto and of the hub's combinations at each horizon."""
    if not DATA.is_dir():
        yield f"the hub is not at {DATA.name}: skipped"
        return
    scores: dict[str, list[float]] = {}
    logs: dict[str, list[float]] = {}
    for horizon in range(4):
        panel, theirs = hubs.flusight_quantiles(horizon), hubs.flusight_ensembles(horizon)
        rows = ~np.isnan(theirs["FluSight-ensemble"][:, 0]) & ~np.isnan(panel.outcomes)
        y = panel.outcomes[rows]
        for name, values in {"auto": auto(panel), **theirs, **plain(panel)}.items():
            own = values[rows]
            scores.setdefault(name, []).append(float(score(own, y, panel.levels).mean()))
            own, there = np.log1p(own), np.log1p(y)
            logs.setdefault(name, []).append(float(score(own, there, panel.levels).mean()))
    for title, found in (("WIS", scores), ("WIS, log scale", logs)):
        table = pd.DataFrame(found, index=[f"h = {h}" for h in range(4)]).T
        table["mean"] = table.mean(axis=1)
        yield f"\nFluSight 2023-24, {title}\n{table.round(4).to_string()}"
    best = [min(found[h] for name, found in scores.items() if name != "auto") for h in range(4)]
    worst = max(mine / other for mine, other in zip(scores["auto"], best, strict=True))
    ours, log = np.mean(scores["auto"]), np.mean(logs["auto"])
    yield f"\nmean {ours:.2f}, the goal is below {GOAL}: {'met' if ours < GOAL else 'missed'}"
    low = log < GOAL_LOG
    yield f"log scale {log:.4f}, the goal is below {GOAL_LOG}: {'met' if low else 'missed'}"
    yield (
        f"at most {worst:.3f} times the best combination of a horizon, the goal is {SLACK}: "
        f"{'met' if worst <= SLACK else 'missed'}"
    )


def speed(rounds: int = 100_000, n: int = 20) -> Iterator[str]:
    """Yield the time that a long table takes, and its ratio to NumPy's plain median."""
    rng = np.random.default_rng(0)
    normal = np.array([NormalDist().inv_cdf(level) for level in LEVELS])
    y, spread = rng.normal(size=rounds), np.exp(rng.normal(0.0, 0.4, n))
    middle = y[:, np.newaxis] + rng.normal(size=(rounds, n)) * spread
    forecasts = middle[:, np.newaxis] + np.outer(normal, spread)
    made, where = np.arange(rounds), np.full(rounds, "")
    panel = QuantilePanel(
        LEVELS, tuple(f"m{i}" for i in range(n)), forecasts, y, where, made, made + 1
    )
    begin = perf_counter()
    auto(panel)
    ours = perf_counter() - begin
    begin = perf_counter()
    np.median(forecasts, axis=2)
    theirs = perf_counter() - begin
    yield (
        f"{rounds:,} rounds x {n} models x {len(LEVELS)} levels: {ours:.1f} s, "
        f"{ours / theirs:.1f} times NumPy's plain median"
    )


KINDS = {"develop": develop, "judge": judge, "speed": speed}

if __name__ == "__main__":
    for kind in sys.argv[1:] or ["develop", "judge"]:
        for line in KINDS[kind]():
            print(line, flush=True)
