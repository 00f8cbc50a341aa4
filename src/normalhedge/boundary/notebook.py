"""What a notebook shows: tables as HTML, and the progress of long work."""

import html
import sys
import time
from collections.abc import Sequence
from typing import Any

from normalhedge.boundary.terminal import shown

DELAY = 1.5
"""Work that takes less than so many seconds shows no progress."""

PAUSE = 0.2
"""The least number of seconds between two changes of a bar."""


def in_notebook() -> bool:
    """Tell whether this is a notebook, or another place that shows HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def cell(text: object) -> str:
    """Return a text as HTML that shows it.

    Examples
    --------
    >>> cell("R&D")
    'R&amp;D'
    """
    return html.escape(shown(str(text)))


def html_table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """Return a table as HTML.

    Examples
    --------
    >>> html_table(["expert"], [["<a>"]])
    '<table><tr><th>expert</th></tr><tr><td>&lt;a&gt;</td></tr></table>'
    """
    top = "".join(f"<th>{cell(name)}</th>" for name in head)
    lines = ("".join(f"<td>{cell(text)}</td>" for text in row) for row in rows)
    return f"<table><tr>{top}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def html_facts(facts: Sequence[tuple[str, object]]) -> str:
    """Return names and values as a table of HTML without a head."""
    rows = (f"<tr><th>{cell(name)}</th><td>{cell(value)}</td></tr>" for name, value in facts)
    return f"<table>{''.join(rows)}</table>"


class NotebookBar:
    """A `normalhedge.boundary.progress.Progress` that draws a bar below a cell of a notebook.

    It appears when the work takes long, and vanishes when the work is done.
    """

    def __init__(self) -> None:
        self._total, self._finished = 1.0, 0.0
        self._start = self._last = time.monotonic()
        self._handle: Any = None

    def total(self, units: float) -> None:
        """Announce how many units of work there are."""
        self._total = max(units, sys.float_info.min)

    def done(self, units: float, what: str) -> None:
        """Report finished work."""
        self._finished += units
        share, now = min(self._finished / self._total, 1.0), time.monotonic()
        if share > 1.0 - 1e-9:
            self._show("")
        elif now - self._start > DELAY and now - self._last > PAUSE:
            self._last = now
            self._handle = self._handle or _new_display()
            self._show(_bar(share, what, (now - self._start) * (1.0 / share - 1.0)))

    def say(self, sentence: str) -> None:
        """Show a sentence below the cell."""
        display = sys.modules["IPython.display"]
        display.display(display.HTML(f"<p>{cell(sentence)}</p>"))

    def _show(self, text: str) -> None:
        if self._handle is not None:
            self._handle.update(sys.modules["IPython.display"].HTML(text))


def _new_display() -> Any:
    """Return an empty display below the cell, which can be changed."""
    display = __import__("IPython.display").display
    return display.display(display.HTML(""), display_id=True)


def _bar(share: float, what: str, left: float) -> str:
    return (
        f'<progress value="{share:.4f}" max="1"></progress> {share:.0%} {cell(what)}, '
        f"about {left:,.0f} s to go"
    )
