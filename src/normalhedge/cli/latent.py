"""``normalhedge latent``: a sequence, predicted from its hidden states."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

import normalhedge
from normalhedge import _names, _tables
from normalhedge.cli.options import check_columns, check_outputs, hedger, safe_csv
from normalhedge.cli.terminal import echo
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
@safe_csv
def command(data: Path, **given: Any) -> None:
    """Predict a sequence from its hidden states, causally."""
    tables = (".csv", ".parquet")
    outputs = [(given[name], tables) for name in ("out", "weights")]
    check_outputs(data, [*outputs, (given["report"], (".html",))])
    experts = given["states"] * given["candidates"]
    weigher = hedger(given["hedger"], given["memory"], MEMORY, experts)
    table = _tables.read_arrow(data)
    if all(_is_number(name) for name in table.column_names):
        raise click.UsageError(f"{data} has numbers in its first row: it must name the columns")
    column = _column(table.column_names, given["column"], data)
    when: Any = list(range(table.num_rows))
    if given["time"] is not None:
        when = table.column(_column(table.column_names, given["time"], data)).to_pylist()
    console = Console(stderr=True)
    with console.status("reading") as status:
        found = infer(
            table.column(column).to_pylist(),
            states=given["states"],
            candidates=given["candidates"],
            hedger=weigher,
            kind=given["kind"],
            above=given["above"],
            seed=given["seed"],
            progress=status.update,
        )
    _print(found, column)
    _write(found, when, f"{column} of {data.name}", given, repr(weigher))


def _column(names: list[str], asked: str | None, data: Path) -> str:
    if asked is None:
        if len(names) != 1:
            raise click.UsageError(f"--column is needed: {data} has {', '.join(names)}")
        return names[0]
    if asked not in names:
        raise _names.nearest("column", asked, dict.fromkeys(names))
    if names.count(asked) > 1:
        raise click.UsageError(f"{data} has {names.count(asked)} columns called {asked}")
    return asked


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _print(found: Inferred, column: str) -> None:
    if found.sequence.said:
        echo(f"guessed: {column} holds {found.sequence.said}", err=True)
    head, rows = found.table()
    echo("{:<30}{:>14}{:>12}".format(*head))
    for row in rows:
        echo("{:<30}{:>14}{:>12}".format(*row))
    for name, text in found.facts():
        echo(f"{name}: {text}")


def _write(
    found: Inferred, when: list[Any], what: str, given: dict[str, Any], weigher: str
) -> None:
    name = given["time"] or "round"
    times = {name: when}
    if given["out"] is not None:
        columns = found.columns()
        check_columns(columns, name)
        _tables.write_table(given["out"], times | columns, safe=given["safe_csv"])
    if given["weights"] is not None:
        shares = found.main.candidates
        columns = {f"candidate {n}": shares[:, n] for n in range(shares.shape[1])}
        _tables.write_table(given["weights"], times | columns, safe=given["safe_csv"])
    if given["report"] is not None:
        write_inferred(
            given["report"],
            found,
            when,
            title=f"{what}, predicted",
            subtitle=f"{given['candidates']:,} hidden Markov models of {given['states']} states, "
            f"drawn at random (seed {given['seed']}); {MAIN}: {weigher}",
            command=shlex.join(["normalhedge", *sys.argv[1:]]),
            settings={"normalhedge": normalhedge.__version__, "numpy": np.__version__},
        )
    for name in ("out", "weights", "report"):
        if given[name] is not None:
            echo(f"wrote {given[name]}")
