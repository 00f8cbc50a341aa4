"""``normalhedge token``: make and remove the tokens of a server."""

import time
from pathlib import Path

import click

from normalhedge.cli._terminal import echo

DAY = 86_400.0


@click.command(
    "token",
    epilog="The command prints the token once: the file holds only its digest. A running server "
    "reads the file again when it changes.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("name", required=False)
@click.option("--scope", type=click.Choice(["read", "write", "admin"]), default="write",
              show_default=True, help="Its rights; each includes the ones before.")  # fmt: skip
@click.option("--mixture", multiple=True, metavar="NAME",
              help="Restrict the token to this mixture; repeatable.")  # fmt: skip
@click.option(
    "--days",
    type=click.FloatRange(0, min_open=True),
    help="Let the token expire after so many days.",
)
@click.option("--remove", is_flag=True, help="Remove the token of this name.")
def command(
    file: Path,
    name: str | None,
    scope: str,
    mixture: tuple[str, ...],
    days: float | None,
    remove: bool,  # noqa: FBT001
) -> None:
    """Add a token to FILE and print it; without NAME, list the tokens."""
    from normalhedge.service import access  # noqa: PLC0415 -- quick --help

    if name is None:
        if remove:
            raise click.UsageError("--remove needs the name of a token")
        for token in access.read_tokens(file):
            where = "all mixtures" if token.mixtures is None else ", ".join(token.mixtures)
            until = "" if token.expires is None else f", until {_day(token.expires)}"
            echo(f"{token.name}: {token.scope}, {where}{until}")
    elif remove:
        access.remove_token(file, name)
        echo(f"removed {name}")
    else:
        expires = None if days is None else time.time() + days * DAY
        echo(access.new_token(file, name, scope, list(mixture) or None, expires))


def _day(when: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(when))
