"""``normalhedge blend``: blend the forecasts of a file or of a stream."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import normalhedge
from normalhedge.boundary import number_tables, table_files
from normalhedge.cli._options import (
    BLEND_ONLY,
    MIXTURE,
    PANEL,
    check_outputs,
    check_state,
    mixture_options,
    mixture_settings,
    panel_options,
    safe_csv,
    spelled,
    words,
)
from normalhedge.cli._streaming import run_stream
from normalhedge.cli._terminal import echo
from normalhedge.hedgers import named
from normalhedge.live.owner import Owner
from normalhedge.mixtures import LOSSES, Mixture
from normalhedge.mixtures.intervals import checked_levels
from normalhedge.mixtures.rules import MEMORY, Automatic, automatic_of, is_automatic
from normalhedge.mixtures.state import RECIPE, MixtureSettings, Operation
from normalhedge.mixtures.streams import LONGEST, MixtureFile, Stream
from normalhedge.reports import write_blend
from normalhedge.reports.analysis import review
from normalhedge.tables import Blend, blend, timeline

FILE_ONLY = (
    *(name for name in PANEL if name != "classes"),
    "experts", "weights", "encoding", "future", "out", "report", "safe_csv",
)  # fmt: skip
"""Options for files only."""

STREAM_ONLY = ("sync", "max_line")
"""Options for streams only."""


@click.command(
    "blend",
    epilog="Losses: "
    + ", ".join(LOSSES)
    + ". Without --experts, every column of numbers without another role is an expert; a column "
    "'model' makes a long table. Quantiles are known by a column 'level' or 'quantile', or by "
    "columns such as q0.1, P10 and gam-lo-90. '-' reads JSON lines from stdin and answers each "
    "with one: "
    '{"a": 1.5, "b": 2} is a round, {"ticket": 0, "outcome": 1.8} its outcome. With --state, every '
    "line that was answered survives the end of the process, kill -9 included: it is in FILE.json "
    "or in FILE.json.journal beside it, and only one process at a time may use them. A power cut "
    "can lose the last moments before it, unless --sync is given. SIGTERM, SIGINT and SIGHUP end a "
    "stream between two lines, with exit code 128 + signal.",
)
@click.argument("data", metavar="DATA.csv|DATA.parquet|DATA.xlsx|DATA.jsonl|-")
@click.option("--experts", callback=words, metavar="A,B,...", help="The columns of the experts.")
@panel_options
@mixture_options(*BLEND_ONLY)
@click.option("--weights", is_flag=True, help="Add a column of weights for each expert to --out.")
@click.option("--encoding", metavar="NAME",
              help="The encoding of CSV files, such as latin-1.  [default: utf-8]")  # fmt: skip
@click.option("--future", type=click.Path(path_type=Path), metavar="FILE.csv|FILE.parquet",
              help="Blend these forecasts, whose outcomes are not known yet, too; --out then has "
              "their blend.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.csv|FILE.parquet",
              help="Write the blend to this file.")  # fmt: skip
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.html",
              help="Write a page with plots to this file.")  # fmt: skip
@safe_csv
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE.json",
              help="Continue from this file, and keep the mixture in it.")  # fmt: skip
@click.option(
    "--sync", is_flag=True, help="Stream: answered lines survive a power cut, too; slower."
)
@click.option(
    "--max-line",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help=f"Stream: refuse longer lines.  [default: {LONGEST:,}]",
)
def command(data: str, state: Path | None, **given: Any) -> None:
    """Blend the forecasts of a file or a stream, causally.

    By default (auto) there is nothing to choose. Several ways of combining each make a forecast:
    the plain mean, median and trimmed mean; hedgers with several lengths of memory, with and
    without the gradient trick; and inverse losses. A second hedger gives most weight to the ways
    with the smallest losses. The summary shows their weights, and warns if a plain combination was
    better than the blend. A guard moves forecasts that are out of all proportion to the others;
    --hedger auto:guard=false switches it off.

    --hedger NAME chooses a single rule instead. --memory, --combine, --gradient, --even and
    --include are settings of a single rule. If outcomes come late (--lag), the weights of auto and
    bates-granger stay steady, and those of rules with the gradient trick swing. 'normalhedge
    compare --panel' tells which rule does best.
    """
    options = _options(given)
    unused, why = FILE_ONLY, "files: a stream has no columns"
    if data != "-":
        unused, why = STREAM_ONLY, "streams"
    for name in unused:
        if given[name] not in (None, False, (), 0):
            raise click.UsageError(f"--{name.replace('_', '-')} is for {why}")
    if given["sync"] and state is None:
        raise click.UsageError("--sync needs --state: without it nothing is kept on disk")
    with ExitStack() as stack:
        state_file = None
        if state is not None:
            check_state(state)
            stack.enter_context(Owner(state))
            state_file = MixtureFile(state, sync=given["sync"])
        mixture = _resume(state_file, options, pooled=given["pooled"])
        if data == "-":
            _blend_stream(mixture or Mixture(**options), state_file, given["max_line"] or LONGEST)
        else:
            _blend_file(Path(data), mixture, state_file, options, given)


def _blend_stream(mixture: Mixture, state_file: MixtureFile | None, longest: int) -> None:
    """Answer the lines of stdin."""
    done: list[Operation] = []
    stream = Stream(mixture, done.append if state_file is not None else None)
    run_stream(stream, mixture, done, state_file, longest)


def _blend_file(
    data: Path,
    mixture: Mixture | None,
    state_file: MixtureFile | None,
    options: dict[str, Any],
    given: dict[str, Any],
) -> None:
    """Blend a table; write the files that were asked for, and print the summary."""
    outputs = [(given["out"], (".csv", ".parquet")), (given["report"], (".html",))]
    check_outputs(data, outputs)
    if given["future"] is not None:
        check_outputs(given["future"], outputs)
    if given["future"] is not None and given["out"] is None:
        raise click.UsageError("--future needs --out: where should its blend go?")
    with _bar() as bar:
        task = bar.add_task("reading", total=1.0)
        table = table_files.read_arrow(data, given["encoding"])
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
        frame = result.frame
        if given["future"] is not None:
            bar.update(task, description="the future")
            frame = result.predict(
                table_files.read_arrow(given["future"], given["encoding"]),
                weights=given["weights"],
            )
    if given["out"] is not None and not frame.num_rows:
        raise ValueError(
            f"all rows of {data} were blended before, in an earlier run than the last: "
            f"{given['out']} and the state stay as they are"
        )
    _write(result, frame, data, state_file, given)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Mixture` that the options of the command line give."""
    options = mixture_settings(given, (*MIXTURE, *BLEND_ONLY)) | _interval_options(given)
    options.pop("memory", None)  # it becomes part of the hedger
    if is_automatic(given["hedger"]):
        if given["memory"] is not None:
            raise click.UsageError("--memory is that of a single --hedger: auto has many")
        options["hedger"] = given["hedger"]
        automatic_of(given["hedger"])  # refuses a bad name before data is read
        return options
    if given["memory"] is not None or given["hedger"] is not None:
        options["hedger"] = spelled(given["hedger"], given["memory"], MEMORY)
        named(options["hedger"], n_experts=2)  # refuses a bad name before data is read
    return options


def _interval_options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Mixture` for intervals."""
    if not given["interval"]:
        if given["season"] is not None:
            raise click.UsageError("--season is for intervals: give --interval, too")
        return {}
    try:
        levels = [float(word) for word in given["interval"]]
    except ValueError:
        said = ",".join(given["interval"])
        raise click.UsageError(f"--interval must be numbers such as 0.9,0.5, got {said}") from None
    return {"interval": checked_levels(levels, "--interval"), "season": given["season"]}


def _check_intervals(path: Path, mixture: Mixture, options: dict[str, Any]) -> None:
    """Refuse intervals other than those of the mixture of a state."""
    if "interval" not in options:
        return
    levels, season = mixture.settings.interval, mixture.settings.season
    asked = options["interval"], options["season"]
    if levels != asked[0] or asked[1] not in {None, season}:
        said = "without intervals" if not levels else f"with intervals {_spelled(levels, season)}"
        raise ValueError(f"{path} was made {said}, not with {_spelled(*asked)}")


def _spelled(levels: Sequence[float], season: int | None) -> str:
    text = ",".join(f"{level:g}" for level in levels)
    return text if season is None else f"{text} and season {season}"


def _resume(
    state_file: MixtureFile | None, options: dict[str, Any], *, pooled: bool | None
) -> Mixture | None:
    """Return the mixture of the state file, if there is one; refuse settings other than its own."""
    mixture = None if state_file is None else state_file.load()
    if state_file is None or mixture is None:
        return None
    own = mixture.settings
    asked_for = {name: options.get(name, getattr(own, name)) for name in RECIPE}
    if "loss" in options or isinstance(own.hedger, Automatic):  # it decides about these two
        asked_for |= {name: options.get(name) for name in ("combine", "gradient")}
    if "hedger" in options:
        asked_for["hedger"] = _as_before(options["hedger"], mixture)
    asked = MixtureSettings.of(**asked_for)
    before, now = own.to_plain(), asked.to_plain()
    for name in now:
        if now[name] != before[name]:
            old, new = before[name], now[name]
            if name in {"hedger", "loss"}:  # as they are written in options
                old, new = getattr(own, name), getattr(asked, name)
            raise ValueError(f"{state_file.path} was made with another {name}: {old}, not {new}")
    _check_intervals(state_file.path, mixture, options)
    if pooled is not None and pooled != own.shared:
        flag = "with" if own.shared else "without"
        raise ValueError(f"{state_file.path} was made {flag} --pooled")
    return mixture


def _as_before(text: str, mixture: Mixture) -> Any:
    """Return the hedger of a name, tuned by the number of experts that the mixture had at first."""
    own = mixture.settings.hedger
    if is_automatic(text):
        return automatic_of(text).starting_from(own.prior if isinstance(own, Automatic) else None)
    tuned = [named(text, n + 1) for n in range(max(len(mixture.names), 1))]
    return next((one for one in tuned if one == own), tuned[-1])


def _write(
    result: Blend, frame: Any, data: Path, state_file: MixtureFile | None, given: dict[str, Any]
) -> None:
    """Write the files that were asked for, and print the summary."""
    out, report = given["out"], given["report"]
    summary = result.summary()
    if out is not None:
        number_tables.write_arrow(out, frame, safe=given["safe_csv"])
    if report is not None:
        write_blend(
            report,
            summary,
            timeline(result),
            review(result),
            title=f"{data.name}, blended",
            notes=result.notes,
            command=shlex.join(["normalhedge", *sys.argv[1:]]),
            settings={"normalhedge": normalhedge.__version__, "numpy": np.__version__},
        )
    if state_file is not None:
        state_file.finish(result.mixture)
    if result.notes:
        echo("notes: " + "; ".join(result.notes), err=True)
    echo(summary)
    for path in (out, report, None if state_file is None else state_file.path):
        if path is not None:
            echo(f"wrote {path}")


def _bar() -> AbstractContextManager[Progress]:
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}% left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
