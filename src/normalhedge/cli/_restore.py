"""``normalhedge restore``: put a copy in the place of the database of a server."""

from pathlib import Path

import click

from normalhedge.boundary import extras
from normalhedge.cli._terminal import echo


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--db", metavar="FILE.db", help="The database.  [default: that of the settings]")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE.toml",
              help="Read the settings of the server from this file.")  # fmt: skip
@click.option("--replace", is_flag=True, help="Move away a database that is there.")
def command(file: Path, db: str | None, config: Path | None, replace: bool) -> None:  # noqa: FBT001
    """Put FILE, which 'normalhedge backup' wrote, in the place of the database.

    The server must be stopped. What it acknowledged after the copy was made is not in it.
    """
    extras.require("msgspec")
    from normalhedge.service import backups, settings  # noqa: PLC0415 -- quick --help

    place = settings.read_settings(config, db=db).db
    found, before = backups.restore(file, place, replace=replace)
    if before is not None:
        echo(f"moved the old database to {before}")
    echo(f"restored {place}: {found}")
