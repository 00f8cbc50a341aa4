"""The figures of the page about the regimes of a series."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.regimes import Inferred
from normalhedge.reports._figures import COLOURS, GREY, as_html, empty_figure, label

POINTS = 2000
"""The largest number of points of a series in a plot."""

PANELS = 6
"""The largest number of panels: of columns, or of regimes of symbols."""

BASELINE_COLOURS = ("#56b4e9", "#8c564b", "#7b6fb0", "#444444", "#5f9e3c")
"""The colours of baselines, which differ from those of regimes."""

DATE = re.compile(r"\d{4}/\d\d?/\d\d?")


def axis(when: Sequence[Any]) -> tuple[Sequence[Any], str]:
    """Return the horizontal axis of all plots, and a remark if it is not the given times.

    Dates with slashes are rewritten for plotly.
    """
    rounds = range(len(when))
    if any(moment is None for moment in when):
        return rounds, ". Some times are missing: the plots count rounds"
    try:
        if any(later <= earlier for earlier, later in pairwise(when)):
            return rounds, ". The times do not increase: the plots count rounds"
    except TypeError:
        return rounds, ". The times are of several kinds: the plots count rounds"
    if isinstance(when[0], str) and all(DATE.match(day) for day in when):
        return [day.replace("/", "-") for day in when], ""
    return [label(time) if isinstance(time, str) else time for time in when], ""


def _colour(state: int) -> str:
    return COLOURS[state % len(COLOURS)]


def _span(figure: Any, when: Sequence[Any]) -> None:
    """Give all plots over time the same range."""
    figure.update_xaxes(range=[when[0], when[-1]])


def _scatter(when: Sequence[Any], at: Any, y: Any, name: str, **style: Any) -> Any:
    go = extras.require("plotly.graph_objects")
    style = {"mode": "lines", "hovertemplate": "%{y:.4g}"} | style
    values = np.asarray(y)
    if values.dtype.kind == "f" and not (np.abs(values) > 1e30).any():
        values = values.astype(np.float32)
    return go.Scatter(x=[when[t] for t in at], y=values, name=label(name), **style)


def _stacked(rows: int, titles: Sequence[str] = (), each: int = 190) -> Any:
    """Return a figure with panels below one another."""
    subplots = extras.require("plotly.subplots")
    figure = subplots.make_subplots(
        rows=rows,
        shared_xaxes=True,
        vertical_spacing=0.25 / (rows + 1),
        subplot_titles=[label(title) for title in titles] or None,
    )
    figure.update_layout(empty_figure(height=each * rows + 190).layout)
    figure.update_annotations(font_size=12)
    return figure


def series(found: Inferred, when: Sequence[Any]) -> str:
    """Draw the observations in the colours of their regimes."""
    sequence = found.sequence
    names: Sequence[str] = sequence.encoding.columns[:PANELS] or ("",)
    table = sequence.numbers if sequence.raw is None else sequence.raw
    table = table.reshape(len(table), -1)
    if (
        sequence.labels and sequence.raw is None
    ):  # spread, so that equal symbols do not hide each other
        table = table + 0.5 * ((np.arange(len(table)) * 0.618) % 1.0 - 0.5)[:, np.newaxis]
    at = np.unique(np.linspace(0, len(table) - 1, min(len(table), POINTS)).astype(int))
    figure = _stacked(len(names), names if names[0] else (), 220 if len(names) > 1 else 200)
    states = found.states
    for row in range(len(names)):
        for state in np.unique(states[states >= 0]).tolist():
            mine = at[(states[at] == state) & ~np.isnan(table[at, row])]
            style: dict[str, Any] = {
                "mode": "markers",
                "marker": {"size": 4, "color": _colour(state)},
            }
            style |= {"showlegend": row == 0, "legendgroup": f"{state}"}
            trace = _scatter(when, mine, table[mine, row], f"state {state}", **style)
            figure.add_trace(trace, row=row + 1, col=1)
    figure.update_layout(hovermode="closest", legend={"itemsizing": "constant"})
    if sequence.labels and sequence.raw is None:
        labels = [label(word) for word in sequence.labels]
        figure.update_yaxes(tickvals=list(range(len(labels))), ticktext=labels)
    elif sequence.raw is not None and sequence.encoding.above is not None:
        line = {"color": GREY, "width": 1, "dash": "dot"}
        figure.add_hline(y=sequence.encoding.above, line=line)
    _span(figure, when)
    return as_html(figure, "series")


def _means(values: Floats, width: int) -> tuple[np.ndarray, Floats]:
    """Return the middle rounds of groups, and the means over these groups."""
    starts = np.arange(0, len(values), width)
    sums = np.add.reduceat(values, starts, axis=0)
    sizes = np.diff(np.append(starts, len(values)))
    return starts + sizes // 2, sums / sizes[:, np.newaxis]


def probabilities(found: Inferred, when: Sequence[Any], width: int) -> str:
    """Draw the probability of each regime, stacked."""
    begin = int(found.path.probabilities.any(axis=1).argmax())
    middles, means = _means(found.probabilities[begin:], width)
    figure = empty_figure(height=300, yaxis_title="probability", yaxis_range=[0, 1])
    for state in np.flatnonzero(means.any(axis=0)).tolist():
        style = {"stackgroup": "one", "line": {"width": 0, "color": _colour(state)}}
        style |= {"fillcolor": _colour(state), "hovertemplate": "%{y:.2f}"}
        figure.add_trace(
            _scatter(when, middles + begin, means[:, state], f"state {state}", **style)
        )
    figure.update_layout(legend={"traceorder": "normal"})
    _span(figure, when)
    return as_html(figure, "probabilities")


def parameters(found: Inferred, when: Sequence[Any]) -> tuple[str, str]:
    """Return a text and a plot of the parameters of the regimes over time."""
    if found.sequence.labels:
        return _symbol_parameters(found, when)
    history = found.history
    names: Sequence[str] = found.sequence.encoding.columns[:PANELS] or ("",)
    figure = _stacked(len(names), names if names[0] else (), 220)
    first = found.live.regimes.rounds - len(found.path)
    for state in sorted({state for _, known in history for state in known}):
        there = [(at - first, known.get(state)) for at, known in history if at > first]
        at = np.array([min(round_, len(when)) - 1 for round_, _ in there])
        for row in range(len(names)):
            mean, deviation = (
                np.array([np.nan if p is None else np.ravel(getattr(p, part))[row]
                          for _, p in there])
                for part in ("mean", "deviation")
            )  # fmt: skip
            colour, group = _colour(state), {"legendgroup": f"{state}"}
            for sign in (1, -1):
                line = {"color": colour, "width": 0.7, "dash": "dot", "shape": "hv"}
                style = {"line": line, "showlegend": False, "hoverinfo": "skip", **group}
                band = _scatter(when, at, mean + sign * deviation, "", **style)
                figure.add_trace(band, row=row + 1, col=1)
            line = {"color": colour, "width": 2, "shape": "hv"}
            hover = {"text": [f"± {d:.4g}" for d in deviation]}
            hover["hovertemplate"] = "%{y:.4g} %{text}"  # type: ignore[assignment]
            style = {"line": line, "showlegend": row == 0, **group, **hover}
            trace = _scatter(when, at, mean, f"state {state}", **style)
            figure.add_trace(trace, row=row + 1, col=1)
    text = (
        "The mean of each regime as learned by that round, with one deviation on both sides "
        "(dotted). Where a line ends, the regime was dropped or merged with another."
    )
    _span(figure, when)
    return text, as_html(figure, "parameters")


def _symbol_parameters(found: Inferred, when: Sequence[Any]) -> tuple[str, str]:
    history, labels = found.symbol_history, found.sequence.labels
    states = sorted({state for _, known in history for state in known})
    first = found.live.regimes.rounds - len(found.path)
    at = np.array([at - first - 1 for at, _ in history], dtype=int)
    none = np.full(len(labels), np.nan)
    tables = {s: np.array([known.get(s, none) for _, known in history]) for s in states}
    line: dict[str, Any] = {"width": 2, "shape": "hv"}
    if len(labels) == 2:
        figure = empty_figure(height=300, yaxis_title=f"p({label(labels[1])})", yaxis_range=[0, 1])
        for s, table in tables.items():
            own = {**line, "color": _colour(s)}
            figure.add_trace(_scatter(when, at, table[:, 1], f"state {s}", line=own))
        _span(figure, when)
        return f"The probability of “{labels[1]}” in each regime.", as_html(figure, "parameters")
    shown = states[:PANELS]
    figure = _stacked(len(shown), [f"state {s}" for s in shown], 150)
    for row, s in enumerate(shown):
        for k, word in enumerate(labels[: len(COLOURS)]):
            style: dict[str, Any] = {"line": {**line, "color": COLOURS[-1 - k]}}
            style["legendgroup"] = word
            trace = _scatter(when, at, tables[s][:, k], word, showlegend=row == 0, **style)
            figure.add_trace(trace, row=row + 1, col=1)
    figure.update_yaxes(range=[0, 1])
    _span(figure, when)
    return "The probability of each symbol in each regime.", as_html(figure, "parameters")


def score_curves(found: Inferred, baselines: Mapping[str, Floats], when: Sequence[Any]) -> str:
    """Draw the cumulative lead of the regimes over each baseline."""
    own = found.path.log_scores
    figure = empty_figure(yaxis_title="lead of the regimes, in nats")
    ends = {name: float(np.nansum(own - scores)) for name, scores in baselines.items()}
    best = min(abs(end) for end in ends.values())
    for k, (name, scores) in enumerate(baselines.items()):
        begin = int(np.flatnonzero(~np.isnan(scores))[0])
        total = np.cumsum(np.nan_to_num(own - scores))[begin:]
        at = np.unique(np.linspace(0, len(total) - 1, min(len(total), POINTS // 4)).astype(int))
        far = abs(ends[name]) > 20.0 * max(best, 10.0)
        style = {"line": {"color": BASELINE_COLOURS[k % len(BASELINE_COLOURS)], "width": 2}}
        shown = {"visible": "legendonly" if far else True, "hovertemplate": "%{y:.1f}"}
        figure.add_trace(_scatter(when, at + begin, total[at], name, **style, **shown))
    figure.add_hline(y=0.0, line={"color": GREY, "width": 1})
    _span(figure, when)
    return as_html(figure, "scores")


def pit_bars(shares: Floats) -> str:
    """Draw the histogram of the probability integral transform."""
    go = extras.require("plotly.graph_objects")
    bins = len(shares)
    figure = empty_figure(
        height=280, xaxis_title="P(y ≤ observation)", yaxis_title="share of rounds", bargap=0.06,
        hovermode="closest",
    )  # fmt: skip
    middles = (np.arange(bins) + 0.5) / bins
    bars = {"marker": {"color": "#7fb0c4"}, "hovertemplate": "%{y:.3f}<extra></extra>"}
    figure.add_trace(go.Bar(x=middles, y=shares.astype(np.float32), name="rounds", **bars))
    figure.update_layout(showlegend=False)
    figure.add_hline(y=1.0 / bins, line={"color": "#000000", "width": 1, "dash": "dot"})
    return as_html(figure, "reliability")


def reliability_curve(found: Inferred) -> str:
    """Draw the observed share of symbols against their predicted probability."""
    go = extras.require("plotly.graph_objects")
    predicted, observed, count = found.reliability()
    figure = empty_figure(
        yaxis_title="observed share", xaxis_title="predicted probability", hovermode="closest"
    )
    figure.add_trace(
        go.Scatter(x=[0, 1], y=[0, 1], mode="lines", name="calibrated", line={"color": GREY})
    )
    figure.add_trace(
        go.Scatter(
            x=predicted.astype(np.float32),
            y=observed.astype(np.float32),
            mode="markers+lines",
            name="predictions",
            text=[f"{n:,} times" for n in count],
            hovertemplate="predicted %{x:.3f}, observed %{y:.3f}, %{text}",
            marker={"size": (6 + 18 * np.sqrt(count / count.max())).astype(np.float32)},
            line={"color": "#000000", "width": 1},
        )
    )
    return as_html(figure, "reliability")
