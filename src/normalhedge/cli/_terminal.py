"""Output of commands: the text of users cannot control the terminal."""

import os
import sys

import click

from normalhedge.boundary.terminal import shown


def echo(text: object = "", *, err: bool = False) -> None:
    """Print a text, line by line, with control characters escaped."""
    click.echo("\n".join(shown(line) for line in str(text).split("\n")), err=err)


def give_up_stdout() -> None:
    """Drop the rest of stdout: the reader is gone, or nothing can be written.

    Python would try again at its end, and print a traceback.
    """
    try:
        handle = os.open(os.devnull, os.O_WRONLY)
        os.dup2(handle, sys.stdout.fileno())
        os.close(handle)
    except (OSError, ValueError, AttributeError):
        return  # there is no such file
