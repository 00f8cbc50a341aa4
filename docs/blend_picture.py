"""Draw docs/blend.png: the beginning of the page of ``make blend``, in Chromium.

``make blend && .venv/bin/python docs/blend_picture.py``
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

WIDTH, HEIGHT, COLOURS = 1000, 1100, 64
PAGE, PICTURE = Path("out/blend/report.html"), Path("docs/blend.png")


def draw(page: Path, picture: Path) -> None:
    """Take the picture of a page."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium is not installed: make system PARTS=browser")
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.png"
        subprocess.run(
            [
                chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--virtual-time-budget=20000", f"--user-data-dir={folder}/profile",
                f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={whole}",
                page.resolve().as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=180,
        )  # fmt: skip
        Image.open(whole).convert("RGB").quantize(COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    draw(PAGE, PICTURE)
