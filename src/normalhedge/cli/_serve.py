"""``normalhedge serve``: mixtures behind HTTP."""

from pathlib import Path
from typing import Any

import click

from normalhedge.boundary import extras
from normalhedge.cli._terminal import echo


@click.command(
    "serve",
    epilog="Each setting can be in a file (--config settings.toml: port = 8008, and limits in a "
    "table [limits]) or in the environment (NORMALHEDGE_PORT, NORMALHEDGE_LIMITS_BODY); the "
    "command line counts most. http://localhost:8008/docs lists the addresses.",
)
@click.option("--db", metavar="FILE.db|postgresql://...",
              help="The database.  [default: normalhedge.db]")  # fmt: skip
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="The port.  [default: 8008]")
@click.option("--token-file", type=click.Path(path_type=Path), metavar="FILE",
              help="Ask for bearer tokens, whose digests are in this file: see 'normalhedge "
              "token'.")  # fmt: skip
@click.option("--insecure", is_flag=True, default=None,
              help="Listen elsewhere than on this machine without tokens.")  # fmt: skip
@click.option("--allow-host", multiple=True, metavar="NAME",
              help="A further name by which the server may be asked.")  # fmt: skip
@click.option("--wait", is_flag=True, default=None,
              help="If another process owns the database, wait until it has gone.")  # fmt: skip
@click.option("--keep-days", type=click.FloatRange(0), metavar="DAYS",
              help="Remove what is older from the log.  [default: 0, keep everything]")  # fmt: skip
@click.option("--log-requests", is_flag=True, default=None,
              help="Write a line to stderr for each request.")  # fmt: skip
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE.toml",
              help="Read settings from this file.")  # fmt: skip
@click.option("--check", is_flag=True, help="Check settings, database and port, and end.")
def command(config: Path | None, check: bool, **given: Any) -> None:  # noqa: FBT001
    """Serve mixtures over HTTP: nothing acknowledged is lost, nothing is learned twice.

    Every request that changes a mixture is in the log, on the disk, before it is answered. After a
    crash, the log is replayed. One process at a time owns a database.
    """
    for module in ("msgspec", "uvicorn", "prometheus_client"):
        extras.require(module)
    from normalhedge.service import server, settings  # noqa: PLC0415 -- an extra

    if given["token_file"] is not None:
        given["token_file"] = str(given["token_file"])
    given["allow_host"] = given["allow_host"] or None
    found = settings.read_settings(config, **given)
    if check:
        for sentence in server.check(found):
            echo(sentence)
        return
    server.serve(found)
