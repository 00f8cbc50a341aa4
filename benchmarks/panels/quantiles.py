"""Quantile forecasts of hubs, blended by "auto": ``python -m benchmarks.panels.quantiles``.

The priors of the ways of combining quantiles (``rules/_components.py``), the caution of the meta
level and the corrections were chosen by what ``develop`` and ``judge`` show: simulated hubs,
medians of deaths, quantiles made of the residuals of models on panels to develop on, and two
seasons of FluSight. So ``judge`` is no test: it shows how the blend compares with the combinations
of the hub. ``speed`` blends a large table, and rounds as large as a hub's. The files of the hubs
are not part of this project; without them they are skipped.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
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

KEPT = Path(__file__).parents[2] / "out" / "panels"
"""Where `nox -s panels` keeps panels."""

LEVELS = (0.01, 0.025, *(k / 20 for k in range(1, 20)), 0.975, 0.99)
"""The levels of FluSight."""

GOALS = {"2022-23": (88.0, 0.390, 1.02), "2023-24": (60.0, 0.290, 1.01)}
"""For each season, the mean score over the four horizons, the same on the log scale, and how much
worse than the best of the hub's combinations a horizon may be."""

RESIDUALS = {
    "macrodata": (1, 1.0), "us-employment": (12, 1.0), "interest-inflation": (4, 1.0),
    "ausbeer": (1, 1.0), "pbs": (12, 1.0), "seatbelts": (12, 1.0), "elec-equip": (12, 1.0),
    "macrodata, narrow": (4, 0.6), "seatbelts, narrow": (12, 0.6),
}  # fmt: skip
"""Panels to develop on whose residuals make quantiles: their horizon, and the factor of residuals;
"narrow" experts are too sure."""


def auto(panel: QuantilePanel, rule: str = "auto") -> Floats:
    """Return the blend of a panel: rows x levels, in the order of its rows."""
    places = sorted(set(panel.series.tolist()))
    series = np.searchsorted(places, panel.series).astype(np.int32)
    times = np.unique(panel.made)
    codes = np.searchsorted(times, panel.made).astype(np.int32)
    mixture = Mixture(rule, loss=crps(panel.levels))
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


INSIDE = "auto:inside=true"
"""The rule without corrections, as of earlier versions."""


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
    ratios, inside = [], []
    for panel in panels:
        combined = {**plain(panel), "auto": auto(panel), "inside": auto(panel, INSIDE)}
        known = ~np.isnan(panel.outcomes)
        found = {
            name: score(values[known], panel.outcomes[known], panel.levels).mean()
            for name, values in combined.items()
        }
        best = min(found["mean"], found["median"])
        ratios.append(found["auto"] / best)
        inside.append(found["inside"] / best)
    return {
        "panels": len(panels),
        "auto": float(np.mean(ratios)),
        "worst": float(np.max(ratios)),
        INSIDE: float(np.mean(inside)),
    }


def develop() -> Iterator[str]:
    """Yield what the priors were chosen by."""
    found = {
        f"simulated, {'skilled' if skilled else 'alike'}, {lag} late": relative(
            [simulated_hub(seed, skilled=skilled, lag=lag) for seed in range(8)]
        )
        for skilled in (True, False)
        for lag in (0, 3)
    }
    for name, (horizon, width) in RESIDUALS.items():
        file = KEPT / f"{name.split(',')[0]}-h{horizon}.parquet"
        if file.is_file():
            panel = pd.read_parquet(file)
            made = hubs.residual_quantiles(panel, horizon=horizon, width=width)
            found[f"residuals, {name}"] = relative([made])
    if DATA.is_dir():
        found["EU deaths, medians"] = relative([hubs.deaths_as_quantiles(h) for h in (1, 2, 3, 4)])
    yield "auto relative to the better of plain mean and plain median"
    yield pd.DataFrame(found).T.round(4).to_string()


def judge() -> Iterator[str]:
    """Yield the scores of auto and of the hub's combinations at each horizon."""
    if not DATA.is_dir():
        yield f"the hub is not at {DATA.name}: skipped"
        return
    for season in hubs.SEASONS:
        yield from judge_season(season)


def judge_season(season: str) -> Iterator[str]:
    """Yield the scores of a season."""
    scores: dict[str, list[Floats]] = {}
    horizons = hubs.SEASONS[season]
    for horizon in horizons:
        panel = hubs.flusight_quantiles(horizon, season)
        theirs = hubs.flusight_ensembles(horizon, season)
        rows = ~np.isnan(theirs["FluSight-ensemble"][:, 0]) & ~np.isnan(panel.outcomes)
        y, dates = panel.outcomes[rows], np.unique(panel.made)
        early = panel.made[rows] < dates[(len(dates) + 1) // 2]
        blends = {"auto": auto(panel), INSIDE: auto(panel, INSIDE)}
        for name, values in {**blends, **theirs, **plain(panel)}.items():
            own = values[rows]
            found = score(own, y, panel.levels)
            logs = score(np.log1p(own), np.log1p(y), panel.levels)
            halves = [part[half].mean() for part in (found, logs) for half in (early, ~early)]
            scores.setdefault(name, []).append(np.array([found.mean(), logs.mean(), *halves]))
    for k, title in enumerate(("WIS", "WIS, log scale")):
        heads = [f"h = {h}" for h in horizons]
        table = pd.DataFrame({n: [x[k] for x in all_] for n, all_ in scores.items()}, index=heads).T
        table["mean"] = table.mean(axis=1)
        for half, place in (("first half", 2 + 2 * k), ("second half", 3 + 2 * k)):
            table[half] = [np.mean([x[place] for x in all_]) for all_ in scores.values()]
        yield f"\nFluSight {season}, {title}\n{table.round(4).to_string()}"
    others = [name for name in scores if name not in {"auto", INSIDE}]
    best = np.array([min(scores[name][h][0] for name in others) for h in range(len(horizons))])
    ours = np.array([x[0] for x in scores["auto"]])
    mean, log, worst = ours.mean(), np.mean([x[1] for x in scores["auto"]]), (ours / best).max()
    goal, goal_log, slack = GOALS[season]
    met = {True: "met", False: "missed"}
    yield f"\nmean {mean:.2f}, the goal is below {goal}: {met[bool(mean < goal)]}"
    yield f"log scale {log:.4f}, the goal is below {goal_log}: {met[bool(log < goal_log)]}"
    yield (
        f"at most {worst:.3f} times the best combination of a horizon, the goal is {slack}: "
        f"{met[bool(worst <= slack)]}"
    )


def round_of_a_hub(rounds: int = 60, items: int = 53, n: int = 30) -> Iterator[str]:
    """Yield the time of a round as large as a hub's, with corrections and without, in one run."""
    rng = np.random.default_rng(1)
    normal = np.array([NormalDist().inv_cdf(level) for level in LEVELS])
    y = rng.normal(size=rounds * items)
    middle = y[:, np.newaxis] + rng.normal(size=(rounds * items, n))
    forecasts = middle[:, np.newaxis] + normal[:, np.newaxis]
    made = np.repeat(np.arange(rounds), items)
    where = np.tile([f"place {k}" for k in range(items)], rounds)
    names = tuple(f"m{i}" for i in range(n))
    panel = QuantilePanel(LEVELS, names, forecasts, y, where, made, made + 1)
    times = {}
    for rule in ("auto", INSIDE):
        begin = perf_counter()
        auto(panel, rule)
        times[rule] = (perf_counter() - begin) / rounds * 1e3
    yield (
        f"a round of {items} items x {len(LEVELS)} levels x {n} models: "
        f"{times['auto']:.1f} ms, {times['auto'] / times[INSIDE]:.2f} times {INSIDE}"
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


KINDS = {"develop": develop, "judge": judge, "speed": speed, "round": round_of_a_hub}

if __name__ == "__main__":
    for kind in sys.argv[1:] or ["develop", "judge"]:
        for line in KINDS[kind]():
            print(line, flush=True)
