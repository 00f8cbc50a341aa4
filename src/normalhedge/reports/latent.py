"""The page about the regimes of a series."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge import _extras
from normalhedge._inputs import Floats
from normalhedge.latent.regimes.forecasting import Forecast
from normalhedge.latent.regimes.inferred import Inferred
from normalhedge.latent.regimes.tables import (
    facts,
    forecast_table,
    regime_table,
    score_table,
)
from normalhedge.reports.figures import COLOURS, GREY, as_html, empty_figure, label
from normalhedge.reports.page import Section, write_page

POINTS = 2000
"""How many points of the series are drawn, at most."""

MEANS = 240
"""How many points the probabilities have, at most: each is a mean over some rounds."""

PANELS = 6
"""How many columns, or regimes of symbols, have a panel of their own."""

BASELINE_COLOURS = ("#56b4e9", "#8c564b", "#7b6fb0", "#444444", "#5f9e3c")
"""Colours of others: none of them is that of a regime."""

DATE = re.compile(r"\d{4}/\d\d?/\d\d?")


def write_inferred(
    path: Path,
    found: Inferred,
    baselines: Mapping[str, Floats],
    *,
    title: str,
    subtitle: str,
    command: str,
    settings: Mapping[str, object],
    ahead: Forecast | None = None,
    level: float = 0.9,
) -> None:
    """Write the page: the series and its regimes, parameters, scores, reliability, and the rest.

    Parameters
    ----------
    path
        Where to.
    found
        What was found.
    baselines
        The log scores of others, see `normalhedge.latent.regimes.baselines`.
    title, subtitle, command, settings
        For the head and the foot of the page.
    ahead, level
        The next rounds, if they are to be told, and the probability of their intervals.
    """
    rounds = len(found.course)
    when, remark = _axis(range(rounds) if found.time is None else found.time)
    head, rows = regime_table(found)
    width = -(-rounds // MEANS)
    unit = f" Each point is a mean over {width} rounds." if width > 1 else ""
    sections = [
        Section(
            "series",
            "The series and its regimes",
            "Each observation has the colour of the regime that was most probable when it came, "
            "given only what had come by then. The table has the regimes as they are at the end; "
            "“stays for” is the mean number of rounds before the next switch.",
            _series(found, when),
            head,
            rows,
        ),
        Section(
            "probabilities",
            "How probable each regime was",
            "Given the observations up to each round, by all models with their weights." + unit,
            _probabilities(found, when, width),
        ),
        Section("parameters", "What the regimes are like, over time", *_parameters(found, when)),
        *([_ahead(ahead, found, level)] if ahead is not None else []),
        *_scores(found, baselines, when),
        *_reliability(found),
        Section("facts", "The rest", head=["", ""], rows=facts(found)),
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
    """Let all plots over time begin and end alike."""
    figure.update_xaxes(range=[when[0], when[-1]])


def _scatter(when: Sequence[Any], at: Any, y: Any, name: str, **style: Any) -> Any:
    go = _extras.require("plotly.graph_objects")
    style = {"mode": "lines", "hovertemplate": "%{y:.4g}"} | style
    values = np.asarray(y)
    if values.dtype.kind == "f" and not (np.abs(values) > 1e30).any():
        values = values.astype(np.float32)
    return go.Scatter(x=[when[t] for t in at], y=values, name=label(name), **style)


def _stacked(rows: int, titles: Sequence[str] = (), each: int = 190) -> Any:
    """Return a figure of panels below one another, in the house style."""
    subplots = _extras.require("plotly.subplots")
    figure = subplots.make_subplots(
        rows=rows,
        shared_xaxes=True,
        vertical_spacing=0.25 / (rows + 1),
        subplot_titles=[label(title) for title in titles] or None,
    )
    figure.update_layout(empty_figure(height=each * rows + 190).layout)
    figure.update_annotations(font_size=12)
    return figure


def _series(found: Inferred, when: Sequence[Any]) -> str:
    """Draw the observations, coloured; symbols as the share of each in the last rounds."""
    sequence = found.sequence
    names: Sequence[str] = sequence.code.columns[:PANELS] or ("",)
    table = sequence.numbers if sequence.raw is None else sequence.raw
    table = table.reshape(len(table), -1)
    if sequence.labels and sequence.raw is None:  # apart, so that many are seen to be many
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
    elif sequence.raw is not None and sequence.code.above is not None:
        line = {"color": GREY, "width": 1, "dash": "dot"}
        figure.add_hline(y=sequence.code.above, line=line)
    _span(figure, when)
    return as_html(figure, "series")


def _means(values: Floats, width: int) -> tuple[np.ndarray, Floats]:
    """Return the rounds in the middle of groups, and means over these groups."""
    starts = np.arange(0, len(values), width)
    sums = np.add.reduceat(values, starts, axis=0)
    sizes = np.diff(np.append(starts, len(values)))
    return starts + sizes // 2, sums / sizes[:, np.newaxis]


def _probabilities(found: Inferred, when: Sequence[Any], width: int) -> str:
    begin = int(found.course.probabilities.any(axis=1).argmax())
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


def _parameters(found: Inferred, when: Sequence[Any]) -> tuple[str, str]:
    """Return words and a plot."""
    if found.sequence.labels:
        return _symbol_parameters(found, when)
    history = found.history
    names: Sequence[str] = found.sequence.code.columns[:PANELS] or ("",)
    figure = _stacked(len(names), names if names[0] else (), 220)
    first = found.live.regimes.rounds - len(found.course)
    for state in sorted({state for _, said in history for state in said}):
        there = [(at - first, said.get(state)) for at, said in history if at > first]
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
        "The mean of each regime as it was learned by then; dotted, a deviation on both sides. A "
        "line that ends is a regime that was given up, or is one with another by then."
    )
    _span(figure, when)
    return text, as_html(figure, "parameters")


def _symbol_parameters(found: Inferred, when: Sequence[Any]) -> tuple[str, str]:
    history, labels = found.symbol_history, found.sequence.labels
    states = sorted({state for _, said in history for state in said})
    first = found.live.regimes.rounds - len(found.course)
    at = np.array([at - first - 1 for at, _ in history], dtype=int)
    none = np.full(len(labels), np.nan)
    tables = {s: np.array([said.get(s, none) for _, said in history]) for s in states}
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


def _ahead(ahead: Forecast, found: Inferred, level: float) -> Section:
    head, rows = forecast_table(ahead, found, level)
    return Section(
        "forecast",
        "The next rounds",
        "As they look from the last one. “Switch” is the probability that the regime is not that "
        "of the round before.",
        head=head,
        rows=rows,
    )


def _scores(found: Inferred, baselines: Mapping[str, Floats], when: Sequence[Any]) -> list[Section]:
    if not baselines:
        return []
    own = found.course.log_scores
    figure = empty_figure(yaxis_title="nats ahead of the other")
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
    head, rows = score_table(found, baselines)
    text = (
        "The logarithm of the density that was given to what came, added up, minus that of each "
        "other: where a line rises, the regimes predict better. Others that are far off are in the "
        "legend only."
    )
    title = "Predictions beside simple others"
    return [Section("scores", title, text, as_html(figure, "scores"), head, rows)]


def _reliability(found: Inferred) -> list[Section]:
    if found.sequence.labels:
        return [_symbol_reliability(found)]
    shares = found.pit_histogram()
    if np.isnan(shares).any():
        return []
    go = _extras.require("plotly.graph_objects")
    bins = len(shares)
    figure = empty_figure(
        height=280, xaxis_title="P(y ≤ what came)", yaxis_title="share of rounds", bargap=0.06,
        hovermode="closest",
    )  # fmt: skip
    middles = (np.arange(bins) + 0.5) / bins
    bars = {"marker": {"color": "#7fb0c4"}, "hovertemplate": "%{y:.3f}<extra></extra>"}
    figure.add_trace(go.Bar(x=middles, y=shares.astype(np.float32), name="rounds", **bars))
    figure.update_layout(showlegend=False)
    figure.add_hline(y=1.0 / bins, line={"color": "#000000", "width": 1, "dash": "dot"})
    covered = ", ".join(f"{level:.0%}: {found.coverage(level):.1%}" for level in (0.5, 0.8, 0.9))
    checked = int((~np.isnan(found.pits).any(axis=2)).sum())
    text = (
        "Where what came lay in the distribution that was predicted for it. Right predictions make "
        "all bars as high as the line; high bars at both ends mean that the predictions are too "
        f"narrow. Intervals held what came, {covered} of the time ({checked:,} observations)."
    )
    return [Section("reliability", "Can the intervals be trusted?", text,
                    as_html(figure, "reliability"))]  # fmt: skip


def _symbol_reliability(found: Inferred) -> Section:
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
            name="predictions",
            text=[f"{n:,} times" for n in count],
            hovertemplate="said %{x:.3f}, came %{y:.3f}, %{text}",
            marker={"size": (6 + 18 * np.sqrt(count / count.max())).astype(np.float32)},
            line={"color": "#000000", "width": 1},
        )
    )
    text = (
        "In tenths of the probability: how often what was said came. Larger dots: more often said. "
        "Right predictions lie on the line."
    )
    return Section(
        "reliability", "Can the probabilities be trusted?", text, as_html(figure, "reliability")
    )
