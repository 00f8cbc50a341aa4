"""The command, called in the process of the test."""

import pytest

from normalhedge import cli


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command; return its exit code, output and errors."""
    code: object = 0
    try:
        cli.main(arguments)
    except SystemExit as stop:
        code = stop.code
    out, error = capsys.readouterr()
    return int(str(code)), out, error
