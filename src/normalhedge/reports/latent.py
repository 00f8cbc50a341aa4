"""The page about a sequence and its hidden states."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge import _extras
from normalhedge.latent.infer import MAIN, Inferred
from normalhedge.plots import PALETTE
from normalhedge.reports.figures import COLOURS, GREY, as_html, empty_figure, label
from normalhedge.reports.page import Section, write_page

POINTS = 2000
"""How many points a curve has, at most."""

DATE = re.compile(r"\d{4}/\d\d?/\d\d?")

SHOWN = 8
"""How many candidates are shown by themselves."""


def write_inferred(
    path: Path,
    found: Inferred,
    when: Sequence[Any],
    *,
    title: str,
    subtitle: str,
    command: str,
    settings: Mapping[str, object],
) -> None:
    """Write the page: what was said and came, the states, the losses, and the tables."""
    head, rows = found.table()
    when, remark = _axis(when)
    sections = [
        Section(
            "predictors",
            "Who predicted best",
            "Every predictor is asked before each observation and told it afterwards. The L1 loss "
            "is 1 − p of what came; rounded: the most probable symbol is said for sure.",
            head=head,
            rows=rows,
        ),
        Section("said", "What was said, and what came", _said_text(found), _said(found, when)),
        *_reliability(found),
        Section(
            "states",
            "The hidden state",
            "How probable each state is before each observation, by all weights of the hedger over "
            "states. States are called, in hindsight, after those of the candidate that was the "
            "likeliest in the end, which say what the table has; all others count as the one they "
            "are most like.",
            _ribbon(found, when),
            head=["state", *(found.sequence.labels or ("mean", "deviation"))],
            rows=[(f"state {k}", *(f"{x:.3g}" for x in row)) for k, row in enumerate(found.states)],
        ),
        Section(
            "losses",
            "Cumulative loss",
            "The sum of the L1 losses. Click in the legend to switch.",
            _losses(found, when),
        ),
        Section(
            "weights",
            "Which candidates carried the weight",
            "Of the hedger over states: the weights of a candidate's states, added up.",
            _weights(found, when),
        ),
        Section("facts", "The rest", head=["", ""], rows=found.facts()),
    ]
    write_page(
        path,
        title=title,
        subtitle=f"{subtitle}{remark}",
        claims=[],
        sections=sections,
        command=command,
        settings=settings,
    )


def _axis(when: Sequence[Any]) -> tuple[Sequence[Any], str]:
    """Return what the rounds are drawn against, and a remark where that is not the times given.

    Dates with slashes become such as plotly knows.
    """
    rounds = range(len(when))
    if any(moment is None for moment in when):
        return rounds, ". Some times are missing: the plots count rounds"
    if any(later <= earlier for earlier, later in pairwise(when)):
        return rounds, ". The times do not increase: the plots count rounds"
    if isinstance(when[0], str) and all(DATE.match(day) for day in when):
        return [day.replace("/", "-") for day in when], ""
    return [label(time) if isinstance(time, str) else time for time in when], ""


def _thin(rounds: int) -> np.ndarray:
    return np.unique(np.linspace(0, rounds - 1, min(rounds, POINTS)).astype(int))


def _add(figure: Any, when: Sequence[Any], at: np.ndarray, y: Any, name: str, **style: Any) -> None:
    go = _extras.require("plotly.graph_objects")
    style = {"mode": "lines", "hovertemplate": "%{y:.4g}"} | style
    values = np.asarray(y)[at]
    values = values.astype(np.float32) if values.dtype.kind == "f" else values
    times = [when[t] for t in at]
    figure.add_trace(go.Scatter(x=times, y=values, name=label(name), **style))


def _said_text(found: Inferred) -> str:
    if found.sequence.labels:
        return f"The probabilities that {MAIN} gave before each observation; dots are what came."
    return f"The mean that {MAIN} said before each observation, and the numbers that came."


def _said(found: Inferred, when: Sequence[Any]) -> str:
    labels, numbers = found.sequence.labels, found.sequence.numbers
    at = _thin(len(numbers))
    if not labels:
        figure = empty_figure()
        dots = {"mode": "markers", "marker": {"size": 3, "color": GREY}}
        _add(figure, when, at, numbers, "came", **dots)
        _add(figure, when, at, found.main.said[:, 0], "said", line={"color": "#000000"})
        return as_html(figure, "said")
    figure = empty_figure(yaxis_title="probability", yaxis_range=[-0.06, 1.06])
    shown = range(1, 2) if len(labels) == 2 else range(len(labels))
    for k in shown:
        colour = COLOURS[k % len(COLOURS)]
        stack = {} if len(labels) == 2 else {"stackgroup": "one"}
        line = {"color": colour, "width": 1.2 if len(labels) == 2 else 0.4}
        _add(figure, when, at, found.main.said[:, k], f"p({labels[k]})", line=line, **stack)
    for k, word in enumerate(labels):
        came = at[numbers[at] == k]
        place = np.full(len(numbers), k if len(labels) == 2 else 1.03, dtype=float)
        dots = {"mode": "markers", "marker": {"size": 4, "color": COLOURS[k % len(COLOURS)]}}
        _add(figure, when, came, place, f"{word} came", hovertemplate="%{fullData.name}", **dots)
    return as_html(figure, "said")


def _reliability(found: Inferred) -> list[Section]:
    if not found.sequence.labels:
        return []
    go = _extras.require("plotly.graph_objects")
    said, came, count = found.reliability()
    figure = empty_figure(
        yaxis_title="share that came", xaxis_title="probability that was said", hovermode="closest"
    )
    figure.add_trace(
        go.Scatter(x=[0, 1], y=[0, 1], mode="lines", name="as said", line={"color": GREY})
    )
    figure.add_trace(
        go.Scatter(
            x=said.astype(np.float32),
            y=came.astype(np.float32),
            mode="markers+lines",
            name=MAIN,
            text=[f"{n:,} times" for n in count],
            hovertemplate="said %{x:.3f}, came %{y:.3f}, %{text}",
            marker={"size": (6 + 18 * np.sqrt(count / count.max())).astype(np.float32)},
            line={"color": "#000000", "width": 1},
        )
    )
    text = (
        "In tenths of the probability: how often what was said came. Larger dots: more often said. "
        "The L1 loss rewards extreme probabilities, so points may well lie off the line."
    )
    return [Section("reliability", "Probabilities against outcomes", text,
                    as_html(figure, "reliability"))]  # fmt: skip


def _ribbon(found: Inferred, when: Sequence[Any]) -> str:
    go = _extras.require("plotly.graph_objects")
    weights = found.main.state_weights
    at = _thin(len(weights))
    states = weights.shape[1]
    figure = empty_figure(height=max(200, 110 + 34 * states), hovermode="closest")
    figure.add_trace(
        go.Heatmap(
            x=[when[t] for t in at],
            y=[f"state {k}" for k in range(states)],
            z=weights[at].T.astype(np.float32),
            zmin=0,
            zmax=1,
            colorscale=[[0, "#f2f4f6"], [1, "#1f6f8b"]],
            showscale=False,
            hovertemplate="%{x}, %{y}: %{z:.2f}<extra></extra>",
        )
    )
    figure.update_yaxes(autorange="reversed")
    return as_html(figure, "states")


def _losses(found: Inferred, when: Sequence[Any]) -> str:
    figure = empty_figure(yaxis_title="sum of losses")
    for k, (name, went) in enumerate(found.went.items()):
        style = PALETTE[k % len(PALETTE)]
        line = {"color": style.colour, "dash": style.dash, "width": style.width}
        total = np.cumsum(np.nan_to_num(went.losses))
        shown = "legendonly" if "rounded" in name else True
        _add(figure, when, _thin(len(total)), total, name, line=line, visible=shown)
    return as_html(figure, "losses")


def _weights(found: Inferred, when: Sequence[Any]) -> str:
    weights = found.main.candidates
    at = _thin(len(weights))
    figure = empty_figure(yaxis_title="weight", yaxis_range=[0, 1])
    top = np.argsort(-weights.mean(axis=0), kind="stable")[:SHOWN]
    rest = np.maximum(1.0 - weights[:, top].sum(axis=1), 0.0)
    for k, n in enumerate(top):
        line = {"width": 0.4, "color": COLOURS[k % len(COLOURS)]}
        _add(figure, when, at, weights[:, n], f"candidate {n}", stackgroup="one", line=line)
    if len(top) < weights.shape[1]:
        line = {"width": 0.4, "color": GREY}
        _add(figure, when, at, rest, "all others", stackgroup="one", line=line)
    return as_html(figure, "weights")
