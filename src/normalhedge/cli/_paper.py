"""``normalhedge paper``: the paper, reproduced."""

from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from normalhedge.boundary.terminal import shown
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._shared import connect_workers, dask_option, jobs_option
from normalhedge.research.paper import CHOICES, QUICK, PaperSettings, redraw, reproduce


@click.command("paper", epilog=f"Parts: {', '.join(CHOICES)}.")
@click.option("--quick", is_flag=True, help="Play a few runs only, in seconds.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The folder to write to; an interrupted run continues there. [default: out/paper, or "
    "out/figures for figures of other settings]",
)
@jobs_option
@dask_option
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--only",
    multiple=True,
    metavar="PART",
    help="Reproduce this part of the paper alone; repeatable.",
)
@click.option("--experts", type=int, help="Draw figures 1 to 3, or --only some, with N experts.")
@click.option("--alpha", type=float, help="Draw figures 1 to 3, or --only some, at this rate.")
def command(
    quick: bool,  # noqa: FBT001
    out: Path | None,
    jobs: int | None,
    dask: str | None,
    seed: int,
    only: tuple[str, ...],
    experts: int | None,
    alpha: float | None,
) -> None:
    """Reproduce the figures of the paper, check its claims and write a report."""
    settings = replace(QUICK if quick else PaperSettings(), seed=seed)
    changed = experts is not None or alpha is not None
    if changed and dask is not None:
        raise click.UsageError("--dask does not go with --experts or --alpha")
    out = out or Path("out/figures" if changed else "out/paper")
    with connect_workers(dask, jobs) as workers, ProgressBar() as bar:
        try:
            if changed:
                result = redraw(
                    out, settings, only=only, experts=experts, alpha=alpha, jobs=jobs, progress=bar
                )
            else:
                result = reproduce(
                    out, settings, only=only, jobs=jobs, progress=bar, workers=workers
                )
        except KeyboardInterrupt:
            bar.say(f"{out} keeps the finished parts; the same command continues")
            raise
    table = Table("claim", "verdict", title="The claims of the paper", show_lines=True)
    for row in result.claims:
        table.add_row(f"{row.claim} [dim]({row.where})[/dim]", str(row.verdict))
    printer = Console()
    if result.claims:
        printer.print(table)
    last = f"{len(result.files)} files in {out}; open {out / 'report.html'}"
    printer.print(shown(last), soft_wrap=True, markup=False)
