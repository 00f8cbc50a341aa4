"""A browser that tests drive: headless Chromium, over the pipe of its DevTools protocol."""

import base64
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

from tests.reports.browser import CHROMIUM, OPTIONS, in_browser

__all__ = ["Browser", "browsing", "in_browser"]

PATIENCE = 30.0
"""How long a browser may take for an answer, in seconds: machines of tests are busy."""

NOTHING: tuple[Any, ...] = (None, False, 0, "", [])
"""Values that are not true in a page; an element comes as an empty mapping, and is true."""

SWITCHES = [
    *(one for one in OPTIONS if one not in {"--virtual-time-budget=20000", "--dump-dom"}),
    "--remote-debugging-pipe",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--hide-scrollbars",
]

BEHIND = "import os, sys; os.dup2({0}, 3); os.dup2({1}, 4); os.execv(sys.argv[1], sys.argv[1:])"
"""Chromium reads its commands from file 3 and writes its answers to file 4."""


class Browser:
    """A page of a browser.

    Parameters
    ----------
    to, back
        The files by which commands go and answers come.

    Attributes
    ----------
    requests
        The addresses that the page asked for.
    complaints
        What the console and uncaught errors said.
    dialogs
        The texts of dialogs that a script opened.
    """

    def __init__(self, to: int, back: int) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.dialogs: list[str] = []
        self._to, self._back = to, back
        self._rest = b""
        self._numbers = itertools.count(1)
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        """Return the answer to a command."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": given}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            said = self._next(until)
            if said.get("id") == number:
                assert "error" not in said, said
                found: dict[str, Any] = said["result"]
                return found

    def _next(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            left = max(0.0, until - time.monotonic())
            assert select([self._back], [], [], left)[0], "the browser does not answer"
            part = os.read(self._back, 1 << 20)
            assert part, "the browser has gone"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        said: dict[str, Any] = json.loads(text)
        self._note(said.get("method"), said.get("params", {}))
        return said

    def _note(self, method: str | None, given: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(given["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and given["type"] in {"error", "warning"}:
            self.complaints.append(json.dumps(given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(json.dumps(given["entry"]))
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(given["message"])

    def open(self, address: str) -> None:
        """Open a page, and wait until its own files are there."""
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && document.body !== null")

    def value(self, script: str) -> Any:
        """Return the value of an expression in the page; promises are awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script: str, seconds: float = PATIENCE) -> Any:
        """Return the value of an expression once it is true; fail if it never is.

        Parameters
        ----------
        script
            The expression.
        seconds
            How long to wait.
        """
        end = time.monotonic() + seconds
        while (found := self.value(script)) in NOTHING:
            assert time.monotonic() < end, f"never true: {script}\n{self.text()}"
            time.sleep(0.05)
        return found

    def text(self) -> str:
        """Return the text of the page as people see it."""
        return str(self.value("document.body?.innerText ?? ''"))

    def look(self, width: int, theme: str = "light") -> None:
        """Set the width of the window, and what the system prefers.

        Parameters
        ----------
        width
            The width in pixels.
        theme
            ``light`` or ``dark``.
        """
        phone = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=phone,
        )  # fmt: skip
        feature = {"name": "prefers-color-scheme", "value": theme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, path: Path) -> None:
        """Write a picture of the whole page."""
        self.call("Page.bringToFront")
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start a browser; leaving ends it."""
    assert CHROMIUM is not None
    theirs_in, to = os.pipe()
    back, theirs_out = os.pipe()
    high = [os.dup2(one, 50 + k, inheritable=True) for k, one in enumerate((theirs_in, theirs_out))]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [CHROMIUM, *SWITCHES, f"--user-data-dir={folder}", "about:blank"]
        child = subprocess.Popen(
            [sys.executable, "-c", BEHIND.format(*high), *command],
            pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for one in (theirs_in, theirs_out, *high):
            os.close(one)
        try:
            yield Browser(to, back)
        finally:
            os.close(to)
            os.close(back)
            try:
                child.wait(10)  # it ends when its pipe is closed
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
