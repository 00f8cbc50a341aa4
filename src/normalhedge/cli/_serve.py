"""``normalhedge serve``: mixtures behind HTTP."""

from pathlib import Path
from typing import Any

import click

from normalhedge.boundary import extras
from normalhedge.cli._shared import config_option, path_option
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
@path_option(
    "--token-file",
    "FILE",
    "Ask for bearer tokens; this file has their digests: see 'normalhedge token'.",
)
@click.option("--insecure", is_flag=True, default=None,
              help="Allow other machines to connect without tokens.")  # fmt: skip
@click.option("--allow-host", multiple=True, metavar="NAME",
              help="Accept requests to the server under this name, too; repeatable.")  # fmt: skip
@path_option("--tls-cert", "FILE", "Speak HTTPS, with this certificate.")
@path_option("--tls-key", "FILE", "The key of the certificate.")
@path_option("--tls-client-ca", "FILE", "Ask clients for certificates of these authorities.")
@click.option("--trust-proxy", multiple=True, metavar="ADDRESS",
              help="Believe the X-Forwarded-For of this proxy; repeatable.")  # fmt: skip
@click.option("--wait", is_flag=True, default=None,
              help="Wait while another process owns the database.")  # fmt: skip
@click.option("--keep-days", type=click.FloatRange(0), metavar="DAYS",
              help="Remove older entries from the log.  [default: 0, keep everything]")  # fmt: skip
@click.option("--alarm-url", metavar="URL",
              help="POST each alarm to this address, until it takes it.")  # fmt: skip
@path_option(
    "--alarm-secret-file",
    "FILE",
    "Sign alarms with the secret in this file: X-Normalhedge-Signature.",
)
@click.option("--alarm-command", metavar="COMMAND",
              help="Run this for each alarm, JSON on its stdin, until it succeeds.")  # fmt: skip
@click.option("--log-requests", is_flag=True, default=None,
              help="Write a line to stderr for each request.")  # fmt: skip
@config_option
@click.option("--check", is_flag=True, help="Check settings, database and port, then stop.")
def command(config: Path | None, check: bool, **parameters: Any) -> None:  # noqa: FBT001
    """Serve mixtures over HTTP, with a log that survives crashes.

    The server writes every request that changes a mixture to the log, on the disk, before it
    answers. After a crash it replays the log: it loses no acknowledged request, and learns none
    twice. One process at a time owns a database.
    """
    for module in ("msgspec", "prometheus_client", "starlette", "uvicorn"):
        extras.require(module)
    from normalhedge.service import server, settings  # noqa: PLC0415 -- an extra

    for name, value in parameters.items():
        if isinstance(value, Path):
            parameters[name] = str(value)
        elif value == ():
            parameters[name] = None
    configuration = settings.read_settings(config, **parameters)
    if check:
        for sentence in server.check(configuration):
            echo(sentence)
        return
    server.serve(configuration)
