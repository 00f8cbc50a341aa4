"""The group of commands; each error becomes one sentence."""

import csv
import io
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import click

import normalhedge
from normalhedge.cli._terminal import echo, give_up_stdout


class _Lazy(click.Group):
    """Commands whose modules are imported when they are called: ``--help`` stays fast."""

    verbs = MappingProxyType(
        {
            "backup": "Copy the database of a server while it runs.",
            "blend": "Blend the forecasts of a file or a stream, using past outcomes only.",
            "certify": "Bound the regret of NormalHedge, prove the bound, and attack it.",
            "compare": "Benchmark hedgers on simulated games and real panels.",
            "hub": "Blend the submissions to a forecast hub, as of a date.",
            "latent": "Find the regimes of a series and predict it, using past rounds only.",
            "paper": "Reproduce the figures of the paper, check its claims and write a report.",
            "play": "Simulate one game and show the regret of hedgers to the best expert.",
            "restore": "Restore the database of a server from a backup.",
            "route": "Choose actions on a stream, from the gains that become known.",
            "serve": "Serve mixtures over HTTP, with a log that survives crashes.",
            "token": "Create, list and remove the access tokens of a server.",
        }
    )

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.verbs)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(self.verbs.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.verbs:
            from normalhedge.boundary import specs  # noqa: PLC0415

            raise click.UsageError(str(specs.nearest("command", cmd_name, self.verbs)), ctx)
        name = cmd_name.replace("-", "_")
        module = __import__(f"normalhedge.cli._{name}", fromlist=["command"])
        command: click.Command = module.command
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(normalhedge.__version__, prog_name="normalhedge")
def group() -> None:
    """Online learning with expert advice."""


def run(arguments: Sequence[str] | None) -> None:
    """Run a command; an error of the user's is one sentence and exit code 2."""
    if sys.stdout is None:  # it was closed: there is nobody to print to
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):  # no locale is too poor for a name
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            group.main(args=arguments, prog_name="normalhedge", standalone_mode=False)
    except click.ClickException as error:
        _fail(error.format_message())
    except click.Abort:
        _fail("interrupted", code=130)
    except (MemoryError, OverflowError) as error:
        _fail(f"these numbers are too large for this machine: {error}")
    except (ValueError, TypeError, ImportError, csv.Error) as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))


def _show_warning(message: Warning | str, *_: object) -> None:
    """Print a warning as a sentence, without the line of code that it comes from."""
    echo(f"normalhedge: {message}", err=True)


def _fail(sentence: str, code: int = 2) -> None:
    echo(f"normalhedge: {sentence}".replace("\n", " "), err=True)
    try:
        sys.stdout.flush()
    except OSError:
        give_up_stdout()
    sys.exit(code)
