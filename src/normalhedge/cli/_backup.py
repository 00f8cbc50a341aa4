"""``normalhedge backup``: copy the database of a server while it runs."""

from pathlib import Path

import click

from normalhedge.boundary import extras
from normalhedge.cli._shared import config_option, database_option
from normalhedge.cli._terminal import echo


@click.command(
    "backup",
    epilog="pg_dump copies a database of PostgreSQL. 'normalhedge restore' puts a copy back.",
)
@click.argument("file", type=click.Path(path_type=Path))
@database_option
@config_option
def command(file: Path, db: str | None, config: Path | None) -> None:
    """Copy the database of a server to FILE, while the server runs.

    The copy holds every request that the server acknowledged before. It is checked before it takes
    the place of an older file.
    """
    extras.require("msgspec")
    from normalhedge.service import backups, settings  # noqa: PLC0415 -- quick --help

    contents = backups.back_up(settings.read_settings(config, db=db).db, file)
    echo(f"wrote {file}: {contents}")
