"""``normalhedge backup``: copy the database of a server while it runs."""

from pathlib import Path

import click

from normalhedge.boundary import extras
from normalhedge.cli._terminal import echo


@click.command(
    "backup",
    epilog="A database of PostgreSQL is copied by pg_dump. 'normalhedge restore' puts a copy back.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--db", metavar="FILE.db", help="The database.  [default: that of the settings]")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE.toml",
              help="Read the settings of the server from this file.")  # fmt: skip
def command(file: Path, db: str | None, config: Path | None) -> None:
    """Copy the database of a server to FILE, while the server runs.

    Every request that was acknowledged before is in the copy, which is checked before it takes the
    place of an older file.
    """
    extras.require("msgspec")
    from normalhedge.service import backups, settings  # noqa: PLC0415 -- quick --help

    found = backups.back_up(settings.read_settings(config, db=db).db, file)
    echo(f"wrote {file}: {found}")
