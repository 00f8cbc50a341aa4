"""``normalhedge hub``: blend the submissions to a forecast hub."""

import os
from pathlib import Path
from typing import Any

import click
import numpy as np

from normalhedge.boundary import number_tables
from normalhedge.cli import _shared as shared
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._terminal import echo
from normalhedge.tables.hubs import (
    KNOWN_AFTER,
    LARGEST_FILE,
    NAME,
    HubBlend,
    blend_hub,
)

SETTINGS = (
    "known_after",
    "leave_out",
    "keep",
    "max_weight",
    "since",
    "name",
    "hedger",
    "largest_file",
)
"""The options that `blend_hub` takes by name."""


@click.command(
    "hub",
    epilog="FOLDER has the layout of the hubverse: hub-config/tasks.json, model-metadata, "
    "model-output/TEAM-MODEL/DATE-TEAM-MODEL.csv, .csv.gz or .parquet, and target-data. The blend "
    "leaves out the hub's own models: a model with ensemble_of_hub_models: true or "
    "designated_model: false in its metadata, whose team has 'hub' in its abbreviation, or has its "
    "abbreviation in the name of the hub (FluSight-baseline), or whose name contains 'hub' or "
    "'baseline'; --keep includes them. An unusable file is left out and named. The command opens "
    "no file of a later date, and the same date gives the same file again.",
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option("--target", multiple=True, metavar="NAME",
              help="The target; repeatable. [default: all]")  # fmt: skip
@click.option("--date", metavar="YYYY-MM-DD",
              help="The date of the submissions to blend. [default: the last]")  # fmt: skip
@shared.path_option(
    "--out",
    "FILE.csv|FILE.parquet|FOLDER",
    "Write the submission to this file, or into this folder.",
)
@shared.path_option("--weights-out", shared.TABLE, "Write the weights of the models.")
@click.option("--max-weight", type=float, metavar="SHARE",
              help="The largest weight of a model; the excess goes to the others.")  # fmt: skip
@click.option("--known-after", type=click.IntRange(min=0), default=KNOWN_AFTER, metavar="DAYS",
              show_default=True, help="How long after its date an outcome is known.")  # fmt: skip
@click.option(
    "--leave-out", multiple=True, metavar="GLOB", help="Leave out these models, too; repeatable."
)
@click.option(
    "--keep", multiple=True, metavar="GLOB", help="Keep these models of the hub; repeatable."
)
@click.option("--since", metavar="YYYY-MM-DD", help="Learn from submissions since this date only.")
@click.option("--name", default=NAME, show_default=True, metavar="TEAM-MODEL",
              help="The name of the blend as a model of the hub.")  # fmt: skip
@click.option("--hedger", metavar=shared.HEDGER,
              help="auto, or a single rule, as for 'blend'. [default: auto]")  # fmt: skip
@click.option("--column", "columns", multiple=True, metavar="NAME=COLUMN",
              help="The column of the target data that holds target_end_date, observation, target, "
              "as_of or a task id; repeatable. [default: found by usual names]")  # fmt: skip
@click.option("--largest-file", type=click.IntRange(min=1), default=LARGEST_FILE, metavar="BYTES",
              show_default=True, help="The largest file to read, after decompression.")  # fmt: skip
@shared.safe_csv_option
def command(folder: Path, **parameters: Any) -> None:
    """Blend the submissions to a forecast hub, as of a date.

    The weights come from earlier submissions whose outcomes were known by then; a missing team
    sleeps. The blend covers quantiles, class probabilities (pmf), means and medians, in the format
    of the hub: run the command each week.
    """
    out, weights_out = _outputs(folder, parameters)
    with ProgressBar("reading") as bar:
        result = blend_hub(
            folder,
            parameters["target"],
            parameters["date"],
            columns=_columns(parameters["columns"]),
            progress=bar,
            **{name: parameters[name] for name in SETTINGS},
        )
    if out is not None and _is_folder(out):
        out.mkdir(exist_ok=True)
        out /= f"{result.date}-{result.name}.csv"
    for path, columns in ((out, result.submission), (weights_out, result.weights)):
        if path is not None:
            number_tables.write_table(path, columns, safe=parameters["safe_csv"])
    _print(result)
    shared.echo_written(out, weights_out)


def _columns(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the columns of the target data by their names, from texts ``NAME=COLUMN``."""
    pairs = [text.partition("=") for text in texts]
    for text, (name, _, column) in zip(texts, pairs, strict=True):
        if not (name and column):
            raise click.UsageError(
                f"--column must be NAME=COLUMN, such as target_end_date=week, got {text!r}"
            )
    return {name: column for name, _, column in pairs}


def _outputs(folder: Path, parameters: dict[str, Any]) -> tuple[Path | None, Path | None]:
    """Return the files to write; refuse those that could not be written."""
    out, weights_out = parameters["out"], parameters["weights_out"]
    into = out is not None and _is_folder(out)
    shared.check_outputs(
        folder, [(None if into else out, shared.TABLES), (weights_out, shared.TABLES)]
    )
    if out is not None and not (folder := Path(os.path.realpath(out)).parent).is_dir():
        raise click.UsageError(f"--out {out}: there is no folder {folder}")
    return out, weights_out


def _is_folder(path: Path) -> bool:
    """Tell whether a path is a folder, or will be one: the first submission makes its folder."""
    return path.is_dir() or not (path.suffix or path.exists())


def _print(result: HubBlend) -> None:
    for note in result.notes:
        echo(note, err=True)
    echo(f"{result.name}, {result.date}")
    head = ["target", "type", "horizon", "tasks", "models", "past tasks", "score", "blend"]
    head += ["plain mean", "plain median"]
    body = [
        [
            score.target,
            score.kind,
            score.horizon,
            f"{score.tasks:,}",
            f"{score.models:,}",
            f"{score.settled:,}",
            score.loss,
            *(
                "" if np.isnan(value) else f"{value:.4g}"
                for value in (score.blend, score.mean, score.median)
            ),
        ]
        for score in result.scores
    ]
    shared.echo_table(head, body)
