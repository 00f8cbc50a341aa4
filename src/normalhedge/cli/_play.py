"""``normalhedge play``: any hedger against any nature."""

import math
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from normalhedge.boundary import extras, inputs, number_tables, specs
from normalhedge.boundary.terminal import shown
from normalhedge.cli import _shared as shared
from normalhedge.cli._progress import ProgressBar
from normalhedge.guarantees import at_most
from normalhedge.hedgers import HEDGERS, CompiledHedger, Hedger, named
from normalhedge.reports.plots import PALETTE, regret_figure
from normalhedge.research.games import NATURES, Nature, Replay, Trace, play

POINTS = 1000
"""About how many rounds are recorded unless --every says otherwise."""

MARKERS = ("hd", "x", "o", "+", "*", "#")
"""What curves in a terminal are drawn with, so that they differ without colours too."""


@click.command(
    "play",
    epilog="Hedgers: "
    + ", ".join(HEDGERS)
    + ". Natures: "
    + ", ".join(NATURES)
    + ". Settings follow a colon: normal-hedge:c=1 or good-and-bad:gamma=0.4,f=0.1.",
)
@click.option(
    "--hedger",
    "hedgers",
    multiple=True,
    metavar=shared.HEDGER,
    help="A hedger; repeatable. [default: normal-hedge and hedge]",
)
@click.option(
    "--nature",
    default="good-and-bad:gamma=0.4,f=0.1",
    metavar=shared.HEDGER,
    show_default=True,
    help="The simulated game; replay:source=FILE.csv plays recorded gains.",
)
@click.option("--experts", type=int, default=100, show_default=True)
@click.option("--alpha", type=float, default=0.01, show_default=True, help="The discount rate.")
@click.option(
    "--rounds", type=int, help="The length of the game. [default: 10/alpha, or the whole recording]"
)
@click.option("--runs", type=int, default=1, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--every", type=int, help="Record one round in so many.")
@click.option("--quantile", type=float, help="Also show the regret to the best share of experts.")
@shared.jobs_option
@shared.path_option("--plot", "FILE.png", "Draw the plot into a file instead of the terminal.")
@shared.path_option("--out", shared.TABLE, "Write the recorded numbers.")
def command(
    hedgers: tuple[str, ...],
    nature: str,
    experts: int,
    alpha: float,
    rounds: int | None,
    runs: int,
    seed: int,
    every: int | None,
    quantile: float | None,
    jobs: int | None,
    plot: Path | None,
    out: Path | None,
) -> None:
    """Simulate one game and show the regret of hedgers to the best expert."""
    shared.check_ending(plot, (".png", ".pdf"))
    shared.check_ending(out, shared.TABLES)
    experts = inputs.count("experts", experts)
    texts = hedgers or ("normal-hedge", "hedge")
    # An adversary is aimed at the first hedger.
    target = named(texts[0], experts, alpha=alpha)
    world: Nature = specs.make(
        "nature", nature, NATURES, target=target, alpha=alpha, experts=experts
    )
    if len(set(texts)) < len(texts):
        raise click.UsageError("each --hedger must be different")
    players: dict[str, Hedger[Any]] = {
        text: named(text, world.experts, alpha=alpha) for text in texts
    }
    if rounds is None:
        rounds = world.rounds if isinstance(world, Replay) else round(10 / alpha)
    rounds = inputs.count("rounds", rounds)
    with ProgressBar("playing") as bar:
        trace = play(
            players,
            world,
            rounds,
            runs,
            seed,
            every=max(rounds // POINTS, 1) if every is None else every,
            quantile=quantile,
            jobs=jobs,
            progress=bar,
        )
    title = f"{world.experts:,} experts, {nature}, {runs} run{'s' * (runs > 1)}"
    Console().print(_summary(trace, players, world.experts, rounds, Text(shown(title))))
    if out is not None:
        number_tables.write_table(out, trace.columns())
    if plot is not None:
        styles = dict(zip(trace.hedgers, PALETTE * len(trace.hedgers), strict=False))
        regret_figure([(title, trace)], styles, plot, columns=1)
    else:
        _draw(trace)


def _summary(
    trace: Trace, hedgers: dict[str, Hedger[Any]], experts: int, rounds: int, title: Text
) -> Table:
    head = ("hedger", "regret, mean", "highest", "never above", "gain, mean", "potential, highest")
    table = Table(*head, title=title)
    for k, name in enumerate(trace.hedgers):
        table.add_row(
            Text(shown(name)),
            f"{trace.part_regret[k].mean():.3f}",
            f"{trace.highest_regret[k]:.3f}",
            _show_bound(hedgers[name], experts, rounds),
            f"{np.nanmean(trace.gain.mean[k]):+.4f}",
            _potential(float(trace.highest_potential[k])),
        )
    return table


def _potential(log: float) -> str:
    """Return a potential, or a dash where the hedger has none."""
    return f"{math.exp(min(log, 700.0)):.4g}" if math.isfinite(log) else "-"


def _show_bound(hedger: Hedger[Any], experts: int, rounds: int) -> str:
    """Return the bound on the regret, and where it comes from."""
    bound = hedger.bound(experts, rounds) if isinstance(hedger, CompiledHedger) else None
    if not bound:
        return "nothing is known"
    return f"{at_most(bound.regret, 5)} ({bound.source.partition(', average')[0]})"


def _draw(trace: Trace) -> None:
    plotext = extras.require("plotext")
    plotext.clear_figure()
    if not Console().is_terminal:
        plotext.theme("clear")
    for k, name in enumerate(trace.hedgers):
        marker = MARKERS[k % len(MARKERS)]
        values = trace.regret.mean[k].tolist()
        plotext.plot(trace.rounds.tolist(), values, label=shown(name), marker=marker)
    plotext.title("discounted regret to the best expert")
    plotext.xlabel("round")
    plotext.plot_size(min(100, Console().width), 22)
    plotext.show()
