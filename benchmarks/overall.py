"""Other libraries next to ours, task by task: ``make peers``, or ``python -m benchmarks.overall``.

Each task has one measure, lower is better, and counts who is best on how many of its cases. Every
method has the settings that its library gives it where nothing is chosen. `benchmarks.panels` has
the blends, in ``docs/overview.json``; the other tasks are run here.

    regimes     the mean of -ln p(y_t | y_1 .. y_{t-1}) over a series; ours tries families and
                numbers of states, hmmlearn is fitted again at intervals with two and three states
    intervals   the interval score at 90 %, (u - l) + 2/alpha (the distance of y from [l, u])
    actions     the regret of a round, to the best action in hindsight, or of the round

The table goes to ``docs/peers.json`` and into ``docs/peers.md``. Libraries that are not installed
have no rows.
"""

import json
import re
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import routing
from benchmarks.intervals import mapie_peer
from benchmarks.intervals.rivals import ALPHA
from benchmarks.intervals.series import KINDS
from benchmarks.latent import real
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.whole_files import write_whole

DOCS = Path(__file__).parents[1] / "docs"
OURS = "normalhedge"
TABLE = re.compile(
    r"(?<=<!-- benchmarks/overall.py writes this -->\n).*?(?=<!-- end -->)", re.DOTALL
)
BANDITS: dict[str, Callable[[int, int], routing.Player]] = {
    OURS: routing.ours("auto"),
    "river UCB": routing.river("UCB", {"delta": 1.0}, None),
    "river epsilon-greedy": routing.river("EpsilonGreedy", {"epsilon": 0.1}, None),
    "river Thompson": routing.river("ThompsonSampling", {}, None),
    "MABWiser UCB1": routing.mabwiser("UCB1", {"alpha": 1.0}, 50),
    "MABWiser epsilon-greedy": routing.mabwiser("EpsilonGreedy", {"epsilon": 0.1}, 50),
}
ROUNDS, SEEDS = 5_000, 2


class Score(NamedTuple):
    """The measure of a method in a case, and how long it took."""

    value: float
    seconds: float


def timed(measure: Callable[[], float]) -> Score:
    """Return a measure and its time."""
    begun = time.perf_counter()
    value = measure()
    return Score(value, time.perf_counter() - begun)


def regimes() -> Iterator[tuple[str, dict[str, Score]]]:
    """Yield the log loss of each method on each real series."""

    def lost(given: real.Series, follow: real.Follower) -> float:
        said = follow(given)
        return np.nan if said is None else -float(np.mean(said.scores[given.first :]))

    for given in real.series():
        scores = {OURS: timed(partial(lost, given, real.ours))}
        # hmmlearn has no such family for symbols or an autoregression.
        if find_spec("hmmlearn") is not None and given.emission in {"gaussian", "full"}:
            for states in (2, 3):
                follow = partial(real.refitted, states=states)
                scores[f"hmmlearn, {states} states"] = timed(partial(lost, given, follow))
            yield given.name, scores


def intervals() -> Iterator[tuple[str, dict[str, Score]]]:
    """Yield the interval score of each method on each kind of residuals."""

    def score(bounds: Callable[[], tuple[Floats, Floats]], y: Floats) -> float:
        largest = np.abs(y).max()
        low, high = (np.clip(bound, -largest, largest) for bound in bounds())
        outside = np.maximum(low - y[mapie_peer.FIT :], 0.0)
        outside += np.maximum(y[mapie_peer.FIT :] - high, 0.0)
        return float(np.mean(high - low + 2.0 / ALPHA * outside))

    for kind, draw in KINDS.items():
        if draw is not None and find_spec("mapie") is not None:
            y = draw(1000).y[: mapie_peer.UNTIL]
            methods = {OURS: partial(mapie_peer.our_bounds, y)}
            for rate in mapie_peer.RATES:
                methods[f"MAPIE ACI {rate}"] = partial(mapie_peer.mapie_bounds, y, rate)
            yield kind, {name: timed(partial(score, f, y)) for name, f in methods.items()}


def actions() -> Iterator[tuple[str, dict[str, Score]]]:
    """Yield the regret per round of each method on each nature."""
    for name, nature in routing.natures(ROUNDS).items():
        world, scores = nature(), {}
        for method, make in BANDITS.items():
            if method == OURS or find_spec(method.split()[0].lower()) is not None:
                play = partial(routing.mean_regret, world, make, SEEDS)
                score = timed(play)
                scores[method] = Score(score.value / ROUNDS, score.seconds)
        yield name, scores


TASKS = {"regimes": regimes, "intervals": intervals, "actions": actions}
TITLES = {
    "blend": "Blend: absolute error relative to the plain median",
    "regimes": "Regimes: log loss of the next value",
    "intervals": "Intervals of 90 %: interval score",
    "actions": "Choose one: regret of a round",
}


def summary(cases: dict[str, dict[str, Score]]) -> dict[str, Any]:
    """Return the mean, wins and seconds of each method of a task."""
    methods = sorted({method for scores in cases.values() for method in scores})
    winners = [min(scores, key=lambda name: scores[name].value) for scores in cases.values()]
    rows = {}
    for method in methods:
        own = [scores[method] for scores in cases.values() if method in scores]
        rows[method] = {
            "mean": round(float(np.mean([score.value for score in own])), 4),
            "wins": winners.count(method),
            "seconds": round(sum(score.seconds for score in own), 1),
        }
    return {"cases": len(cases), "methods": rows, "best": dict(zip(cases, winners, strict=True))}


def blends() -> dict[str, Any]:
    """Return the figures of `benchmarks.panels.overview` in the form of a task."""
    figures = json.loads((DOCS / "overview.json").read_text(encoding="utf-8"))
    fields = ("mean", "wins", "seconds")
    rows = {
        name: {field: row[field] for field in fields} for name, row in figures["absolute"].items()
    }
    return {"cases": figures["panels"], "methods": rows}


def table(tasks: dict[str, Any]) -> str:
    """Return the figures as the tables of the page."""
    parts = []
    for task, figures in tasks.items():
        rows = sorted(figures["methods"].items(), key=lambda item: item[1]["mean"])
        lines = [
            f"## {TITLES[task]}\n",
            "| method | mean | best on | seconds |",
            "|---|--:|--:|--:|",
        ]
        for name, row in rows:
            bold = "**" if name == OURS else ""
            hindsight = name == "best single model"
            wins = "in hindsight" if hindsight else f"{row['wins']} of {figures['cases']}"
            seconds = "" if hindsight else f"{row['seconds']:,.1f}"
            lines.append(f"| {bold}{name}{bold} | {row['mean']:.3f} | {wins} | {seconds} |")
        lost = [case for case, name in figures.get("best", {}).items() if name != OURS]
        if "best" in figures:
            lines.append(
                "\nAnother library is best on:\n" if lost else "\nNo other library is best."
            )
            lines += [f"- {case}: {figures['best'][case]}" for case in lost]
        parts.append("\n".join(lines) + "\n\n")
    return "\n" + "".join(parts)


def main() -> None:
    """Run the tasks, and write and print the tables."""
    warnings.simplefilter("ignore")
    tasks: dict[str, Any] = {}
    for name, run in TASKS.items():
        cases = {}
        for case, scores in run():
            cases[case] = scores
            values = "  ".join(f"{method} {score.value:.4f}" for method, score in scores.items())
            print(f"{name:10} {case:28} {values}", flush=True)
        tasks[name] = summary(cases)
    tasks = {"blend": blends(), **tasks}
    text = json.dumps(tasks, indent=1) + "\n"
    write_whole(DOCS / "peers.json", lambda part: part.write_text(text, encoding="utf-8"))
    page = DOCS / "peers.md"
    filled = TABLE.sub(lambda _: table(tasks), page.read_text(encoding="utf-8"))
    write_whole(page, lambda part: part.write_text(filled, encoding="utf-8"))
    print(table(tasks))


if __name__ == "__main__":
    main()
