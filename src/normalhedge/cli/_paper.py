"""``normalhedge paper``: the paper, reproduced."""

from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from normalhedge.boundary.terminal import shown
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._shared import connect_workers, dask_option, jobs_option
from normalhedge.research.paper import CHOICES, QUICK, PaperSettings, reproduce


@click.command("paper", epilog=f"Parts: {', '.join(CHOICES)}.")
@click.option("--quick", is_flag=True, help="Play a few runs only, in seconds.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/paper"),
    show_default=True,
    help="The folder to write to; an interrupted run continues there.",
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
def command(
    quick: bool,  # noqa: FBT001
    out: Path,
    jobs: int | None,
    dask: str | None,
    seed: int,
    only: tuple[str, ...],
) -> None:
    """Reproduce the figures of the paper, check its claims and write a report."""
    settings = replace(QUICK if quick else PaperSettings(), seed=seed)
    with connect_workers(dask, jobs) as workers, ProgressBar() as bar:
        try:
            result = reproduce(out, settings, only=only, jobs=jobs, progress=bar, workers=workers)
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
