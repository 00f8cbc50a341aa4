"""``normalhedge latent``: the regimes of a file, or a stream, of observations."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import click

from normalhedge.boundary import number_tables, specs, table_files
from normalhedge.boundary.terminal import counted
from normalhedge.cli import _shared as shared
from normalhedge.cli._options import STREAM_NOTE, open_state, stream_options
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._streaming import run_stream
from normalhedge.cli._terminal import echo
from normalhedge.hedgers import named
from normalhedge.latent import Inferred, Live, infer
from normalhedge.latent.regimes import (
    KINDS,
    LEAST_PATIENCE,
    MOST_PATIENCE,
    Encoding,
    Forecast,
    RegimesFile,
    RegimesSettings,
    RegimesStream,
    baselines,
    facts,
    forecast_columns,
    forecast_table,
    new_regimes,
    regime_table,
    resume,
    verdict,
)
from normalhedge.live.options import options
from normalhedge.reports import write_inferred

FILE_ONLY = ("time", "forecast", "forecast_out", "out", "segments", "report", "safe_csv")
"""Options for files only."""

STREAM_ONLY = ("symbols", "sync", "max_line")
"""Options for streams only."""

REGIMES = [name for name, one in options(RegimesSettings).items() if one.metadata["short"]]
"""The options of `Regimes` that the command has."""

SETTINGS = ("given", "kind", "above", *REGIMES, "seed", "symbols")
"""Options that cannot change once there is a state."""


def _states(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Return the numbers of states in ``1-5``, ``2`` or ``1,2,4``."""
    if value is None:
        return None
    try:
        low, dash, high = value.partition("-")
        if dash:
            counts = tuple(range(int(low), int(high) + 1))
        else:
            counts = tuple(int(word) for word in value.split(","))
    except ValueError:
        counts = ()
    if not counts or min(counts) < 1 or max(counts) > 20:
        raise click.BadParameter(f"{value!r} is not a number of states from 1 to 20, or 1-5")
    return counts


_FORMS: dict[str, dict[str, Any]] = {
    "states": {"callback": _states, "metavar": "1-5|2|1,2,4"},
    "budget": {"type": click.IntRange(min=2)},
    "hedger": {"metavar": shared.HEDGER},
    "patience": {"type": click.IntRange(LEAST_PATIENCE, MOST_PATIENCE)},
}
"""How options are written on the command line; others are numbers."""


def _regimes_options(command: Any) -> Any:
    """Add the options of `Regimes`, with their texts."""
    for name in reversed(REGIMES):
        option = options(RegimesSettings)[name]
        form = _FORMS.get(name, {"type": type(option.default)})
        text = f"{option.metadata['short']} [default: {option.metadata['shown']}]"
        command = click.option(f"--{name}", help=text, **form)(command)
    return command


@click.command(
    "latent",
    epilog="Words, and whole numbers with only two values, are symbols; other whole numbers from 0 "
    "to 1000 are counts; everything else is real numbers. An empty cell is a missing observation: "
    "time passes, and nothing is learned. '-' reads JSON lines from stdin and answers each with "
    'one line. A line is a number, a list of numbers, a word, null, or {"y": ...}; with --given, '
    '{"y": ..., "given": [...], "next": [...]}, where "next" is for the next round. ' + STREAM_NOTE,
)
@click.argument("data", metavar="DATA.csv|DATA.parquet|-")
@click.option("--column", "columns", multiple=True,
              help="The column of observations; several columns make one series. A table with one "
              "column needs no name.")  # fmt: skip
@click.option("--given", multiple=True, metavar="COLUMN",
              help="A column of covariates: each state is a regression on them. --forecast reads "
              "them from the last rows, which have no observation then.")  # fmt: skip
@click.option("--time", help="The column of times, for the plots and --out.")
@click.option("--forecast", type=click.IntRange(1, 10_000), metavar="ROUNDS",
              help="Forecast the next rounds.")  # fmt: skip
@_regimes_options
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    help="The kind of observations. [default: a guess from the data]",
)
@click.option(
    "--above", type=float, help="Turn numbers into two symbols: above this limit, or not."
)
@click.option("--seed", type=click.IntRange(min=0), help="The seed of the fits. [default: 0]")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.9,
              show_default=True, help="The coverage of prediction intervals.")  # fmt: skip
@shared.path_option(
    "--out",
    shared.TABLE,
    "Write states, probabilities and predictions, round by round; and the states in hindsight.",
)
@shared.path_option(
    "--segments", shared.TABLE, "Write the stays in hindsight: from, to, state, mean and more."
)
@shared.path_option("--forecast-out", shared.TABLE, "Write the forecast of --forecast.")
@shared.path_option("--report", "FILE.html", "Write a page with plots to this file.")
@shared.safe_csv_option
@click.option("--symbols", callback=shared.words, metavar="A,B,...", help="Stream: the symbols.")
@stream_options
def command(data: str, state: Path | None, **parameters: Any) -> None:
    """Find the regimes of a series and predict it, using past rounds only.

    Hidden Markov models with several numbers of states learn online, and their weights follow their
    predictions. The results of a round never use later rounds, but for the results in hindsight:
    the verdict, the table of regimes, --segments, and columns of --out that say so.
    """
    if data == "-":
        shared.refuse_options(parameters, FILE_ONLY, "files")
    else:
        shared.refuse_options(parameters, STREAM_ONLY, "streams")
    if parameters["forecast_out"] is not None and parameters["forecast"] is None:
        raise click.UsageError("--forecast-out needs --forecast")
    chosen = {name: parameters[name] for name in (*REGIMES, "seed") if parameters[name] is not None}
    if "hedger" in chosen:
        budget = chosen.get("budget", RegimesSettings.budget)
        chosen["hedger"] = named(chosen["hedger"], budget)
    with ExitStack() as stack:
        state_file = open_state(stack, RegimesFile, state, sync=parameters["sync"])
        live = None if state_file is None else state_file.load()
        if live is not None:
            _refuse_settings(parameters, state)
        if data == "-":
            code = _read_code(parameters) if live is None else live.encoding
            live = live or Live(new_regimes(code, **chosen), code)
            run_stream(
                partial(RegimesStream, live, parameters["level"]),
                live,
                state_file,
                parameters["max_line"],
            )
        else:
            _infer_file(Path(data), live, state_file, chosen, parameters)


def _refuse_settings(parameters: dict[str, Any], state: Path | None) -> None:
    for name in SETTINGS:
        if parameters[name] not in (None, ()):
            raise click.UsageError(f"--{name} cannot change: {state} has regimes that continue")


def _read_code(parameters: dict[str, Any]) -> Encoding:
    """Return the kind of observations that the options of a stream say."""
    kind, above, symbols = parameters["kind"], parameters["above"], parameters["symbols"]
    columns, given = parameters["columns"], parameters["given"]
    if given and (kind not in {None, "numbers"} or above is not None or symbols or columns[1:]):
        raise click.UsageError("--given needs one column of numbers")
    if len(set(given)) < len(given):
        raise click.UsageError("--given names the same column twice")
    if above is not None:
        if symbols or len(columns) > 1 or kind not in {None, "symbols"}:
            raise click.UsageError(
                "--above needs one column of numbers, which it turns into two symbols"
            )
        return Encoding("symbols", (f"at most {above:g}", f"above {above:g}"), above)
    if symbols or kind == "symbols":
        if len(symbols) < 2 or len(set(symbols)) < len(symbols):
            raise click.UsageError("a stream of symbols needs --symbols A,B,..., all different")
        if kind not in {None, "symbols"} or len(columns) > 1:
            raise click.UsageError("--symbols needs one column of symbols")
        return Encoding("symbols", symbols)
    if len(columns) > 1:
        if kind not in {None, "numbers"} or len(set(columns)) < len(columns):
            raise click.UsageError("several columns must be numbers, with different names")
        return Encoding("numbers", columns=columns)
    return Encoding(kind or "numbers", given=given)


def _infer_file(
    data: Path,
    live: Live | None,
    state_file: RegimesFile | None,
    chosen: dict[str, Any],
    parameters: dict[str, Any],
) -> None:
    """Find the regimes of a table's columns; print and write the results."""
    outputs = [(parameters[name], shared.TABLES) for name in ("out", "segments", "forecast_out")]
    shared.check_outputs(data, [*outputs, (parameters["report"], (".html",))])
    table = table_files.read_arrow(data)
    if all(_is_number(name) for name in table.column_names):
        raise click.UsageError(f"the first row of {data} must name the columns, but it has numbers")
    columns = _columns(table.column_names, parameters["columns"], data)
    when = None
    if parameters["time"] is not None:
        when = table.column(_column(table.column_names, parameters["time"], data)).to_pylist()
    values: Any = {name: table.column(name).to_pylist() for name in columns}
    values = values if len(columns) > 1 else values[columns[0]]
    given, later = None, None
    if names := _covariates(table.column_names, live, parameters, data):
        given = {name: table.column(name).to_pylist() for name in names}
        if parameters["forecast"] is not None:
            later = _cut_ahead(values, given, when, parameters["forecast"], columns[0])
    with ProgressBar("learning") as bar:
        arguments: dict[str, Any] = {"time": when, "given": given, "progress": bar}
        if live is not None:
            inferred = resume(live, values, **arguments)
        else:
            inferred = infer(
                values, kind=parameters["kind"], above=parameters["above"], **chosen, **arguments
            )
    what, ahead = " and ".join(columns), None
    if parameters["forecast"] is not None:
        ahead = inferred.forecast(parameters["forecast"], later)
    _print(inferred, what, ahead, parameters)
    with ProgressBar("comparing"):
        _write(inferred, what, data.name, ahead, parameters)
    if state_file is not None:
        state_file.finish(inferred.live)
    shared.echo_written(
        *(parameters[name] for name in ("out", "segments", "forecast_out", "report"))
    )
    if state_file is not None:
        shared.echo_written(state=state_file.path)


def _covariates(
    names: list[str], live: Live | None, parameters: dict[str, Any], data: Path
) -> list[str]:
    """Return the columns of covariates: of the options, or of the regimes that continue."""
    wanted = parameters["given"] if live is None else live.encoding.given
    if len(set(wanted)) < len(wanted):
        raise click.UsageError("--given names the same column twice")
    return [_column(names, name, data) for name in wanted]


def _cut_ahead(
    values: list[Any],
    given: dict[str, list[Any]],
    when: list[Any] | None,
    rounds: int,
    what: str,
) -> dict[str, list[Any]]:
    """Take the last rows, which have no observation, off a table; return their covariates."""
    if len(values) <= rounds or any(value not in {None, ""} for value in values[-rounds:]):
        raise click.UsageError(
            f"--forecast {rounds} needs the covariates of these rounds: the last "
            f"{counted(rounds, 'row')} must have them, and no {what}"
        )
    later = {name: column[-rounds:] for name, column in given.items()}
    for column in (values, when, *given.values()):
        if column is not None:
            del column[-rounds:]
    return later


def _columns(names: list[str], wanted_names: tuple[str, ...], data: Path) -> list[str]:
    if not wanted_names:
        if len(names) != 1:
            raise click.UsageError(f"--column is needed: {data} has {', '.join(names)}")
        return names
    if len(set(wanted_names)) < len(wanted_names):
        raise click.UsageError("--column names the same column twice")
    return [_column(names, name, data) for name in wanted_names]


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


def _print(
    inferred: Inferred, what: str, ahead: Forecast | None, parameters: dict[str, Any]
) -> None:
    if inferred.sequence.guess:
        echo(f"guessed: {what} holds {inferred.sequence.guess}", err=True)
    echo(verdict(inferred).sentence)
    echo()
    shared.echo_table(*regime_table(inferred))
    echo()
    for name, text in facts(inferred):
        echo(f"{name}: {text}")
    if ahead is not None:
        echo()
        shared.echo_table(*forecast_table(ahead, inferred, parameters["level"]))


def _write(
    inferred: Inferred,
    what: str,
    source: str,
    ahead: Forecast | None,
    parameters: dict[str, Any],
) -> None:
    safe = parameters["safe_csv"]
    if parameters["out"] is not None:
        columns, name = inferred.columns(hindsight=True), parameters["time"] or "round"
        when = columns.pop("time", list(range(len(inferred.path))))
        if name in columns:
            raise click.UsageError(f"{name} is a column of the output, too: rename it")
        number_tables.write_table(parameters["out"], {name: when, **columns}, safe=safe)
    if parameters["segments"] is not None:
        number_tables.write_table(parameters["segments"], inferred.stays(), safe=safe)
    if ahead is not None and parameters["forecast_out"] is not None:
        columns = forecast_columns(ahead, inferred, parameters["level"])
        number_tables.write_table(parameters["forecast_out"], columns, safe=safe)
    if parameters["report"] is not None:
        write_inferred(
            parameters["report"],
            inferred,
            baselines(inferred.sequence),
            title=f"The regimes of {what}",
            subtitle=f"{source}, {counted(inferred.live.regimes.rounds, 'round')}, "
            f"{counted(len(inferred.hindsight.parameters), 'regime')}. Models are learned online; "
            "only results in hindsight use later rounds",
            ahead=ahead,
            level=parameters["level"],
            **shared.provenance(),
        )
