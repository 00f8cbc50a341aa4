"""Write results as one self-contained HTML page with interactive plots."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from normalhedge import _extras, _files
from normalhedge._terminal import shown


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
    """

    id: str
    title: str
    text: str = ""
    plot: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def write_page(path: Path, **content: object) -> None:
    """Write a page, together with the library that draws the plots.

    Parameters
    ----------
    path
        The file to write.
    **content
        The values that the template ``page.html`` uses. ``claims`` are mappings of texts:
        ``claim``, ``where``, ``measured``, ``sample``, ``rule``, ``verdict``, and its ``kind``:
        ``yes``, ``partly`` or ``no``. Only ``warnings``, sentences at the top of the page, may be
        left out.
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
