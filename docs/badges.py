"""Draw docs/badges.svg from ``pyproject.toml`` and the package: ``python docs/badges.py``.

`make format` does so. A test compares the picture with the project, so no badge can become false.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "badges.svg"
LETTER, PAD, GAP = 6.6, 7, 6  # widths in pixels


def facts() -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each badge."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    source = (ROOT / "src" / "normalhedge" / "__init__.py").read_text("utf-8")
    yield "version", source.partition('__version__ = "')[2].partition('"')[0]
    prefix = "Programming Language :: Python :: 3."
    minors = [text.removeprefix(prefix) for text in project["classifiers"] if prefix in text]
    yield "Python", f"3.{minors[0]} to 3.{minors[-1]}"
    yield "needs", ", ".join(project["dependencies"])
    yield "licence", project["license"].split(" AND ")[0]
    yield "types", "checked" if "Typing :: Typed" in project["classifiers"] else "unchecked"


def draw() -> str:
    """Return the badges in one row."""
    parts, left = [], 0.0
    for name, value in facts():
        for text, colour in ((name, "#555c66"), (value, "#0072b2")):
            width = round(LETTER * len(text) + 2 * PAD, 1)
            escaped = text.replace(">", "&gt;")
            parts += [
                f'<rect x="{left:.1f}" width="{width}" height="20" fill="{colour}"/>',
                f'<text x="{left + width / 2:.1f}" y="14">{escaped}</text>',
            ]
            left += width
        left += GAP
    label = "; ".join(f"{name}: {value}" for name, value in facts()).replace(">", "&gt;")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left - GAP:.0f}" height="20"'
            ' role="img">',
            f"<title>{label}</title>",
            '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
            ' text-anchor="middle">',
            *parts,
            "</g></svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
