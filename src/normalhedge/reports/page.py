"""The house style: one self-contained HTML page, with plots to zoom, hover and switch."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from normalhedge import _extras, _files
from normalhedge._terminal import shown


class Section(NamedTuple):
    """A part of a page: words, a table, a plot; each may be missing.

    Attributes
    ----------
    id, title, text
        Its anchor, its heading, and what is to be said.
    plot
        A plot as HTML.
    head, rows
        A table.
    """

    id: str
    title: str
    text: str = ""
    plot: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def write_page(path: Path, **content: object) -> None:
    """Write the page: what the template names, and the library that draws the plots.

    ``claims`` are mappings of texts: ``claim``, ``where``, ``measured``, ``sample``, ``rule``,
    ``verdict``, and its ``kind``: ``yes``, ``partly`` or ``no``. ``warnings``, sentences that stand
    on top, may be left out.
    """
    jinja2 = _extras.require("jinja2")
    plotlyjs: str = _extras.require("plotly.offline").get_plotlyjs()
    source = resources.files("normalhedge.reports").joinpath("page.html").read_text("utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, finalize=_visible
    )
    content = {"warnings": [], **content, "plotlyjs": plotlyjs}
    html: str = environment.from_string(source).render(content)
    _files.write_whole(path, lambda part: part.write_text(html, "utf-8"))


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop; nothing where there is none.

    Examples
    --------
    >>> sentence("no theorem covers that")
    'No theorem covers that.'
    """
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _visible(value: object) -> object:
    """Return a text with control characters escaped, line by line; what is HTML as it is."""
    return "\n".join(map(shown, value.split("\n"))) if type(value) is str else value
