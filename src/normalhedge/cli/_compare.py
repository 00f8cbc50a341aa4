"""``normalhedge compare``: the leaderboard."""

import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from normalhedge.boundary import inputs, number_tables
from normalhedge.cli import _options as cli_options, _shared as shared
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._terminal import echo
from normalhedge.hedgers import HEDGERS, Hedger
from normalhedge.mixtures.rules import MEMORY
from normalhedge.reports import sentence
from normalhedge.research.games import NATURES, Nature
from normalhedge.research.leaderboard import (
    FIELD,
    FIELD_ON_PANELS,
    QUICK,
    Contest,
    ContestSettings,
    Leaderboard,
    NatureContest,
    PanelContest,
    Standing,
    compare,
    default_natures,
    games_table,
    letters,
    overall_table,
    panel_table,
    recommend,
    write_leaderboard,
)

ALL = "all"
"""The value of ``--nature`` that stands for the default natures."""

LEGEND = (
    "place: the mean over all contests; best: in how many it was the best, or tied",
    "regret: discounted, to the best expert; the mean, and the worst of all; ordinary: to",
    "the best of a whole game; switch: in the stretch after a switch; µs: of a round",
)


@click.command(
    "compare",
    epilog="Hedgers: "
    + ", ".join(HEDGERS)
    + ". Natures: "
    + ", ".join(NATURES)
    + f". {shared.OWN_TEXT} '--nature {ALL}' adds the default natures to a --panel. auto, the "
    "default of "
    "blend, takes part on a panel, where there are forecasts to combine; the output then ends with "
    "a recommendation.",
)
@click.option("--hedger", "hedgers", multiple=True, metavar=shared.HEDGER,
              help="A hedger to compare; repeatable. [default: all]")  # fmt: skip
@click.option("--nature", "natures", multiple=True, metavar=shared.HEDGER,
              help="A simulated game; repeatable. replay:source=FILE.csv plays recorded gains. "
              "[default: seven natures, unless there is a panel]")  # fmt: skip
@click.option("--quick", is_flag=True, help="Play a few short runs only, in seconds.")
@click.option(
    "--alpha", type=float, help=f"The discount rate. [default: {ContestSettings.alpha:g}]"
)
@click.option(
    "--experts", type=int, help=f"The experts of a nature. [default: {ContestSettings.experts}]"
)
@click.option(
    "--rounds", type=int, help=f"The rounds of a game. [default: {ContestSettings.rounds}]"
)
@click.option("--runs", type=int, help=f"The runs of a game. [default: {ContestSettings.runs}]")
@click.option(
    "--seed", type=click.IntRange(min=0), help=f"The random seed. [default: {ContestSettings.seed}]"
)
@click.option("--quantile", type=float, metavar="SHARE", help="Also compare with the best share "
              f"of the experts. [default: {ContestSettings.quantile:g}]")  # fmt: skip
@click.option("--switches", type=click.IntRange(min=0),
              help="Also compare with sequences of experts that switch so often, unless the nature "
              f"fixes the number. [default: {ContestSettings.switches}]")  # fmt: skip
@shared.path_option(
    "--panel",
    "DATA.csv|DATA.parquet",
    "A table of forecasts and outcomes, as for blend; the options below describe it.",
)
@click.option(
    "--columns", callback=shared.words, metavar="A,B,...", help="The columns of the experts."
)
@cli_options.panel_options
@click.option("--memory", type=float, default=MEMORY, show_default=True,
              help="The memory of hedgers on a panel, in rounds.")  # fmt: skip
@shared.jobs_option
@shared.dask_option
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/compare"),
              show_default=True, help="The folder to write to; a run continues from the games "
              "that are finished there.")  # fmt: skip
def command(
    hedgers: tuple[str, ...],
    natures: tuple[str, ...],
    panel: Path | None,
    out: Path,
    **parameters: Any,
) -> None:
    """Benchmark hedgers on simulated games and real panels."""
    names = hedgers or (FIELD if panel is None else FIELD_ON_PANELS)
    for text in names:
        shared.import_own("hedger", text, HEDGERS, Hedger)
    for text in natures:
        shared.import_own("nature", text, NATURES, Nature)
    settings = _settings(parameters)
    contests = _contests(natures, panel, settings, parameters)
    with (
        shared.connect_workers(parameters["dask"], parameters["jobs"]) as workers,
        ProgressBar(width=40) as bar,
    ):
        try:
            board = compare(
                names, contests, folder=out / "cells", jobs=parameters["jobs"], progress=bar,
                workers=workers,
            )  # fmt: skip
        except KeyboardInterrupt:
            echo(f"{out} keeps the finished games; the same command continues", err=True)
            raise
    _print(board)
    shared.echo_written(*_write(board, out, settings))
    for standing in board.panels:
        _recommend(standing, parameters)


def _settings(parameters: dict[str, Any]) -> ContestSettings:
    names = ("alpha", "experts", "rounds", "runs", "seed", "quantile", "switches")
    chosen = {name: parameters[name] for name in names if parameters[name] is not None}
    for name in ("experts", "rounds", "runs"):
        if name in chosen:
            inputs.count(name, chosen[name])
    if "alpha" in chosen:
        inputs.number("alpha", chosen["alpha"], 0.0, 1.0)
    if "quantile" in chosen:
        inputs.quantile(chosen["quantile"])
    return replace(QUICK if parameters["quick"] else ContestSettings(), **chosen)


def _contests(
    natures: tuple[str, ...],
    panel: Path | None,
    settings: ContestSettings,
    parameters: dict[str, Any],
) -> list[Contest]:
    contests: list[Contest] = []
    if not natures and panel is None:
        natures = (ALL,)
    for name in natures:
        met = default_natures(settings) if name == ALL else (name,)
        contests += [NatureContest(each, settings) for each in met]
    if panel is None:
        source = click.get_current_context().get_parameter_source
        for name in (*cli_options.PANEL, *cli_options.MIXTURE, "columns", "memory"):
            if source(name) == ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name} belongs to a --panel, and there is none")
        return contests
    columns = {name: parameters[name] for name in cli_options.PANEL} | {
        "experts": parameters["columns"] or None
    }
    inputs.number("memory", parameters["memory"], 1.0)
    return [
        *contests,
        PanelContest(
            panel,
            columns,
            cli_options.mixture_settings(parameters),
            memory=parameters["memory"],
            quantile=settings.quantile,
            switches=settings.switches,
        ),
    ]


def _print(board: Leaderboard) -> None:
    lines = ["The leaderboard", *number_tables.as_text(*overall_table(board)), "", LEGEND[0]]
    if board.games:
        lines += LEGEND[1:]
        lines += [
            "",
            "Mean discounted regret in each game",
            *number_tables.as_text(*games_table(board)),
        ]
        lines += ["", *(f"{letter}: {name}" for letter, name in letters(board).items())]
        lines += ["*: the best, or within two standard errors of it"]
    for standing in board.panels:
        panel = standing.contest
        if isinstance(panel, PanelContest) and panel.notes:
            echo(f"notes: {'; '.join(panel.notes)}", err=True)
        lines += ["", standing.contest.name, *number_tables.as_text(*panel_table(standing))]
        lines += ["own regret: at the hedger's own discount, so hedgers cannot be compared by it"]
    echo("\n".join(lines) + "\n")


def _recommend(standing: Standing, parameters: dict[str, Any]) -> None:
    """Print the hedger to use on a panel, and the command for it."""
    recommendation, panel = recommend(standing), standing.contest
    if recommendation is None or not isinstance(panel, PanelContest):
        return
    command, left_out = cli_options.blend_words(panel.path, recommendation.hedger, parameters)
    echo(f"\n{sentence(recommendation.reason)[:-1]}:")
    if left_out:
        echo(f"({' and '.join(left_out)} left out: auto hedges over ways of combining)")
    echo(f"  {shlex.join(command)}")


def _write(board: Leaderboard, out: Path, settings: ContestSettings) -> list[Path]:
    tables = {"leaderboard.csv": board.overall()}
    if board.games:
        tables["games.csv"] = board.columns()
    if board.panels:
        tables["panels.csv"] = board.panel_columns()
    for name, columns in tables.items():
        number_tables.write_table(out / name, columns, safe=True)
    about = shared.provenance()
    about["settings"] |= asdict(settings)
    write_leaderboard(out / "report.html", board, **about)
    return [out / name for name in (*tables, "report.html")]
