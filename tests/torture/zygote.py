"""A process that has imported the command line, and forks one that runs it at each request.

It saves the start of Python, which takes longer than what is tried. Requests come through a
socket: the words of a command with three open files, or the number of a process to look after.
"""

import contextlib
import importlib
import json
import os
import socket
import sys


def serve(requests: socket.socket) -> None:
    """Answer requests until the other side is gone."""
    for name in ("_blend", "_commands"):
        importlib.import_module(f"normalhedge.cli.{name}")

    while True:
        data, files, _, _ = socket.recv_fds(requests, 1 << 16, 3)
        if not data:
            return
        asked = json.loads(data)
        if isinstance(asked, list):
            if asked[0] == "serve":
                importlib.import_module("normalhedge.service.server")
            child = os.fork()
            if child == 0:
                requests.close()
                _become(asked, files)
            for file in files:
                os.close(file)
            requests.send(json.dumps(child).encode())
        else:
            done, status = os.waitpid(asked, os.WNOHANG)
            code = os.waitstatus_to_exitcode(status) if done else None
            requests.send(json.dumps(code).encode())


def _become(words: list[str], files: list[int]) -> None:
    """Run the command in this process, as if it had been started with these files."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    sys.argv = ["normalhedge", *words]
    code: object = 70
    try:
        from normalhedge.cli import main  # noqa: PLC0415

        main(words)
        code = 0
    except SystemExit as error:
        code = error.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as own:
        serve(own)
