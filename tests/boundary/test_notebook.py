"""Progress in a notebook: nothing for short work, a bar for long work that vanishes at the end."""

import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from normalhedge import blend
from normalhedge.boundary.notebook import NotebookBar, html_facts, html_table, in_notebook
from normalhedge.boundary.progress import SILENT, listener


class Screen:
    """What a notebook shows, in place of IPython."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kernel: object) -> None:
        self.shown: list[str] = []
        self.now = 0.0
        ipython: Any = ModuleType("IPython")
        ipython.get_ipython = lambda: SimpleNamespace(kernel=kernel)
        ipython.display = ModuleType("IPython.display")
        ipython.display.HTML = str
        ipython.display.display = self.display
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def display(self, text: str, *, display_id: bool = False) -> Any:
        self.shown.append(text)
        return SimpleNamespace(update=self.shown.append) if display_id else None


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    return Screen(monkeypatch, object())


def test_without_a_notebook_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not in_notebook()
    assert listener(None) is SILENT
    Screen(monkeypatch, None)  # a terminal of IPython
    assert not in_notebook()


def test_short_work_shows_nothing(screen: Screen) -> None:
    bar = listener(None)
    assert isinstance(bar, NotebookBar)
    bar.total(4.0)
    for _ in range(4):
        screen.now += 0.3
        bar.done(1.0, "blending")
    assert screen.shown == []


def test_long_work_shows_a_bar_that_vanishes(screen: Screen) -> None:
    bar = listener(None)
    bar.total(10.0)
    for _ in range(10):
        screen.now += 1.0
        bar.done(1.0, "reading <a>")
    assert screen.shown[0] == ""
    assert '<progress value="0.2000" max="1"></progress> 20% reading &lt;a&gt;' in screen.shown[1]
    assert screen.shown[1].endswith("about 8 s to go")
    assert len(screen.shown) == 10
    assert screen.shown[-1] == ""


def test_sentences_are_shown(screen: Screen) -> None:
    listener(None).say("R&D")
    assert screen.shown == ["<p>R&amp;D</p>"]


def test_a_function_or_silence_takes_the_place_of_the_bar(screen: Screen) -> None:
    assert listener(SILENT) is SILENT
    shares: list[float] = []
    listener(shares.append).done(1.0, "")
    assert shares == [1.0]
    assert screen.shown == []


def test_blend_shows_its_progress(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    times = iter(range(0, 1_000_000, 10))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(times)))
    monkeypatch.setattr("normalhedge.tables._playing.CHUNK", 50)
    rows = [float(k % 7) for k in range(200)]
    blend(pa.table({"y": rows, "a": rows, "b": rows[::-1]}), target="y")
    assert any("blending" in text for text in screen.shown)
    assert screen.shown[-1] == ""


def test_tables_show_names_as_they_are() -> None:
    assert html_table(["<a>"], [["b\x1b"]]) == (
        "<table><tr><th>&lt;a&gt;</th></tr><tr><td>b\\x1b</td></tr></table>"
    )
    assert html_facts([("x", 1)]) == "<table><tr><th>x</th><td>1</td></tr></table>"
