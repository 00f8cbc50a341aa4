"""``normalhedge compare``: the leaderboard."""

import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

import normalhedge
from normalhedge.boundary import inputs, number_tables
from normalhedge.cli._options import (
    MIXTURE,
    PANEL,
    blend_words,
    mixture_settings,
    panel_options,
    words,
)
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._terminal import echo
from normalhedge.cli._workers import dask_option, workers_of
from normalhedge.hedgers import HEDGERS
from normalhedge.mixtures.rules import MEMORY
from normalhedge.reports import sentence
from normalhedge.research.games import NATURES
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
    + f". '--nature {ALL}' means those of the default, beside a --panel. auto, the default of "
    "blend, takes part on a panel, where there are forecasts to combine; the output then ends with "
    "a recommendation.",
)
@click.option("--hedger", "hedgers", multiple=True, metavar="NAME[:KEY=VALUE,...]",
              help="Repeatable. [default: everybody]")  # fmt: skip
@click.option("--nature", "natures", multiple=True, metavar="NAME[:KEY=VALUE,...]",
              help="Repeatable; replay:source=FILE.csv for recorded gains. "
              "[default: seven of them, unless there is a panel]")  # fmt: skip
@click.option("--quick", is_flag=True, help="A few short runs only, in seconds.")
@click.option(
    "--alpha", type=float, help=f"The discount rate. [default: {ContestSettings.alpha:g}]"
)
@click.option("--experts", type=int, help=f"Of a nature. [default: {ContestSettings.experts}]")
@click.option("--rounds", type=int, help=f"[default: {ContestSettings.rounds}]")
@click.option("--runs", type=int, help=f"[default: {ContestSettings.runs}]")
@click.option("--seed", type=click.IntRange(min=0), help=f"[default: {ContestSettings.seed}]")
@click.option("--quantile", type=float, metavar="SHARE", help="Also compare with the best share "
              f"of the experts. [default: {ContestSettings.quantile:g}]")  # fmt: skip
@click.option("--switches", type=click.IntRange(min=0),
              help="... and with sequences that switch so often, where it is not known how often "
              f"the nature does. [default: {ContestSettings.switches}]")  # fmt: skip
@click.option("--panel", type=click.Path(path_type=Path), metavar="DATA.csv|DATA.parquet",
              help="Forecasts and outcomes, as for blend; what follows belongs to it.")  # fmt: skip
@click.option("--columns", callback=words, metavar="A,B,...", help="The columns of the experts.")
@panel_options
@click.option("--memory", type=float, default=MEMORY, show_default=True,
              help="On a panel, in rounds.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), help="Runs in parallel; all cores by default.")
@dask_option
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/compare"),
              show_default=True, help="The folder to write to; what was finished there is not "
              "played again.")  # fmt: skip
def command(
    hedgers: tuple[str, ...], natures: tuple[str, ...], panel: Path | None, out: Path, **given: Any
) -> None:
    """Let hedgers meet natures and panels, and say who followed best."""
    names = hedgers or (FIELD if panel is None else FIELD_ON_PANELS)
    settings = _settings(given)
    contests = _contests(natures, panel, settings, given)
    with workers_of(given["dask"], given["jobs"]) as workers, ProgressBar(width=40) as bar:
        try:
            board = compare(
                names, contests, folder=out / "cells", jobs=given["jobs"], progress=bar,
                workers=workers,
            )  # fmt: skip
        except KeyboardInterrupt:
            echo(f"what was finished is kept in {out}; the same command continues", err=True)
            raise
    _print(board)
    for path in _write(board, out, settings):
        echo(f"wrote {path}")
    for standing in board.panels:
        _recommend(standing, given)


def _settings(given: dict[str, Any]) -> ContestSettings:
    names = ("alpha", "experts", "rounds", "runs", "seed", "quantile", "switches")
    chosen = {name: given[name] for name in names if given[name] is not None}
    for name in ("experts", "rounds", "runs"):
        if name in chosen:
            inputs.count(name, chosen[name])
    if "alpha" in chosen:
        inputs.number("alpha", chosen["alpha"], 0.0, 1.0)
    if "quantile" in chosen:
        inputs.quantile(chosen["quantile"])
    return replace(QUICK if given["quick"] else ContestSettings(), **chosen)


def _contests(
    natures: tuple[str, ...], panel: Path | None, settings: ContestSettings, given: dict[str, Any]
) -> list[Contest]:
    contests: list[Contest] = []
    if not natures and panel is None:
        natures = (ALL,)
    for name in natures:
        met = default_natures(settings) if name == ALL else (name,)
        contests += [NatureContest(each, settings) for each in met]
    if panel is None:
        source = click.get_current_context().get_parameter_source
        for name in (*PANEL, *MIXTURE, "columns", "memory"):
            if source(name) == ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name} belongs to a --panel, and there is none")
        return contests
    columns = {name: given[name] for name in PANEL} | {"experts": given["columns"] or None}
    inputs.number("memory", given["memory"], 1.0)
    return [
        *contests,
        PanelContest(
            panel,
            columns,
            mixture_settings(given),
            memory=given["memory"],
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
    echo("\n".join(lines) + "\n")


def _recommend(standing: Standing, given: dict[str, Any]) -> None:
    """Print the hedger to use on a panel, and the command for it."""
    found, panel = recommend(standing), standing.contest
    if found is None or not isinstance(panel, PanelContest):
        return
    command, left_out = blend_words(panel.path, found.hedger, given)
    echo(f"\n{sentence(found.reason)[:-1]}:")
    if left_out:
        echo(f"({' and '.join(left_out)} left out: auto hedges over ways of combining)")
    echo(f"  {shlex.join(command)}")


def _write(board: Leaderboard, out: Path, settings: ContestSettings) -> list[Path]:
    files = [out / "leaderboard.csv"]
    number_tables.write_table(files[-1], board.overall(), safe=True)
    if board.games:
        files.append(out / "games.csv")
        number_tables.write_table(files[-1], board.columns(), safe=True)
    if board.panels:
        files.append(out / "panels.csv")
        number_tables.write_table(files[-1], board.panel_columns(), safe=True)
    files.append(out / "report.html")
    write_leaderboard(
        files[-1],
        board,
        command=shlex.join(["normalhedge", *sys.argv[1:]]),
        settings={
            "normalhedge": normalhedge.__version__,
            "numpy": np.__version__,
            **asdict(settings),
        },
    )
    return files
