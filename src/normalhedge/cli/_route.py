"""``normalhedge route``: choose actions on a stream of JSON lines."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import click

from normalhedge.cli import _shared as shared
from normalhedge.cli._options import STREAM_NOTE, open_state, stream_options
from normalhedge.cli._streaming import run_stream
from normalhedge.live.options import options
from normalhedge.routing import Router, RouterFile, RouterSettings, RouterStream

SETTINGS = [name for name, one in options(RouterSettings).items() if one.metadata["short"]]
"""The options of `Router` that the command has."""


def _range(_: click.Context, __: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Return the two numbers of ``LOW,HIGH``."""
    if value is None:
        return None
    try:
        low, high = (float(word) for word in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not two numbers, LOW,HIGH") from None
    return low, high


_FORMS: dict[str, dict[str, Any]] = {
    "rule": {"metavar": shared.HEDGER},
    "gains": {"callback": _range, "metavar": "LOW,HIGH"},
}
"""How options are written on the command line; others are whole numbers."""


def _router_options(command: Any) -> Any:
    """Add the options of `Router`, with their texts."""
    for name in reversed(SETTINGS):
        option = options(RouterSettings)[name]
        form = _FORMS.get(name, {"type": int})
        text = f"{option.metadata['short']} [default: {option.metadata['shown']}]"
        command = click.option(f"--{name.replace('_', '-')}", name, help=text, **form)(command)
    return command


@click.command(
    "route",
    epilog='A line is {"choose": {}}, perhaps with a context, the actions awake or the actions '
    'seen; {"ticket": 0, "gain": 0.7}; {"ticket": 0, "correct": 0.6}; {"join": "c"}; or '
    '{"leave": "a"}. Each is answered with one line. ' + STREAM_NOTE,
)
@click.argument("data", metavar="-", type=click.Choice(["-"]))
@click.option(
    "--actions", callback=shared.words, metavar="A,B,...", help="The actions to begin with."
)
@_router_options
@stream_options
def command(data: str, state: Path | None, **parameters: Any) -> None:
    """Choose one action at a time, and learn from the gains that become known.

    Lines of JSON come in on stdin; see `normalhedge.Router` for what they do.
    """
    del data  # it is always stdin
    chosen = {name: parameters[name] for name in SETTINGS if parameters[name] is not None}
    if parameters["actions"]:
        chosen["actions"] = parameters["actions"]
    with ExitStack() as stack:
        state_file = open_state(stack, RouterFile, state, sync=parameters["sync"])
        router = None if state_file is None else state_file.load()
        if router is None:
            router = Router(**chosen)
        elif chosen:
            raise click.UsageError(
                f"{state} has its settings already: leave out --{next(iter(chosen))}"
            )
        run_stream(partial(RouterStream, router), router, state_file, parameters["max_line"])
