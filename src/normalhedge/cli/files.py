"""Files that commands are asked to write."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click


def check_outputs(data: Path, wanted: Mapping[Path | None, Sequence[str]]) -> None:
    """Refuse to write over what is read, and endings that say nothing.

    Parameters
    ----------
    data
        What is read.
    wanted
        What is to be written, and the endings that are accepted.
    """
    for path, endings in wanted.items():
        if path is None:
            continue
        if data.exists() and path.resolve() == data.resolve():
            raise click.UsageError(f"{path} is what is read: write to another file")
        if path.suffix.lower() not in endings:
            raise click.UsageError(f"{path} must end in {' or '.join(sorted(endings))}")
