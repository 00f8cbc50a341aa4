"""``normalhedge restore``: put a copy in the place of the database of a server."""

from pathlib import Path

import click

from normalhedge.boundary import extras
from normalhedge.cli._shared import config_option, database_option
from normalhedge.cli._terminal import echo


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@database_option
@config_option
@click.option("--replace", is_flag=True, help="Move an existing database away.")
def command(file: Path, db: str | None, config: Path | None, replace: bool) -> None:  # noqa: FBT001
    """Put FILE, which 'normalhedge backup' wrote, in the place of the database.

    Stop the server first. The copy lacks the requests that came after it was made.
    """
    extras.require("msgspec")
    from normalhedge.service import backups, settings  # noqa: PLC0415 -- quick --help

    database = settings.read_settings(config, db=db).db
    contents, before = backups.restore(file, database, replace=replace)
    if before is not None:
        echo(f"moved the old database to {before}")
    echo(f"restored {database}: {contents}")
