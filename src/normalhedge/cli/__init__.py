"""The command line: one file for each verb. It parses, calls and prints."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``normalhedge``; an error is one sentence and exit code 2."""
    try:
        from normalhedge.cli import _commands as commands  # noqa: PLC0415 -- its libraries are an extra
    except ImportError as error:
        sys.stderr.write(f"the command line needs {error.name}: pip install 'normalhedge[cli]'\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        commands.run(arguments)
    except KeyboardInterrupt:  # before the command takes care of it itself
        sys.exit(130)
