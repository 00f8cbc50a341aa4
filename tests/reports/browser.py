"""Pages, opened in a browser."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

in_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed: make system PARTS=browser"
)
"""Skip a test where there is no browser."""

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--enable-logging=stderr",
    "--virtual-time-budget=20000",
    "--dump-dom",
]


def opened(page: Path, folder: Path, *options: str) -> str:
    """Return what a browser makes of a page; it must not complain."""
    assert CHROMIUM is not None
    shown = subprocess.run(
        [CHROMIUM, *OPTIONS, *options, f"--user-data-dir={folder}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    console = [line for line in shown.stderr.splitlines() if "CONSOLE" in line]
    assert console == []
    return shown.stdout


def from_outside(html: str) -> list[str]:
    """Return the parts of a page that are fetched from elsewhere."""
    return re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(?!data:)[^"]*"', html)
