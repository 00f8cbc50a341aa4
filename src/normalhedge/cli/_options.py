"""The options of tables of forecasts, of mixtures and of streams."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import click

from normalhedge.boundary import inputs, specs
from normalhedge.cli._shared import Decorator, path_option, words
from normalhedge.live.owner import Owner
from normalhedge.live.state_file import StateFile
from normalhedge.mixtures.losses import CLASS_LOSS
from normalhedge.mixtures.rules import MEMORY, is_automatic
from normalhedge.mixtures.state import OPTIONS
from normalhedge.mixtures.streams import LONGEST

F = TypeVar("F", bound=StateFile[Any])


def spell_hedger(text: str | None, memory: float | None, default: float) -> str:
    """Return the hedger of ``--hedger`` and ``--memory``, or NormalHedge, as text."""
    name = text or "normal-hedge"
    if memory is not None and _says_memory(name):
        raise click.UsageError(f"--memory and {name} both set the memory: give one of them")
    rounds = inputs.number("memory", default if memory is None else memory, 1.0)
    if _says_memory(name):
        return name
    return f"{name}{',' if ':' in name else ':'}alpha={1.0 / rounds!r}"


def _says_memory(name: str) -> bool:
    _, settings = specs.settings_in(name)
    return bool(settings.keys() & {"alpha", "memory", "half_life"})


PANEL = (
    "target", "by", "time", "lag", "cutoff", "model", "forecast", "classes", "level", "quantiles",
    "dayfirst", "pooled",
)  # fmt: skip
"""The options that say what the columns of a table of forecasts are, as `blend` calls them."""

FORGETTING = ("memory", "half_life")
"""The options of `Mixture` that say how fast its hedger forgets; here there is one of them."""

MIXTURE = ("loss", *(name for name in OPTIONS if OPTIONS[name].single and name not in FORGETTING))
"""The options that say how forecasts are blended, on a panel of ``compare``, too."""

BLEND_ONLY = tuple(
    name
    for name, option in OPTIONS.items()
    if option.kind != "limit" and name not in {*MIXTURE, "shared", "half_life"}
)
"""Further options of ``blend``. Of the others of `Mixture`, --pooled is ``shared``; limits are for
those who keep many mixtures."""

REMARKS = {
    "hedger": " 'compare --help' lists them. [default: auto; normal-hedge if an option of a "
    "single rule is given]",
    "loss": " [default: square; brier for classes; crps for quantiles]",
    "memory": f" [default: {MEMORY:g}]",
}
"""What the command line adds to the texts of options: the defaults that depend on a table."""

_PANEL_OPTIONS = (
    click.option("--target", help="The column of outcomes; empty where not known yet."),
    click.option(
        "--by", callback=words, metavar="COLUMN,...", help="The columns that name a series."
    ),
    click.option("--time", help="The column of times."),
    click.option(
        "--lag", type=click.IntRange(min=0), default=0, help="Rounds an outcome stays unknown."
    ),
    click.option("--cutoff", help="The column of times at which forecasts were made."),
    click.option("--model", help="Long table: the column of models."),
    click.option("--forecast", help="Long table: the column of forecasts."),
    click.option(
        "--classes", callback=words, metavar="A,B,...", help="... of class probabilities."
    ),
    click.option("--level", help="Long table: the column of levels of quantiles."),
    click.option(
        "--quantiles", callback=words, metavar="q0.1,q0.5,...", help="The columns of quantiles."
    ),
    click.option(
        "--dayfirst/--monthfirst",
        default=None,
        help="The order of day and month in 01.02.2024.  [default: the order that fits all rows]",
    ),
    click.option(
        "--pooled/--separate",
        default=None,
        help="All series share their weights, or each has its own. [default: auto hedges over "
        "both; separate]",
    ),
)


_STREAM_OPTIONS = (
    path_option("--state", "FILE.json", "Continue from this file, and keep it up to date."),
    click.option(
        "--sync", is_flag=True, help="Stream: answered lines survive a power cut, too; slower."
    ),
    click.option(
        "--max-line",
        type=click.IntRange(min=1),
        metavar="BYTES",
        help=f"Stream: refuse longer lines.  [default: {LONGEST:,}]",
    ),
)

STREAM_NOTE = (
    "With --state, every answered line survives the end of the process, even kill -9: it is in "
    "FILE.json or in FILE.json.journal next to it. Only one process at a time may use these files. "
    "A power cut can lose the last moments before it, unless --sync is given. SIGTERM, SIGINT and "
    "SIGHUP end a stream between two lines, with exit code 128 + signal."
)
"""The guarantees of a stream, in the help of its commands."""


def stream_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a stream and of its state."""
    for option in reversed(_STREAM_OPTIONS):
        command = option(command)
    return command


def open_state(stack: ExitStack, kind: type[F], state: Path | None, *, sync: bool) -> F | None:
    """Return the file of ``--state``, which this process owns until the stack is left."""
    if state is None:
        if sync:
            raise click.UsageError("--sync needs --state: without it nothing is kept on disk")
        return None
    check_state(state)
    stack.enter_context(Owner(state))
    return kind(state, sync=sync)


def panel_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a table of forecasts, and of how they are blended."""
    command = mixture_options(*MIXTURE)(command)
    for option in reversed(_PANEL_OPTIONS):
        command = option(command)
    return command


def mixture_options(*names: str) -> Decorator:
    """Return a decorator that gives a command these options of `Mixture`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for name in reversed(names):
            command = _mixture_option(name)(command)
        return command

    return decorate


def _mixture_option(name: str) -> Decorator:
    """Return an option of `Mixture` as click has it; it is None, or empty, if it is not given."""
    option, flag = OPTIONS[name], f"--{name.replace('_', '-')}"
    more: dict[str, Any] = {"default": None, "help": option.text + REMARKS.get(name, "")}
    if option.kind == "truth":
        return click.option(f"{flag}/--no-{flag[2:]}", **more)
    if option.kind in {"words", "numbers"}:
        more["callback"] = words
    elif option.choices:
        more["type"] = click.Choice(option.choices)
    elif option.kind == "number":
        more["type"] = float
    elif option.kind == "count":
        most = None if option.high == inf else int(option.high)
        more["type"] = click.IntRange(min=int(option.low), max=most)
    return click.option(flag, metavar=option.form, **more)


def mixture_settings(
    parameters: Mapping[str, Any], names: Sequence[str] = MIXTURE
) -> dict[str, Any]:
    """Return the arguments of `Mixture` that options of the command line give."""
    options = {name: parameters[name] for name in names}
    options["loss"] = parameters["loss"] or (CLASS_LOSS if parameters["classes"] else None)
    return {name: value for name, value in options.items() if value not in (None, ())}


def blend_words(
    data: Path, hedger: str, parameters: Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    """Return the command that blends a panel by a hedger, and which options it leaves out."""
    automatic = is_automatic(hedger)
    path = str(data)
    words = ["normalhedge", "blend", f"./{path}" if path.startswith("-") else path]
    words += _spell_option("experts", parameters["columns"])
    left_out = []
    for name in (*PANEL, *MIXTURE):
        option = _spell_option(name, parameters[name])
        if option and automatic and name in MIXTURE[1:]:
            left_out.append(option[0])
        else:
            words += option
    if hedger != "auto":
        words += ["--hedger", hedger]
    if not automatic and not _says_memory(hedger) and parameters["memory"] != MEMORY:
        words += ["--memory", f"{parameters['memory']!r}"]
    return words, left_out


def _spell_option(name: str, value: Any) -> list[str]:
    """Return an option as it is written; nothing where it was not given."""
    if value in (None, (), 0) and value is not False:
        return []
    if isinstance(value, bool):
        flags = {"pooled": "separate", "gradient": "no-gradient", "dayfirst": "monthfirst"}
        return [f"--{name if value else flags[name]}"]
    return [f"--{name}", ",".join(value) if isinstance(value, tuple) else str(value)]


def check_state(state: Path) -> None:
    """Refuse a file of a state that could not be written."""
    target = Path(os.path.realpath(state))
    if not target.parent.is_dir():
        raise click.UsageError(f"--state {state}: there is no folder {target.parent}")
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "no regular file"
        raise click.UsageError(f"--state {state} is {kind}")
    if not os.access(target.parent, os.W_OK):
        raise click.UsageError(f"--state {state}: the folder {target.parent} cannot be written")
    if target.exists() and not os.access(target, os.R_OK | os.W_OK):
        raise click.UsageError(f"--state {state} may not be read or written")
