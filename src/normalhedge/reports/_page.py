"""Write results as one self-contained HTML page with interactive plots."""

import base64
import re
import zlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from normalhedge.boundary import extras, whole_files
from normalhedge.boundary.terminal import shown

NUMBER = re.compile(r"[-−+]?[\d.,]+(?:e[-+]\d+| × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+| ?%)?(?: ± [\d.,]+)?\*?|–")
"""Cells of a table that stand at the right, and in one line; ``*`` marks the best of a column."""


class Fold(NamedTuple):
    """A table that is shown after a click."""

    title: str  # the words to click on
    # head, rows: the header and the rows of the table
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


class Section(NamedTuple):
    """A section of a page: a text, a plot and a table, each of which may be missing.

    Attributes
    ----------
    id, title, text
        Its anchor, its heading and its text.
    plot
        A plot as HTML.
    head, rows
        The header and the rows of a table.
    folds
        Tables that are shown after a click.
    part
        The heading of a part of the page that begins with this section.
    """

    id: str
    title: str
    text: str = ""
    plot: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    folds: Sequence[Fold] = ()
    part: str = ""


def write_page(path: Path, **content: object) -> None:
    """Write a page, together with the library that draws the plots.

    Parameters
    ----------
    path
        The file to write.
    **content
        The values that the template ``page.html`` uses. ``claims`` are mappings of texts:
        ``claim``, ``where``, ``measured``, ``beyond``, ``sample``, ``rule``, ``verdict``, and its
        ``kind``: ``yes``, ``partly`` or ``no``. Only ``verdict`` and ``small``, a sentence at the
        top of the page and the small print below it, and ``warnings``, further sentences, may be
        left out.
    """
    jinja2 = extras.require("jinja2")
    source = resources.files("normalhedge.reports").joinpath("page.html").read_text("utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, finalize=_visible
    )
    environment.tests["numeric"] = lambda cell: NUMBER.fullmatch(str(cell)) is not None
    content = {"verdict": "", "small": "", "warnings": [], **content, "library": _library()}
    html: str = environment.from_string(source).render(content)
    whole_files.write_whole(path, lambda part: part.write_text(html, "utf-8"))


@cache
def _library() -> str:
    """Return the library that draws the plots, packed: that is 2 MB in place of 5."""
    source: str = extras.require("plotly.offline").get_plotlyjs()
    return base64.b64encode(zlib.compress(source.encode("utf-8"), 9)).decode("ascii")


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop; an empty text stays empty.

    Examples
    --------
    >>> sentence("no theorem covers that")
    'No theorem covers that.'
    """
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _visible(value: object) -> object:
    """Escape control characters in a plain text, line by line; leave HTML as it is."""
    return "\n".join(map(shown, value.split("\n"))) if type(value) is str else value
