"""The plots of experiments: regrets, losses, ranks and bounds."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from normalhedge.hedgers.trace import Trace
from normalhedge.reports._figures import (
    BLACK,
    COLOURS,
    add_curve,
    add_shades,
    as_html,
    label,
    new_figure,
)
from normalhedge.reports.plots import PALETTE, Style

LossPanel = tuple[str, Sequence[str], np.ndarray, int]
"""A title, names, a curve for each name (names x points), and the number of rounds."""


def regret_plot(
    identifier: str,
    panels: Sequence[tuple[str, Trace]],
    styles: Mapping[str, Style],
    columns: int = 2,
) -> str:
    """Return a plot of regrets as HTML, with one legend that switches the curves of all panels.

    Parameters
    ----------
    identifier
        The id of the plot on its page.
    panels
        The title and the trace of each panel.
    styles
        The style of each hedger's curve, by name.
    columns
        The number of panels side by side.
    """
    figure, places = _grid(
        [title for title, _ in panels], columns, "regret to the best", shared=True
    )
    for place, (_, trace) in zip(places, panels, strict=False):
        for k, name in enumerate(trace.hedgers):
            style = styles[name]
            add_curve(
                figure, trace.rounds.astype(np.int32), trace.regret.mean[k], name, place,
                "%{y:.1f} ± %{customdata:.1f}",
                customdata=trace.regret.spread[k].astype(np.float32),
                visible="legendonly" if style.second else True,
                **_in_legend(name, style, place, wider=0.4),
            )  # fmt: skip
    return as_html(figure, identifier)


def loss_plot(identifier: str, panels: Sequence[LossPanel], columns: int = 2) -> str:
    """Return a plot of mean losses over time as HTML, with one legend for all panels.

    Parameters
    ----------
    identifier
        The id of the plot on its page.
    panels
        The curves of each panel.
    columns
        The number of panels side by side.
    """
    figure, places = _grid([title for title, *_ in panels], columns, "L1 loss", shared=False)
    for place, (_, names, curves, rounds) in zip(places, panels, strict=False):
        for k, (name, curve) in enumerate(zip(names, curves, strict=True)):
            x = np.linspace(0, rounds, len(curve) + 1)[1:].astype(np.int32)
            visible = "legendonly" if "rounded" in name else True
            style = _in_legend(name, PALETTE[k % len(PALETTE)], place)
            add_curve(figure, x, curve, name, place, "%{y:.4f}", visible=visible, **style)
    return as_html(figure, identifier)


def _grid(
    titles: Sequence[str], columns: int, ylabel: str, *, shared: bool
) -> tuple[Any, Iterator[tuple[int, int]]]:
    """Return a figure with panels side by side and below one another, and their places.

    With ``shared``, the panels below one another share the numbers of their horizontal axes.
    """
    rows = -(-len(titles) // columns)
    panels = {
        "rows": rows, "cols": columns, "subplot_titles": [label(title) for title in titles],
        "vertical_spacing": (0.22 if shared else 0.24) / (rows + 1), "horizontal_spacing": 0.08,
        "shared_xaxes": shared,
    }  # fmt: skip
    figure = new_figure(280 * rows + 130, panels, margin={"b": 50}, legend={"y": 1.0 + 0.16 / rows})
    figure.update_xaxes(title_text="round", row=rows)
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text=ylabel, col=1)
    return figure, product(range(1, rows + 1), range(1, columns + 1))


def _in_legend(
    name: str, style: Style, place: tuple[int, int], wider: float = 0.0
) -> dict[str, Any]:
    """Return the look of a curve with one entry in the legend of all panels."""
    line = {"color": style.colour, "dash": style.dash, "width": style.width + wider}
    return {"legendgroup": label(name), "showlegend": place == (1, 1), "line": line}


def curves_plot(
    identifier: str,
    x: np.ndarray,
    curves: Mapping[str, np.ndarray],
    visible: Sequence[str],
    **layout: Any,
) -> str:
    """Return a plot of named curves as HTML.

    The first curve is black; the colours of the others repeat with other dashes.
    """
    figure = new_figure(**layout)
    for k, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[(k - 1) % len(COLOURS)] if k else BLACK
        dash = ("solid", "dash", "dot", "dashdot")[(k - 1) // len(COLOURS) % 4 if k else 0]
        line = {"color": colour, "dash": dash, "width": 1.6 if k else 2.2}
        seen = True if name in visible else "legendonly"
        add_curve(figure, x, curve, name, hover="%{y:.4g}", visible=seen, line=line)
    return as_html(figure, identifier)


def places_plot(
    identifier: str,
    rows: Sequence[str],
    columns: Sequence[str],
    places: np.ndarray,
    words: Sequence[Sequence[str]],
) -> str:
    """Return a table of ranks as a plot in HTML, with dark colours for the first ranks."""
    margin = {"l": 210, "t": 30, "b": 20}
    figure = new_figure(80 + 21 * len(rows), hovermode="closest", margin=margin)
    add_shades(
        figure,
        [label(name) for name in columns],
        rows,
        places,
        [[0, "#1f6f8b"], [0.35, "#a9cbd6"], [1, "#f7f8fa"]],
        text=[[f"{x:g}" if np.isfinite(x) else "" for x in row] for row in places],
        texttemplate="%{text}",
        customdata=[[label(word) for word in row] for row in words],
        hovertemplate="%{y}: %{customdata}<extra></extra>",
    )
    figure.update_xaxes(tickfont={"size": 11}, side="top")
    return as_html(figure, identifier)


def frontier_plot(identifier: str, points: Sequence[Any], lines: Mapping[str, float]) -> str:
    """Return a plot of potential and regret against c as HTML: certified, and reached by attacks.

    Parameters
    ----------
    identifier
        The id of the plot on its page.
    points
        The certified bounds and the attacks for each c.
    lines
        Other bounds on the regret, which do not depend on c, by name.
    """
    panels = {"cols": 2, "subplot_titles": ("average potential", "regret × √α")}
    figure = new_figure(410, panels, margin={"b": 50}, legend={"y": 1.16})
    attack = {"mode": "markers", "marker": {"color": "#d55e00", "size": 7}}
    looks: dict[str, dict[str, Any]] = {
        "one round": {"mode": "lines", "line": {"color": BLACK, "width": 1.6, "dash": "dot"}},
        "leader known": {"mode": "lines", "line": {"color": BLACK, "width": 1.6, "dash": "solid"}},
        "best attack": attack,
    }
    fields = (("potential", "led", "attack_potential"), ("bound", "led_bound", "attack_regret"))
    for column, names in enumerate(fields, start=1):
        for field, (name, look) in zip(names, looks.items(), strict=True):
            x, y = np.array([(p.c, getattr(p, field)) for p in points]).T
            finite = np.isfinite(y)
            group = {"legendgroup": name, "showlegend": column == 1}
            add_curve(figure, x[finite], y[finite], name, (1, column), "%{y:.5g}", **group, **look)
    for style, (name, level) in zip(PALETTE[1:], lines.items(), strict=False):
        line = {"color": style.colour, "dash": style.dash, "width": 1.4}
        text = {"text": label(name), "font": {"size": 11}}
        figure.add_hline(y=level, line=line, annotation=text, row=1, col=2)
    figure.update_xaxes(type="log", title_text="c")
    figure.update_yaxes(type="log", col=1)
    return as_html(figure, identifier)
