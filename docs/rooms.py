"""Draw the map of the rooms into CONTRIBUTING.md: ``python docs/rooms.py``; `make format` does so.

The order is the import contract in ``pyproject.toml``, a description is the first line of the
docstring of a room. A test compares the page with the map, so neither can drift.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
MAP = re.compile(
    r"(?<=<!-- rooms: docs/rooms.py draws this -->\n).*?(?=<!-- end of rooms -->)", re.S
)
CORE = "The loops over experts, in C++: src/core."


def layers() -> list[list[str]]:
    """Return the rooms from the top down; rooms of one layer do not import each other."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for contract in project["tool"]["importlinter"]["contracts"]:
        if contract.get("containers") == ["normalhedge"]:
            return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]
    raise ValueError("pyproject.toml has no contract for the layers of normalhedge")


def describe(room: str) -> str:
    """Return the first line of the docstring of a room."""
    source = (ROOT / "src" / "normalhedge" / room / "__init__.py").read_text("utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def draw() -> str:
    """Return the map: a line for each room, a bracket around rooms of one layer."""
    return "\n".join(["```text", *_lines(), "```", ""])


def _lines() -> Iterator[str]:
    for rooms in layers():
        for place, room in enumerate(rooms):
            bracket = " " if len(rooms) == 1 else "┌" if place == 0 else "│"
            if place and place == len(rooms) - 1:
                bracket = "└"
            yield f"{bracket} {room:<14}{describe(room)}"
    yield f"  {'_core':<14}{CORE}"


def main() -> None:
    """Replace the map on the page."""
    PAGE.write_text(MAP.sub(lambda _: draw(), PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
