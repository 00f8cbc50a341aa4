"""The figures of the page about the regimes of a series."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.regimes import Inferred
from normalhedge.reports._figures import (
    BLACK,
    COLOURS,
    GREY,
    add_curve,
    as_html,
    label,
    new_figure,
)

T = TypeVar("T")
# numbers of rounds, and what was known of each regime by then
History = tuple[tuple[int, dict[int, T]], ...]

POINTS = 2000
"""The largest number of points of a series in a plot."""

PANELS = 6
"""The largest number of panels: of columns, or of regimes of symbols."""

BASELINE_COLOURS = ("#56b4e9", "#8c564b", "#7b6fb0", "#444444", "#5f9e3c")
"""The colours of baselines, which differ from the colours of regimes."""

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


def _finish(figure: Any, when: Sequence[Any], identifier: str) -> str:
    """Give all plots over time the same range."""
    figure.update_xaxes(range=[when[0], when[-1]])
    return as_html(figure, identifier)


def _add(
    figure: Any,
    when: Sequence[Any],
    at: Any,
    y: Any,
    name: str,
    row: int | None = None,
    **style: Any,
) -> None:
    """Add a curve through some rounds to a figure, or to its panel in a row."""
    style = {"mode": "lines", "hover": "%{y:.4g}"} | style
    place = None if row is None else (row, 1)
    add_curve(figure, [when[t] for t in at], np.asarray(y), name, place, **style)


def _stack(rows: int, titles: Sequence[str] = (), each: int = 190) -> Any:
    """Return a figure with panels below one another."""
    panels: dict[str, Any] = {"rows": rows, "vertical_spacing": 0.25 / (rows + 1)}
    panels["shared_xaxes"], panels["subplot_titles"] = (
        True,
        [label(title) for title in titles] or None,
    )
    figure = new_figure(each * rows + 190, panels)
    figure.update_annotations(font_size=12)
    return figure


def series(inferred: Inferred, when: Sequence[Any], states: np.ndarray, name: str) -> str:
    """Draw the observations in the colours of their regimes, -1 where there is none."""
    sequence = inferred.sequence
    names: Sequence[str] = sequence.encoding.columns[:PANELS] or ("",)
    table = sequence.numbers if sequence.raw is None else sequence.raw
    table = table.reshape(len(table), -1)
    if sequence.labels and sequence.raw is None:
        # Equal symbols are spread, so that they do not hide each other.
        table = table + 0.5 * ((np.arange(len(table)) * 0.618) % 1.0 - 0.5)[:, np.newaxis]
    at = np.unique(np.linspace(0, len(table) - 1, min(len(table), POINTS)).astype(int))
    figure = _stack(len(names), names if names[0] else (), 220 if len(names) > 1 else 200)
    style: dict[str, Any]
    for row in range(len(names)):
        for state in np.unique(states[states >= 0]).tolist():
            mine = at[(states[at] == state) & ~np.isnan(table[at, row])]
            style = {"mode": "markers", "marker": {"size": 4, "color": _colour(state)}}
            style |= {"showlegend": row == 0, "legendgroup": f"{state}"}
            _add(figure, when, mine, table[mine, row], f"state {state}", row + 1, **style)
    figure.update_layout(hovermode="closest", legend={"itemsizing": "constant"})
    if sequence.labels and sequence.raw is None:
        labels = [label(word) for word in sequence.labels]
        figure.update_yaxes(tickvals=list(range(len(labels))), ticktext=labels)
    elif sequence.raw is not None and sequence.encoding.above is not None:
        line = {"color": GREY, "width": 1, "dash": "dot"}
        figure.add_hline(y=sequence.encoding.above, line=line)
    return _finish(figure, when, name)


def _means(values: Floats, width: int) -> tuple[np.ndarray, Floats]:
    """Return the middle rounds of groups, and the means over these groups."""
    starts = np.arange(0, len(values), width)
    sums = np.add.reduceat(values, starts, axis=0)
    sizes = np.diff(np.append(starts, len(values)))
    return starts + sizes // 2, sums / sizes[:, np.newaxis]


def probabilities(shares: Floats, when: Sequence[Any], width: int, name: str) -> str:
    """Draw the probability of each regime, T x regimes, stacked; zeros before the first fit."""
    begin = int(shares.any(axis=1).argmax())
    middles, means = _means(shares[begin:], width)
    figure = new_figure(height=300, yaxis_title="probability", yaxis_range=[0, 1])
    for state in np.flatnonzero(means.any(axis=0)).tolist():
        style: dict[str, Any] = {"stackgroup": "one", "line": {"width": 0, "color": _colour(state)}}
        style |= {"fillcolor": _colour(state), "hover": "%{y:.2f}"}
        _add(figure, when, middles + begin, means[:, state], f"state {state}", **style)
    figure.update_layout(legend={"traceorder": "normal"})
    return _finish(figure, when, name)


def _folded(inferred: Inferred, history: Iterable[tuple[int, dict[int, T]]]) -> History[T]:
    """Return a history by the regimes in hindsight: of several of that time, the most frequent."""
    causal, looked = inferred.path.probabilities, inferred.hindsight
    places = looked.fold_places(causal).tolist()
    shares = causal.sum(axis=0).tolist()
    result = []
    for rounds, known in history:
        mine: dict[int, T] = {}
        for number in sorted(known, key=lambda n: shares[n]):
            mine[places[number]] = known[number]
        result.append((rounds, mine))
    return tuple(result)


def parameters(inferred: Inferred, when: Sequence[Any]) -> tuple[str, str]:
    """Return a text and a plot of the parameters of the regimes over time."""
    if inferred.sequence.labels:
        return _symbol_parameters(inferred, when)
    history = _folded(inferred, inferred.history)
    names: Sequence[str] = inferred.sequence.encoding.columns[:PANELS] or ("",)
    figure = _stack(len(names), names if names[0] else (), 220)
    first = inferred.live.regimes.rounds - len(inferred.path)
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
            style: dict[str, Any]
            for sign in (1, -1):
                line = {"color": colour, "width": 0.7, "dash": "dot", "shape": "hv"}
                style = {"line": line, "showlegend": False, "hoverinfo": "skip", **group}
                _add(figure, when, at, mean + sign * deviation, "", row + 1, **style)
            line = {"color": colour, "width": 2, "shape": "hv"}
            style = {"line": line, "showlegend": row == 0, **group, "hover": "%{y:.4g} %{text}"}
            style["text"] = [f"± {d:.4g}" for d in deviation]
            _add(figure, when, at, mean, f"state {state}", row + 1, **style)
    text = (
        "The mean of each regime as learned by that round, with one deviation on both sides "
        "(dotted). Where a line ends, the regime was dropped or merged with another. Numbers are "
        "given in hindsight."
    )
    return text, _finish(figure, when, "parameters")


def _symbol_parameters(inferred: Inferred, when: Sequence[Any]) -> tuple[str, str]:
    labels = inferred.sequence.labels
    history = _folded(inferred, inferred.symbol_history)
    states = sorted({state for _, known in history for state in known})
    first = inferred.live.regimes.rounds - len(inferred.path)
    at = np.array([at - first - 1 for at, _ in history], dtype=int)
    none = np.full(len(labels), np.nan)
    tables = {s: np.array([known.get(s, none) for _, known in history]) for s in states}
    line: dict[str, Any] = {"width": 2, "shape": "hv"}
    if len(labels) == 2:
        figure = new_figure(height=300, yaxis_title=f"p({label(labels[1])})", yaxis_range=[0, 1])
        for s, table in tables.items():
            style = {**line, "color": _colour(s)}
            _add(figure, when, at, table[:, 1], f"state {s}", line=style)
        return f"The probability of “{labels[1]}” in each regime.", _finish(
            figure, when, "parameters"
        )
    shown = states[:PANELS]
    figure = _stack(len(shown), [f"state {s}" for s in shown], 150)
    for row, s in enumerate(shown):
        for k, word in enumerate(labels[: len(COLOURS)]):
            style = {"line": {**line, "color": COLOURS[-1 - k]}, "legendgroup": word}
            _add(figure, when, at, tables[s][:, k], word, row + 1, showlegend=row == 0, **style)
    figure.update_yaxes(range=[0, 1])
    return "The probability of each symbol in each regime.", _finish(figure, when, "parameters")


def score_curves(inferred: Inferred, baselines: Mapping[str, Floats], when: Sequence[Any]) -> str:
    """Draw the cumulative lead of the regimes over each baseline."""
    log_scores = inferred.path.log_scores
    figure = new_figure(yaxis_title="lead of the regimes, in nats")
    ends = {name: float(np.nansum(log_scores - scores)) for name, scores in baselines.items()}
    best = min(abs(end) for end in ends.values())
    for k, (name, scores) in enumerate(baselines.items()):
        begin = int(np.flatnonzero(~np.isnan(scores))[0])
        total = np.cumsum(np.nan_to_num(log_scores - scores))[begin:]
        at = np.unique(np.linspace(0, len(total) - 1, min(len(total), POINTS // 4)).astype(int))
        far = abs(ends[name]) > 20.0 * max(best, 10.0)
        line = {"color": BASELINE_COLOURS[k % len(BASELINE_COLOURS)], "width": 2}
        seen = "legendonly" if far else True
        _add(figure, when, at + begin, total[at], name, hover="%{y:.1f}", visible=seen, line=line)
    figure.add_hline(y=0.0, line={"color": GREY, "width": 1})
    return _finish(figure, when, "scores")


def pit_bars(shares: Floats) -> str:
    """Draw the histogram of the probability integral transform."""
    go = extras.require("plotly.graph_objects")
    bins = len(shares)
    axes: dict[str, Any] = {"xaxis_title": "P(y ≤ observation)", "yaxis_title": "share of rounds"}
    figure = new_figure(280, bargap=0.06, hovermode="closest", showlegend=False, **axes)
    middles = (np.arange(bins) + 0.5) / bins
    bars = {"marker": {"color": "#7fb0c4"}, "hovertemplate": "%{y:.3f}<extra></extra>"}
    figure.add_trace(go.Bar(x=middles, y=shares.astype(np.float32), name="rounds", **bars))
    figure.add_hline(y=1.0 / bins, line={"color": BLACK, "width": 1, "dash": "dot"})
    return as_html(figure, "reliability")


def reliability_curve(inferred: Inferred) -> str:
    """Draw the observed share of symbols against their predicted probability."""
    predicted, observed, count = inferred.reliability()
    axes: dict[str, Any] = {"xaxis_title": "predicted probability", "yaxis_title": "observed share"}
    figure = new_figure(hovermode="closest", **axes)
    ends = np.array([0, 1])
    add_curve(figure, ends, ends, "calibrated", mode="lines", line={"color": GREY})
    hover = "predicted %{x:.3f}, observed %{y:.3f}, %{text}"
    style: dict[str, Any] = {"mode": "markers+lines", "line": {"color": BLACK, "width": 1}}
    style["marker"] = {"size": (6 + 18 * np.sqrt(count / count.max())).astype(np.float32)}
    style["text"] = [f"{n:,} times" for n in count]
    add_curve(figure, predicted.astype(np.float32), observed, "predictions", None, hover, **style)
    return as_html(figure, "reliability")
