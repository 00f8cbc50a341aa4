"""``normalhedge blend``: blend the forecasts of a file or of a stream."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from normalhedge.boundary import number_tables, table_files, whole_files
from normalhedge.cli import _options as cli_options, _shared as shared
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._streaming import run_stream
from normalhedge.cli._terminal import echo
from normalhedge.hedgers import named
from normalhedge.mixtures import LOSSES, Mixture
from normalhedge.mixtures.intervals import checked_levels
from normalhedge.mixtures.rules import MEMORY, Automatic, automatic_of, is_automatic
from normalhedge.mixtures.state import RECIPE, MixtureSettings
from normalhedge.mixtures.streams import MixtureFile, Stream
from normalhedge.reports import write_blend
from normalhedge.reports.analysis import review
from normalhedge.tables import Blend, blend, timeline

FILE_ONLY = (
    *(name for name in cli_options.PANEL if name != "classes"),
    "experts", "context", "weights", "encoding", "future", "out", "report", "alerts", "explain",
    "safe_csv",
)  # fmt: skip
"""Options for files only."""

STREAM_ONLY = ("sync", "max_line")
"""Options for streams only."""


@click.command(
    "blend",
    epilog="Losses: "
    + ", ".join(LOSSES)
    + ". Without --experts, every column of numbers without another role is an expert; a column "
    "'model' makes a long table. A column 'level' or 'quantile' marks quantiles, and so do "
    "columns such as q0.1, P10 and gam-lo-90. '-' reads JSON lines from stdin and answers each "
    "with one: "
    '{"a": 1.5, "b": 2} is a round, {"ticket": 0, "outcome": 1.8} its outcome, and '
    '{"forecasts": {"a": 1.5, "b": 2}, "context": {"hour": 7}} is a round with a context. '
    + cli_options.STREAM_NOTE,
)
@click.argument("data", metavar="DATA.csv|DATA.parquet|DATA.xlsx|DATA.jsonl|-")
@click.option(
    "--experts", callback=shared.words, metavar="A,B,...", help="The columns of the experts."
)
@cli_options.panel_options
@click.option(
    "--context",
    metavar="A,B,...|none",
    help="The contexts that weights may depend on: columns of categories, or hour, weekday and "
    "month of the time, which are tried by default; 'none' has none.",
)
@cli_options.mixture_options(*cli_options.BLEND_ONLY)
@click.option("--weights", is_flag=True, help="Add a column of weights for each expert to --out.")
@click.option("--encoding", metavar="NAME",
              help="The encoding of CSV files, such as latin-1.  [default: utf-8]")  # fmt: skip
@shared.path_option(
    "--future",
    shared.TABLE,
    "Also blend these forecasts, whose outcomes are unknown yet; --out then holds their blend.",
)
@shared.path_option("--out", shared.TABLE, "Write the blend to this file.")
@shared.path_option("--report", "FILE.html", "Write a page with plots to this file.")
@shared.path_option(
    "--alerts",
    "FILE.jsonl",
    "Write experts that got worse, stopped, or repeat another to this file, one to a line.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Print which experts gained weight, in which rounds, and what each is worth.",
)
@shared.safe_csv_option
@cli_options.stream_options
def command(data: str, state: Path | None, **parameters: Any) -> None:
    """Blend the forecasts of a file or a stream, using past outcomes only.

    The default (auto) has nothing to tune. Several base rules each combine the forecasts: the
    plain mean, median and trimmed mean; hedgers with several lengths of memory, with and without
    the gradient trick; and inverse losses. A hedger at the meta level gives most weight to the
    rules with the smallest losses. The summary shows their weights, and warns if a plain
    combination was better than the blend. The blend is corrected for errors that the forecasts
    share, such as a bias; --hedger auto:inside=true keeps it within the forecasts. A guard clips
    forecasts that are out of all proportion to the others; --hedger auto:guard=false switches it
    off.

    --hedger NAME chooses a single rule instead. --memory, --combine, --gradient, --even and
    --include are settings of a single rule. If outcomes come late (--lag), the weights of auto and
    bates-granger stay steady, while rules with the gradient trick swing. 'normalhedge compare
    --panel' finds the best rule for a panel.
    """
    options = _options(parameters)
    if data == "-":
        shared.refuse_options(parameters, FILE_ONLY, "files: a stream has no columns")
    else:
        shared.refuse_options(parameters, STREAM_ONLY, "streams")
    with ExitStack() as stack:
        state_file = cli_options.open_state(stack, MixtureFile, state, sync=parameters["sync"])
        mixture = _resume(state_file, options, pooled=parameters["pooled"])
        if data == "-":
            mixture = mixture or Mixture(**options)
            run_stream(partial(Stream, mixture), mixture, state_file, parameters["max_line"])
            if sentence := mixture.summary().partial:
                echo(f"normalhedge: {sentence}", err=True)
        else:
            _blend_file(Path(data), mixture, state_file, options, parameters)


def _blend_file(
    data: Path,
    mixture: Mixture | None,
    state_file: MixtureFile | None,
    options: dict[str, Any],
    parameters: dict[str, Any],
) -> None:
    """Blend a table; write the files that were asked for, and print the summary."""
    outputs = [
        (parameters["out"], shared.TABLES),
        (parameters["report"], (".html",)),
        (parameters["alerts"], (".jsonl", ".json")),
    ]
    shared.check_outputs(data, outputs)
    if parameters["future"] is not None:
        shared.check_outputs(parameters["future"], outputs)
    if parameters["future"] is not None and parameters["out"] is None:
        raise click.UsageError("--future needs --out: where should its blend go?")
    with ProgressBar("reading", width=10) as bar:
        bar.total(1.0)
        table = table_files.read_arrow(data, parameters["encoding"])
        bar.reach(0.0, "blending")
        result = blend(
            table,
            experts=parameters["experts"] or None,
            context=_contexts(parameters["context"]),
            weights=parameters["weights"],
            mixture=mixture,
            progress=lambda share: bar.reach(share, "blending"),
            **{name: parameters[name] for name in cli_options.PANEL},
            **(options if mixture is None else {}),
        )
        frame = result.frame
        if parameters["future"] is not None:
            bar.reach(1.0, "the future")
            frame = result.predict(
                table_files.read_arrow(parameters["future"], parameters["encoding"]),
                weights=parameters["weights"],
            )
    if parameters["out"] is not None and not frame.num_rows:
        raise ValueError(
            f"all rows of {data} were blended before, in an earlier run than the last: "
            f"{parameters['out']} and the state stay as they are"
        )
    _write(result, frame, data, state_file, parameters)


def _contexts(text: str | None) -> tuple[str, ...] | None:
    """Return the contexts of ``--context``; None where the table decides."""
    if text is None:
        return None
    return () if text == "none" else tuple(word.strip() for word in text.split(",") if word.strip())


def _options(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Mixture` that the options of the command line give."""
    options = cli_options.mixture_settings(
        parameters, (*cli_options.MIXTURE, *cli_options.BLEND_ONLY)
    ) | _interval_options(parameters)
    options.pop("memory", None)  # it becomes part of the hedger
    if is_automatic(parameters["hedger"]):
        if parameters["memory"] is not None:
            raise click.UsageError("--memory belongs to a single --hedger: auto has many memories")
        options["hedger"] = parameters["hedger"]
        automatic_of(parameters["hedger"])  # refuses a bad name before data is read
        return options
    if parameters["memory"] is not None or parameters["hedger"] is not None:
        options["hedger"] = cli_options.spell_hedger(
            parameters["hedger"], parameters["memory"], MEMORY
        )
        named(options["hedger"], n_experts=2)  # refuses a bad name before data is read
    return options


def _interval_options(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Mixture` for intervals."""
    if not parameters["interval"]:
        if parameters["season"] is not None:
            raise click.UsageError("--season is for intervals: give --interval, too")
        return {}
    try:
        levels = [float(word) for word in parameters["interval"]]
    except ValueError:
        text = ",".join(parameters["interval"])
        raise click.UsageError(f"--interval must be numbers such as 0.9,0.5, got {text}") from None
    return {"interval": checked_levels(levels, "--interval"), "season": parameters["season"]}


def _check_intervals(path: Path, mixture: Mixture, options: dict[str, Any]) -> None:
    """Refuse intervals that the mixture of a state does not have."""
    if "interval" not in options:
        return
    levels, season = mixture.settings.interval, mixture.settings.season
    wanted = options["interval"], options["season"]
    if levels != wanted[0] or wanted[1] not in {None, season}:
        made = (
            "without intervals"
            if not levels
            else f"with intervals {_spell_intervals(levels, season)}"
        )
        raise ValueError(f"{path} was made {made}, not with {_spell_intervals(*wanted)}")


def _spell_intervals(levels: Sequence[float], season: int | None) -> str:
    text = ",".join(f"{level:g}" for level in levels)
    return text if season is None else f"{text} and season {season}"


def _resume(
    state_file: MixtureFile | None, options: dict[str, Any], *, pooled: bool | None
) -> Mixture | None:
    """Return the mixture of the state file, if there is one; refuse settings other than its own."""
    mixture = None if state_file is None else state_file.load()
    if state_file is None or mixture is None:
        return None
    settings = mixture.settings
    wanted_options = {name: options.get(name, getattr(settings, name)) for name in RECIPE}
    if "loss" in options or isinstance(settings.hedger, Automatic):  # it decides about these two
        wanted_options |= {name: options.get(name) for name in ("combine", "gradient")}
    if "hedger" in options:
        wanted_options["hedger"] = _as_before(options["hedger"], mixture)
    wanted = MixtureSettings.of(**wanted_options)
    before, now = settings.to_plain(), wanted.to_plain()
    for name in now:
        if now[name] != before[name]:
            old, new = before[name], now[name]
            if name in {"hedger", "loss"}:  # as they are written in options
                old, new = getattr(settings, name), getattr(wanted, name)
            raise ValueError(f"{state_file.path} was made with another {name}: {old}, not {new}")
    _check_intervals(state_file.path, mixture, options)
    if pooled is not None and pooled != settings.shared:
        flag = "with" if settings.shared else "without"
        raise ValueError(f"{state_file.path} was made {flag} --pooled")
    return mixture


def _as_before(text: str, mixture: Mixture) -> Any:
    """Return the hedger of a name, tuned by the number of experts that the mixture had at first."""
    hedger = mixture.settings.hedger
    if is_automatic(text):
        return automatic_of(text).starting_from(
            hedger.prior if isinstance(hedger, Automatic) else None
        )
    tuned = [named(text, n + 1) for n in range(max(len(mixture.names), 1))]
    return next((rule for rule in tuned if rule == hedger), tuned[-1])


def _write(
    result: Blend,
    frame: Any,
    data: Path,
    state_file: MixtureFile | None,
    parameters: dict[str, Any],
) -> None:
    """Write the files that were asked for, and print the summary."""
    out, report, alerts = (parameters[name] for name in ("out", "report", "alerts"))
    summary = result.summary()
    explanation = None if report is None and not parameters["explain"] else result.explain()
    if out is not None:
        number_tables.write_arrow(out, frame, safe=parameters["safe_csv"])
    if report is not None:
        write_blend(
            report,
            summary,
            timeline(result),
            review(result),
            title=f"{data.name}, blended",
            notes=result.notes,
            explanation=explanation,
            **shared.provenance(),
        )
    if alerts is not None:
        text = "".join(f"{json.dumps(alert.to_plain())}\n" for alert in summary.alerts)
        whole_files.write_whole(alerts, lambda part: part.write_text(text, "utf-8"))
    if state_file is not None:
        state_file.finish(result.mixture)
    if result.notes:
        echo("notes: " + "; ".join(result.notes), err=True)
    echo(summary)
    if explanation is not None and parameters["explain"]:
        echo(f"\n{replace(explanation, alerts=())}")  # the summary has them
    shared.echo_written(out, report, alerts, state=None if state_file is None else state_file.path)
