"""What commands have in common: the hedger, and the files to write."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from normalhedge import _inputs, _names
from normalhedge.hedgers import HEDGERS


def hedger(
    text: str | None, memory: float | None, default: float, experts: int | None = None
) -> Any:
    """Return the hedger of ``--hedger`` and ``--memory``, or NormalHedge with a default memory.

    Some hedgers are tuned by the number of experts.
    """
    name = text or "normal-hedge"
    settings = name.partition(":")[2].split(",")
    if memory is not None and any(s.partition("=")[0] in {"alpha", "memory"} for s in settings):
        raise click.UsageError(f"--memory says what {name} says, too: give one of them")
    rounds = _inputs.number("memory", default if memory is None else memory, 1.0)
    known = {} if experts is None else {"n_experts": experts}
    return _names.make("hedger", name, HEDGERS, alpha=1.0 / rounds, **known)


def check_outputs(data: Path, wanted: Sequence[tuple[Path | None, Sequence[str]]]) -> None:
    """Refuse to write over what is read, or twice, and endings that say nothing.

    Parameters
    ----------
    data
        What is read.
    wanted
        What is to be written, and the endings that are accepted.
    """
    taken: dict[Path, str] = {data.resolve(): "what is read"}
    for path, endings in wanted:
        if path is None:
            continue
        if path.resolve() in taken:
            raise click.UsageError(f"{path} is {taken[path.resolve()]}: write to another file")
        taken[path.resolve()] = "written already"
        if path.suffix.lower() not in endings:
            raise click.UsageError(f"{path} must end in {' or '.join(sorted(endings))}")


def check_columns(own: Mapping[str, object], other: str) -> None:
    """Refuse a column of the file that is called like one of ours."""
    if other in own:
        raise click.UsageError(f"{other} is a column of the output, too: rename it")
