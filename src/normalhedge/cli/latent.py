"""``normalhedge latent``: a sequence, predicted from its hidden states."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

import normalhedge
from normalhedge import _inputs, _names, _tables
from normalhedge.cli import files
from normalhedge.hedgers import HEDGERS
from normalhedge.latent import Inferred, infer
from normalhedge.latent.infer import CANDIDATES, MAIN, MEMORY, STATES
from normalhedge.reports import write_inferred


@click.command(
    "latent",
    epilog="Words, and whole numbers of few values, are symbols; other numbers are real ones. What "
    "is empty is missing: time passes, and nothing is learned.",
)
@click.argument("data", type=click.Path(path_type=Path), metavar="DATA.csv|DATA.parquet")
@click.option("--column", help="The column to predict; not needed if there is only one.")
@click.option("--time", help="The column of times, for the plots.")
@click.option("--states", type=click.IntRange(min=1), default=STATES, show_default=True)
@click.option("--candidates", type=click.IntRange(min=1), default=CANDIDATES, show_default=True)
@click.option("--above", type=float, help="Predict whether numbers are above this.")
@click.option("--kind", type=click.Choice(["symbols", "numbers"]), help="[default: as it looks]")
@click.option("--memory", type=float, help=f"In rounds. [default: {MEMORY:g}]")
@click.option("--hedger", metavar="NAME[:KEY=VALUE,...]", help="[default: normal-hedge]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.csv|FILE.parquet",
              help="What was said, and the states.")  # fmt: skip
@click.option("--weights", type=click.Path(path_type=Path), metavar="FILE.csv|FILE.parquet",
              help="The weight of each candidate.")  # fmt: skip
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.html")
def command(data: Path, **given: Any) -> None:
    """Predict a sequence from its hidden states, causally."""
    tables = (".csv", ".parquet")
    wanted = {"out": tables, "weights": tables, "report": (".html",)}
    files.check_outputs(data, {given[name]: endings for name, endings in wanted.items()})
    table = _tables.read_arrow(data)
    column = _column(table.column_names, given["column"], data)
    when: Any = range(table.num_rows)
    if given["time"] is not None:
        when = table.column(_column(table.column_names, given["time"], data)).to_pylist()
    console = Console(stderr=True)
    with console.status("reading") as status:
        found = infer(
            table.column(column).to_pylist(),
            states=given["states"],
            candidates=given["candidates"],
            hedger=_hedger(given),
            kind=given["kind"],
            above=given["above"],
            seed=given["seed"],
            progress=status.update,
        )
    _print(found, column)
    _write(found, when, column, data, given)


def _column(names: list[str], asked: str | None, data: Path) -> str:
    if asked is None:
        if len(names) != 1:
            raise click.UsageError(f"--column is needed: {data} has {', '.join(names)}")
        return names[0]
    if asked not in names:
        raise _names.nearest("column", asked, dict.fromkeys(names))
    return asked


def _hedger(given: dict[str, Any]) -> Any:
    memory = MEMORY if given["memory"] is None else given["memory"]
    return _names.make(
        "hedger",
        given["hedger"] or "normal-hedge",
        HEDGERS,
        alpha=1.0 / _inputs.number("memory", memory, 1.0),
    )


def _print(found: Inferred, column: str) -> None:
    if found.sequence.said:
        click.echo(f"guessed: {column} holds {found.sequence.said}", err=True)
    head, rows = found.table()
    click.echo("{:<30}{:>14}{:>12}".format(*head))
    for row in rows:
        click.echo("{:<30}{:>14}{:>12}".format(*row))
    for name, text in found.facts():
        click.echo(f"{name}: {text}")


def _write(found: Inferred, when: Any, column: str, data: Path, given: dict[str, Any]) -> None:
    times = {"round": list(range(len(when)))} if given["time"] is None else {given["time"]: when}
    if given["out"] is not None:
        _tables.write_table(given["out"], times | found.columns())
    if given["weights"] is not None:
        shares = found.main.candidates
        columns = {f"candidate {n}": shares[:, n] for n in range(shares.shape[1])}
        _tables.write_table(given["weights"], times | columns)
    if given["report"] is not None:
        write_inferred(
            given["report"],
            found,
            when,
            title=f"{column} of {data.name}, predicted",
            subtitle=f"{given['candidates']:,} hidden Markov models of {given['states']} states, "
            f"drawn at random (seed {given['seed']}); {MAIN}: {_hedger(given)!r}",
            command=shlex.join(["normalhedge", *sys.argv[1:]]),
            settings={"normalhedge": normalhedge.__version__, "numpy": np.__version__},
        )
    for name in ("out", "weights", "report"):
        if given[name] is not None:
            click.echo(f"wrote {given[name]}")
