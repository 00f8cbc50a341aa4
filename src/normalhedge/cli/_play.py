"""``normalhedge play``: any hedger against any nature."""

import math
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

from normalhedge.boundary import extras, inputs, number_tables, specs
from normalhedge.boundary.terminal import shown
from normalhedge.cli import _shared as shared
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._terminal import echo
from normalhedge.guarantees import at_most
from normalhedge.hedgers import HEDGERS, CompiledHedger, Hedger, named
from normalhedge.reports.plots import PALETTE, regret_figure
from normalhedge.research.games import NATURES, Nature, Replay, Trace, check_nature, play

POINTS = 1000
"""About how many rounds are recorded unless --every says otherwise."""

MARKERS = ("hd", "x", "o", "+", "*", "#")
"""What curves in a terminal are drawn with, so that they differ without colours too."""


NARROWEST = 12
"""The fewest characters of a name in one line of the table."""

CAPTION = (
    "regret, gain: the mean of all rounds; highest, potential: the largest in any round of",
    "any run, observed; bound: the regret never exceeds it, proved or numerical",
)


@click.command(
    "play",
    epilog="Hedgers: "
    + ", ".join(HEDGERS)
    + ". Natures: "
    + ", ".join(NATURES)
    + ". Settings follow a colon: normal-hedge:c=1 or good-and-bad:gamma=0.4,f=0.1. "
    + shared.OWN_TEXT,
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
@click.option(
    "--discount",
    type=float,
    help="Discount the regrets of all hedgers at this rate.  [default: each at its own]",
)
@shared.jobs_option
@shared.path_option("--plot", shared.PICTURE, "Draw the plot into a file, not the terminal.")
@shared.path_option("--table", "FILE.md|FILE.tex", "Write the table that is shown.")
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
    discount: float | None,
    jobs: int | None,
    plot: Path | None,
    table: Path | None,
    out: Path | None,
) -> None:
    """Simulate one game and show the regret of hedgers to the best expert."""
    shared.check_ending(plot, shared.PICTURES)
    shared.check_ending(table, (".md", ".tex"))
    shared.check_ending(out, shared.TABLES)
    experts = inputs.count("experts", experts)
    texts = hedgers or ("normal-hedge", "hedge")
    for text in texts:
        shared.import_own("hedger", text, HEDGERS, Hedger)
    shared.import_own("nature", nature, NATURES, Nature)
    # An adversary is aimed at the first hedger.
    target = named(texts[0], experts, alpha=alpha)
    world = check_nature(
        specs.make("nature", nature, NATURES, target=target, alpha=alpha, experts=experts)
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
            discount=discount,
            jobs=jobs,
            progress=bar,
        )
    title = f"{world.experts:,} experts, {nature}, {runs} run{'s' * (runs > 1)}"
    head, rows = _summary(trace, players, world.experts, rounds)
    _print(title, head, rows)
    if len(set(trace.discount)) > 1:
        echo("The regrets are discounted at different rates and cannot be compared:")
        echo(f"--discount {alpha:g} has one rate for all.")
    if table is not None:
        number_tables.write_text_table(table, head, rows)
    if out is not None:
        number_tables.write_table(out, trace.columns())
    if plot is not None:
        styles = dict(zip(trace.hedgers, PALETTE * len(trace.hedgers), strict=False))
        regret_figure([(title, trace)], styles, plot, columns=1)
    else:
        _draw(trace)


def _summary(
    trace: Trace, hedgers: dict[str, Hedger[Any]], experts: int, rounds: int
) -> tuple[list[str], list[list[str]]]:
    head = ["hedger", "regret", "highest", "bound", "gain", "potential"]
    rows = []
    for k, name in enumerate(trace.hedgers):
        means = trace.part_regret[k].mean(axis=1)
        rows.append(
            [
                name,
                f"{means.mean():.3f}" + _error(means),
                f"{trace.highest_regret[k]:.3f}",
                _show_bound(hedgers[name], trace.discount[k], experts, rounds),
                f"{np.nanmean(trace.gain.mean[k]):+.4f}",
                _potential(float(trace.highest_potential[k])),
            ]
        )
    quantiles = trace.quantile_regret
    if quantiles is not None:
        head.insert(2, f"to best {trace.quantile:.3g}")
        for row, curve in zip(rows, quantiles.mean, strict=True):
            row.insert(2, f"{curve.mean():.3f}")
    if len(set(trace.discount)) > 1:
        head.insert(1, "discount")
        for row, rate in zip(rows, trace.discount, strict=True):
            row.insert(1, f"{rate:.4g}")
    return head, rows


def _error(means: np.ndarray) -> str:
    """Return the standard error of a mean over runs."""
    return f" ± {means.std(ddof=1) / math.sqrt(len(means)):.2g}" if len(means) > 1 else ""


def _print(title: str, head: list[str], rows: list[list[str]]) -> None:
    """Print the table; a long name goes on in the next line, so that no two look the same."""
    numbers = [max(len(line[k]) for line in (head, *rows)) for k in range(1, len(head))]
    room = max(Console().width - sum(numbers) - 2 * len(numbers), NARROWEST)
    folded = []
    for name, *cells in rows:
        first, *rest = (name[k : k + room] for k in range(0, len(name), room))
        folded += [[first, *cells], *([part, *[""] * len(cells)] for part in rest)]
    echo("\n".join([shown(title), "", *number_tables.as_text(head, folded), "", *CAPTION]))


def _potential(log: float) -> str:
    """Return a potential, or a dash where the hedger has none."""
    return f"{math.exp(min(log, 700.0)):.4g}" if math.isfinite(log) else "-"


def _show_bound(hedger: Hedger[Any], rate: float, experts: int, rounds: int) -> str:
    """Return the bound on the regret at this discount, with its mark."""
    if not isinstance(hedger, CompiledHedger) or rate != hedger.alpha:
        return "-"
    bound = hedger.bound(experts, rounds)
    return f"{at_most(bound.regret, 5)}, {bound.mark}" if bound else "-"


def _draw(trace: Trace) -> None:
    plotext = extras.require("plotext")
    plotext.clear_figure()
    if not Console().is_terminal:
        plotext.theme("clear")
    for k, name in enumerate(trace.labels):
        marker = MARKERS[k % len(MARKERS)]
        values = trace.regret.mean[k].tolist()
        plotext.plot(trace.rounds.tolist(), values, label=shown(name), marker=marker)
    plotext.title("discounted regret to the best expert")
    plotext.xlabel("round")
    plotext.plot_size(min(100, Console().width), 22)
    plotext.show()
