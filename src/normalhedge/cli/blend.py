"""``normalhedge blend``: a file, or a stream, of forecasts; blended."""

import json
import shlex
import signal
import sys
import time as clock
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import normalhedge
from normalhedge import _tables
from normalhedge.cli.options import (
    PANEL,
    check_outputs,
    mixture_settings,
    panel_options,
    spelled,
    words,
)
from normalhedge.hedgers import Hedger, named
from normalhedge.mixtures import LOSSES, Blend, Mixture, blend
from normalhedge.mixtures.course import course
from normalhedge.mixtures.recipe import MEMORY, Recipe
from normalhedge.mixtures.stream import Stream
from normalhedge.reports import write_blend

FILE_ONLY = (*(name for name in PANEL if name != "classes"), "experts", "weights", "out", "report")
"""Options that a stream has no use for."""

SAVE_SHARE = 5.0
"""The state of a stream is saved after a line if this many times as long has passed as saving took
the last time: after every line, unless they come fast or the state is large."""


@click.command(
    "blend",
    epilog="Losses: "
    + ", ".join(LOSSES)
    + ". Without --experts, every column of numbers that is nothing else is an expert; a column "
    "'model' makes a long table. '-' reads JSON lines from stdin and answers each with one: "
    '{"a": 1.5, "b": 2} is a round, {"ticket": 0, "outcome": 1.8} what came of it.',
)
@click.argument("data", metavar="DATA.csv|DATA.parquet|-")
@click.option("--experts", callback=words, metavar="A,B,...", help="The columns of the experts.")
@panel_options
@click.option("--memory", type=float, help=f"In rounds. [default: {MEMORY:g}]")
@click.option("--hedger", metavar="NAME[:KEY=VALUE,...]", help="[default: normal-hedge]")
@click.option("--weights", is_flag=True, help="A column of weights for each expert in --out.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.csv|FILE.parquet")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.html")
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE.json", help="To continue.")
def command(data: str, state: Path | None, **given: Any) -> None:
    """Blend the forecasts of a file or a stream, causally."""
    options = _options(given)
    mixture = _resume(state, options, pooled=given["pooled"])
    if data == "-":
        for name in FILE_ONLY:
            if given[name]:
                raise click.UsageError(f"--{name} is for files: a stream has no columns")
        _stream(mixture or Mixture(**options), state)
        return
    outputs = [(given["out"], (".csv", ".parquet")), (given["report"], (".html",))]
    check_outputs(Path(data), outputs)
    with _bar() as bar:
        task = bar.add_task("reading", total=1.0)
        table = _tables.read_arrow(Path(data))
        bar.update(task, description="blending")
        result = blend(
            table,
            experts=given["experts"] or None,
            weights=given["weights"],
            mixture=mixture,
            progress=lambda share: bar.update(task, completed=share),
            **{name: given[name] for name in PANEL},
            **(options if mixture is None else {}),
        )
    _write(result, Path(data), state, given)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the mixture is told."""
    options = mixture_settings(given)
    if given["memory"] is not None or given["hedger"] is not None:
        options["hedger"] = spelled(given["hedger"], given["memory"], MEMORY)
        named(options["hedger"], n_experts=2)  # what is wrong with it is said before data is read
    return options


def _resume(state: Path | None, options: dict[str, Any], *, pooled: bool) -> Mixture | None:
    """Return the mixture of the state file, if there is one; refuse other settings than its own."""
    if state is None or not state.exists():
        return None
    mixture = Mixture.load(state)
    own = mixture.recipe
    asked = Recipe.of(
        _as_before(options["hedger"], mixture) if "hedger" in options else own.hedger,
        options.get("loss", own.loss),
        options.get("combine", own.combine if "loss" not in options else None),
        options.get("gradient", own.gradient if "loss" not in options else None),
        own.shared,
        options.get("even", own.even),
        options.get("include", own.include),
    )
    for name, value in asked.to_plain().items():
        if value != own.to_plain()[name]:
            raise ValueError(
                f"{state} was made with another {name}: {own.to_plain()[name]}, not {value}"
            )
    if pooled and not own.shared:
        raise ValueError(f"{state} was made without --pooled")
    return mixture


def _as_before(text: str, mixture: Mixture) -> Hedger[Any]:
    """Return the hedger of that name, tuned by as many experts as there were then."""
    made = [named(text, n + 1) for n in range(max(len(mixture.names), 1))]
    return next((one for one in made if one == mixture.recipe.hedger), made[-1])


def _write(result: Blend, data: Path, state: Path | None, given: dict[str, Any]) -> None:
    out, report = given["out"], given["report"]
    summary = result.summary()
    if out is not None:
        _tables.write_arrow(out, result.frame)
    if report is not None:
        write_blend(
            report,
            summary,
            course(result),
            title=f"{data.name}, blended",
            said=result.said,
            command=shlex.join(["normalhedge", *sys.argv[1:]]),
            settings={"normalhedge": normalhedge.__version__, "numpy": np.__version__},
        )
    if state is not None:
        result.mixture.save(state)
    if result.said:
        click.echo("guessed: " + "; ".join(result.said), err=True)
    click.echo(str(summary))
    for path in (out, report, state):
        if path is not None:
            click.echo(f"wrote {path}")


def _stream(mixture: Mixture, state: Path | None) -> None:
    """Answer every line of stdin; save the state now and then, and at the end."""
    stream = Stream(mixture)
    due = 0.0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by way of what comes finally
    try:
        for answer in stream.answers(sys.stdin):
            click.echo(json.dumps(answer))
            sys.stdout.flush()
            if "error" in answer:
                click.echo(f"normalhedge: line {answer['line']}: {answer['error']}", err=True)
            start = clock.monotonic()
            if state is not None and start > due:
                mixture.save(state)
                due = clock.monotonic() + SAVE_SHARE * (clock.monotonic() - start)
    finally:
        if state is not None:
            mixture.save(state)
    if stream.refused:
        raise click.ClickException(
            f"{stream.refused} line{'s' * (stream.refused > 1)} refused; the others count"
        )


def _bar() -> AbstractContextManager[Progress]:
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}% left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
