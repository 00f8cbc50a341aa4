"""``normalhedge paper``: the paper, reproduced."""

from dataclasses import replace
from pathlib import Path
from types import TracebackType

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from normalhedge._terminal import shown
from normalhedge.experiments import paper


class _Bar(paper.Progress):
    """A bar with the time left; lines of text where the output is no terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bar = Progress(
            TextColumn("{task.description:<28}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self.task = self.bar.add_task("starting")

    def total(self, units: float) -> None:
        self.bar.update(self.task, total=units)

    def done(self, units: float, what: str) -> None:
        self.bar.update(self.task, advance=units, description=what)

    def say(self, sentence: str) -> None:
        self.bar.console.print(shown(sentence), highlight=False, markup=False, soft_wrap=True)

    def __enter__(self) -> "_Bar":
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()


@click.command("paper", epilog=f"Parts: {', '.join(paper.PARTS_OF_THE_PAPER)}.")
@click.option("--quick", is_flag=True, help="A few runs only, in seconds.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/paper"),
    show_default=True,
    help="The folder to write to; an interrupted run continues there.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Runs in parallel; all cores by default.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--only", multiple=True, metavar="PART", help="One part of the paper; repeatable.")
def command(quick: bool, out: Path, jobs: int | None, seed: int, only: tuple[str, ...]) -> None:  # noqa: FBT001
    """Replay the figures of the paper, judge its claims and write a report."""
    console = Console(stderr=True)
    settings = replace(paper.QUICK if quick else paper.Settings(), seed=seed)
    with _Bar(console) as bar:
        try:
            result = paper.reproduce(out, settings, only=only, jobs=jobs, progress=bar)
        except KeyboardInterrupt:
            bar.say(f"what was finished is kept in {out}; the same command continues")
            raise
    table = Table("claim", "verdict", title="The claims of the paper", show_lines=True)
    for row in result.claims:
        table.add_row(f"{row.claim} [dim]({row.where})[/dim]", row.verdict)
    printer = Console()
    if result.claims:
        printer.print(table)
    last = f"{len(result.files)} files in {out}; open {out / 'report.html'}"
    printer.print(shown(last), soft_wrap=True, markup=False)
