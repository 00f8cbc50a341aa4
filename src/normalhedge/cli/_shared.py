"""Options, checks and lines of output that several commands share."""

import importlib
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click
import numpy as np

import normalhedge
from normalhedge.boundary import number_tables, specs
from normalhedge.cli._terminal import echo
from normalhedge.integrations.clusters import dask_workers

TABLE, TABLES = "FILE.csv|FILE.parquet", (".csv", ".parquet")
"""A table to write: its form in help texts, and the endings of its name."""

PICTURES = (".png", ".pdf", ".svg", ".pgf")
PICTURE = "FILE.png|.pdf|.svg|.pgf"
"""A figure to write: the endings of its name, and its form in help texts."""

HEDGER = "NAME[:KEY=VALUE,...]"
"""The form of a hedger or a nature in help texts."""

OWN_TEXT = (
    "MODULE:NAME is one of your own, such as mine:Softmax of the file mine.py, and mine:Softmax:"
    "rate=2 with a setting; what it imports is run."
)
"""What the help says of objects of the user's own."""

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def path_option(flag: str, form: str, text: str, **more: Any) -> Decorator:
    """Return an option that is a path."""
    return click.option(flag, type=click.Path(path_type=Path), metavar=form, help=text, **more)


config_option = path_option(
    "--config", "FILE.toml", "Read the settings of the server from this file."
)
database_option = click.option(
    "--db", metavar="FILE.db", help="The database.  [default: the database of the settings]"
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), help="Runs in parallel.  [default: one for each core]"
)
dask_option = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Compute on the Dask cluster of this scheduler, tcp://HOST:PORT, or on 'local:4' processes"
    " of this machine; the files are the same.",
)
safe_csv_option = click.option(
    "--safe-csv",
    is_flag=True,
    help="In CSV, put an apostrophe before texts that a spreadsheet would compute.",
)


def connect_workers(
    address: str | None, jobs: int | None
) -> AbstractContextManager[Executor | None]:
    """Return the workers of ``--dask``; none if the option is missing."""
    if address is None:
        return nullcontext()
    if jobs is not None:
        raise click.UsageError("--jobs is for this machine, and --dask for a cluster: give one")
    return dask_workers(address)


def import_own(kind: str, text: str, known: dict[str, Any], protocol: type) -> None:
    """Import the object that a text ``module:name`` names, and add it to the known ones.

    The module may be a file in this folder. The object is a class, another function that makes a
    hedger or a nature, or one of them.
    """
    found = specs.OWN.match(text)
    if found is None or found[1] in known:
        return
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        own = getattr(importlib.import_module(found[1]), found[2])
    except (ImportError, AttributeError) as error:
        raise click.UsageError(f"the {kind} {found[0]} cannot be imported: {error}") from None
    if isinstance(own, protocol) and not isinstance(own, type):
        known[found[0]] = lambda: own
    elif callable(own):
        known[found[0]] = own
    else:
        raise click.UsageError(f"{found[0]} must make a {kind} or be one, got {own!r}")


def words(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Return the words of an option, which commas separate."""
    return () if value is None else tuple(word.strip() for word in value.split(",") if word.strip())


def refuse_options(parameters: Mapping[str, Any], names: Iterable[str], purpose: str) -> None:
    """Refuse options that serve another purpose than this call."""
    for name in names:
        if parameters[name] not in (None, False, (), 0):
            raise click.UsageError(f"--{name.replace('_', '-')} is for {purpose}")


def check_ending(path: Path | None, endings: Sequence[str]) -> None:
    """Refuse a file to write whose name does not tell its format."""
    if path is not None and path.suffix.lower() not in endings:
        raise click.UsageError(f"{path} must end in {' or '.join(endings)}")


def check_outputs(data: Path, outputs: Sequence[tuple[Path | None, Sequence[str]]]) -> None:
    """Refuse to write over the data, or twice to a file, or to a file of an unknown format."""
    taken = {os.path.realpath(data): "read by this command"}  # loops of links, too, have this path
    for path, endings in outputs:
        if path is None:
            continue
        real = os.path.realpath(path)
        if real in taken:
            raise click.UsageError(f"{path} is {taken[real]}: write to another file")
        taken[real] = "written already"
        check_ending(path, endings)


def echo_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    echo("\n".join(number_tables.as_text(header, rows)))


def echo_written(*paths: Path | None, state: Path | None = None) -> None:
    """Print the names of the files that were written, and the size of a state."""
    for path in paths:
        if path is not None:
            echo(f"wrote {path}")
    if state is not None:
        echo(f"wrote {state} ({_size_text(state.stat().st_size)})")


def _size_text(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 999_500 else f"{size / 1e3:.0f} kB"


def provenance() -> dict[str, Any]:
    """Return the command and the versions that a report names."""
    versions = {"normalhedge": normalhedge.__version__, "numpy": np.__version__}
    return {"command": shlex.join(["normalhedge", *sys.argv[1:]]), "settings": versions}
