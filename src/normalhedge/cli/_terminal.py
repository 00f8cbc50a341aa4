"""What commands print: text of users is shown, and does nothing to the terminal."""

import os
import sys

import click

from normalhedge.boundary.terminal import shown


def echo(text: object = "", *, err: bool = False) -> None:
    """Print a text, line by line, with control characters escaped."""
    click.echo("\n".join(shown(line) for line in str(text).split("\n")), err=err)


def give_up_stdout() -> None:
    """Let what is still to be written to stdout vanish: nobody reads it, or it cannot be written.

    Python would try again at its end, and print a traceback.
    """
    try:
        handle = os.open(os.devnull, os.O_WRONLY)
        os.dup2(handle, sys.stdout.fileno())
        os.close(handle)
    except (OSError, ValueError, AttributeError):
        return  # there is no such file
