"""The files of pages: read once, and served from memory."""

from collections.abc import Iterator
from importlib import resources
from typing import Any

from normalhedge.service._http import Call, Handling, Reply

KINDS = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
    ".png": b"image/png",
    ".ico": b"image/x-icon",
    ".woff2": b"font/woff2",
}
"""The types of files that are served."""

FOLDERS = ("dashboard", "pages")
"""The folders, in this package, whose files are served."""

HOMES = {"dashboard": "/", "pages": "/docs"}
"""The addresses of the files ``index.html``."""


def page_table() -> dict[tuple[str, str], Handling]:
    """Return the routes of all files: ``FOLDER/FILE`` is at ``/FOLDER/FILE``."""
    found = {}
    for path, content, kind in _files():
        found["GET", path] = Handling("page", "", _handler(Reply(content, kind=kind)))
    return found


def _handler(reply: Reply) -> Any:
    async def page(call: Call) -> Reply:
        del call
        return reply

    return page


def _files() -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the address, the content and the type of each file."""
    package = resources.files("normalhedge.service")
    for folder in FOLDERS:
        place = package.joinpath(folder)
        if not place.is_dir():
            continue
        for file in place.iterdir():
            kind = KINDS.get("." + file.name.rpartition(".")[2])
            if kind is not None and file.is_file():
                content = file.read_bytes()
                yield f"/{folder}/{file.name}", content, kind
                if file.name == "index.html":
                    yield HOMES[folder], content, kind
