"""``normalhedge latent``: the regimes of a file, or a stream, of observations."""

import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import numpy as np

import normalhedge
from normalhedge.boundary import number_tables, specs, table_files
from normalhedge.cli._latent_stream import new_live, run_latent_stream
from normalhedge.cli._options import check_columns, check_outputs, check_state, safe_csv, words
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._terminal import echo
from normalhedge.hedgers import named
from normalhedge.latent import Inferred, Live, infer
from normalhedge.latent.regimes import (
    KINDS,
    RegimesFile,
    RegimesSettings,
    baselines,
    facts,
    forecast_columns,
    forecast_table,
    regime_table,
    resume,
)
from normalhedge.live.options import options
from normalhedge.live.owner import Owner
from normalhedge.mixtures.streams import LONGEST
from normalhedge.reports import write_inferred

FILE_ONLY = ("time", "forecast", "forecast_out", "out", "report", "safe_csv")
"""Options for files only."""

STREAM_ONLY = ("symbols", "sync", "max_line")
"""Options for streams only."""

REGIMES = [name for name, one in options(RegimesSettings).items() if one.metadata["short"]]
"""The options of `Regimes` that the command has."""

SETTINGS = ("kind", "above", *REGIMES, "seed", "symbols")
"""Options that cannot change once there is a state."""

TABLES = (".csv", ".parquet")


def _states(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Return the numbers of states in ``1-5``, ``2`` or ``1,2,4``."""
    if value is None:
        return None
    try:
        low, dash, high = value.partition("-")
        if dash:
            found = tuple(range(int(low), int(high) + 1))
        else:
            found = tuple(int(word) for word in value.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 1 or max(found) > 20:
        raise click.BadParameter(f"{value!r} is not a number of states from 1 to 20, or 1-5")
    return found


_FORMS: dict[str, dict[str, Any]] = {
    "states": {"callback": _states, "metavar": "1-5|2|1,2,4"},
    "budget": {"type": click.IntRange(min=2)},
    "hedger": {"metavar": "NAME[:KEY=VALUE,...]"},
}
"""How options are written on the command line; others are numbers."""


def _regimes_options(command: Any) -> Any:
    """Add the options of `Regimes`, with their texts."""
    for name in reversed(REGIMES):
        one = options(RegimesSettings)[name]
        form = _FORMS.get(name, {"type": type(one.default)})
        text = f"{one.metadata['short']} [default: {one.metadata['shown']}]"
        command = click.option(f"--{name}", help=text, **form)(command)
    return command


@click.command(
    "latent",
    epilog="Words, and whole numbers with only two values, are symbols; other whole numbers from 0 "
    "to 1000 are counts; everything else is real numbers. An empty cell is a missing observation: "
    "time passes, and nothing is learned. '-' reads JSON lines from stdin and answers each with "
    'one line. A line is a number, a list of numbers, a word, null, or {"y": ...}. With --state, '
    "every answered line survives the end of the process, even kill -9: it is in FILE.json or in "
    "FILE.json.journal beside it. Only one process at a time may use these files. A power cut can "
    "lose the last moments before it, unless --sync is given. SIGTERM, SIGINT and SIGHUP end a "
    "stream between two lines, with exit code 128 + signal.",
)
@click.argument("data", metavar="DATA.csv|DATA.parquet|-")
@click.option("--column", "columns", multiple=True,
              help="The column of observations; several columns make one series. Not needed if "
              "the table has only one.")  # fmt: skip
@click.option("--time", help="The column of times, for the plots and --out.")
@click.option("--forecast", type=click.IntRange(1, 10_000), metavar="ROUNDS",
              help="Forecast the next rounds.")  # fmt: skip
@_regimes_options
@click.option(
    "--kind", type=click.Choice(list(KINDS)), help="The kind of observations. [default: guessed]"
)
@click.option("--above", type=float, help="Turn numbers into two symbols, by this limit.")
@click.option("--seed", type=click.IntRange(min=0), help="The seed of the fits. [default: 0]")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.9,
              show_default=True, help="The probability of intervals.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.csv|FILE.parquet",
              help="Write states, probabilities and predictions, round by round.")  # fmt: skip
@click.option("--forecast-out", type=click.Path(path_type=Path), metavar="FILE.csv|FILE.parquet",
              help="Write the forecast of --forecast.")  # fmt: skip
@click.option(
    "--report", type=click.Path(path_type=Path), metavar="FILE.html", help="Write a page."
)
@safe_csv
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE.json",
              help="Continue from this file with new rows or lines, and update it.")  # fmt: skip
@click.option("--symbols", callback=words, metavar="A,B,...", help="Stream: the symbols.")
@click.option("--sync", is_flag=True,
              help="Stream: answered lines survive a power cut, too; slower.")  # fmt: skip
@click.option("--max-line", type=click.IntRange(min=1), metavar="BYTES",
              help=f"Stream: the longest accepted line.  [default: {LONGEST:,}]")  # fmt: skip
def command(data: str, state: Path | None, **given: Any) -> None:
    """Find the regimes of a series, and predict it.

    Hidden Markov models with several numbers of states are learned online, and weighed by how well
    they predicted. The results of a round never use later rounds.
    """
    unused, why = (FILE_ONLY, "files") if data == "-" else (STREAM_ONLY, "streams")
    for name in unused:
        if given[name] not in (None, False, ()):
            raise click.UsageError(f"--{name.replace('_', '-')} is for {why}")
    if given["sync"] and state is None:
        raise click.UsageError("--sync needs --state")
    if given["forecast_out"] is not None and given["forecast"] is None:
        raise click.UsageError("--forecast-out needs --forecast")
    chosen = {name: given[name] for name in (*REGIMES, "seed") if given[name] is not None}
    if "hedger" in chosen:
        budget = chosen.get("budget", RegimesSettings.budget)
        chosen["hedger"] = named(chosen["hedger"], budget)
    with ExitStack() as stack:
        kept = None
        if state is not None:
            check_state(state)
            stack.enter_context(Owner(state))
            kept = RegimesFile(state, sync=given["sync"])
        live = None if kept is None else kept.load()
        if live is not None:
            _refuse_settings(given, state)
        if data == "-":
            live = live or new_live(given, chosen)
            run_latent_stream(live, kept, given["level"], given["max_line"] or LONGEST)
        else:
            _infer_file(Path(data), live, kept, chosen, given)


def _refuse_settings(given: dict[str, Any], state: Path | None) -> None:
    for name in SETTINGS:
        if given[name] not in (None, ()):
            raise click.UsageError(f"--{name} cannot change: {state} has regimes that continue")


def _infer_file(
    data: Path,
    live: Live | None,
    kept: RegimesFile | None,
    chosen: dict[str, Any],
    given: dict[str, Any],
) -> None:
    """Find the regimes of a table's columns; print and write the results."""
    outputs = [(given[name], TABLES) for name in ("out", "forecast_out")]
    check_outputs(data, [*outputs, (given["report"], (".html",))])
    table = table_files.read_arrow(data)
    if all(_is_number(name) for name in table.column_names):
        raise click.UsageError(f"the first row of {data} must name the columns, but it has numbers")
    columns = _columns(table.column_names, given["columns"], data)
    when = None
    if given["time"] is not None:
        when = table.column(_column(table.column_names, given["time"], data)).to_pylist()
    values: Any = {name: table.column(name).to_pylist() for name in columns}
    values = values if len(columns) > 1 else values[columns[0]]
    with ProgressBar("learning") as bar:
        known: dict[str, Any] = {"time": when, "progress": bar}
        if live is not None:
            found = resume(live, values, **known)
        else:
            found = infer(values, kind=given["kind"], above=given["above"], **chosen, **known)
    what = " and ".join(columns)
    _print(found, what, given)
    with ProgressBar("comparing"):
        _write(found, what, data.name, given)
    if kept is not None:
        kept.finish(found.live)
    for path in (given["out"], given["forecast_out"], given["report"], kept and kept.path):
        if path is not None:
            echo(f"wrote {path}")


def _columns(names: list[str], asked: tuple[str, ...], data: Path) -> list[str]:
    if not asked:
        if len(names) != 1:
            raise click.UsageError(f"--column is needed: {data} has {', '.join(names)}")
        return names
    if len(set(asked)) < len(asked):
        raise click.UsageError("--column names the same column twice")
    return [_column(names, name, data) for name in asked]


def _column(names: list[str], asked: str, data: Path) -> str:
    if asked not in names:
        raise specs.nearest("column", asked, dict.fromkeys(names))
    if names.count(asked) > 1:
        raise click.UsageError(f"{data} has {names.count(asked)} columns called {asked}")
    return asked


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _print(found: Inferred, what: str, given: dict[str, Any]) -> None:
    if found.sequence.guess:
        echo(f"guessed: {what} holds {found.sequence.guess}", err=True)
    for line in number_tables.as_text(*regime_table(found)):
        echo(line)
    echo()
    for name, text in facts(found):
        echo(f"{name}: {text}")
    if given["forecast"] is not None:
        echo()
        ahead = found.forecast(given["forecast"])
        for line in number_tables.as_text(*forecast_table(ahead, found, given["level"])):
            echo(line)


def _write(found: Inferred, what: str, source: str, given: dict[str, Any]) -> None:
    safe = given["safe_csv"]
    if given["out"] is not None:
        columns, name = found.columns(), given["time"] or "round"
        when = columns.pop("time", list(range(len(found.path))))
        check_columns(columns, name)
        number_tables.write_table(given["out"], {name: when, **columns}, safe=safe)
    ahead = None if given["forecast"] is None else found.forecast(given["forecast"])
    if ahead is not None and given["forecast_out"] is not None:
        columns = forecast_columns(ahead, found, given["level"])
        number_tables.write_table(given["forecast_out"], columns, safe=safe)
    if given["report"] is not None:
        write_inferred(
            given["report"],
            found,
            baselines(found.sequence),
            title=f"The regimes of {what}",
            subtitle=f"{source}, {found.live.regimes.rounds:,} rounds, {len(found.parameters)} "
            "regimes. Models are learned online; the results of a round never use later rounds",
            command=shlex.join(["normalhedge", *sys.argv[1:]]),
            settings={"normalhedge": normalhedge.__version__, "numpy": np.__version__},
            ahead=ahead,
            level=given["level"],
        )
