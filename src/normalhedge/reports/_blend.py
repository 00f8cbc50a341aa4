"""The page of a blend: first the sections for everybody, then the sections for researchers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from normalhedge.boundary.terminal import counted
from normalhedge.mixtures import Summary
from normalhedge.mixtures.explanations import Explanation
from normalhedge.mixtures.summaries import OFTEN
from normalhedge.reports._blend_figures import (
    awake_plot,
    coverage_plot,
    error_plot,
    group_plot,
    reliability_plot,
    track_plot,
    weights_plot,
)
from normalhedge.reports._page import Fold, Section, sentence, write_page
from normalhedge.reports._research import research_sections
from normalhedge.reports._verdict import FEW, IN_WORDS, absurdity, title_of, verdict
from normalhedge.reports._wording import excess, moment, number, percent
from normalhedge.reports.analysis import Errors, Review
from normalhedge.tables import Timeline

TOP = 5
"""The numbers of models, and of series at each end, that are shown unfolded."""

OFF = 0.05
"""Intervals whose coverage is off by more than this are too narrow or too wide."""

LOCAL = ("hour of the day", "weekday")
"""The groups that depend on the zone of the times."""

MOST_ROWS = 1000
"""The largest number of rows of a folded table."""


def write_blend(
    path: Path,
    summary: Summary,
    timeline: Timeline,
    review: Review,
    *,
    title: str,
    notes: Sequence[str],
    command: str,
    settings: Mapping[str, object],
    explanation: Explanation | None = None,
) -> None:
    """Write the page of a blend: the verdict, forecasts, errors, weights; then losses and regrets.

    Parameters
    ----------
    path
        The file to write.
    summary, timeline, review
        The summary, the timeline and the review of the blend.
    title
        The title of the page.
    notes
        Sentences about the guesses.
    command
        The command that writes the page again.
    settings
        Names and values for the footer, such as versions.
    explanation
        Who has changed, and why, for a section of its own.
    """
    result, partial = verdict(review), summary.partial
    listed = "; ".join(notes)
    guessed = f"Notes: {listed}{'' if listed.endswith('.') else '.'}" if notes else ""
    write_page(
        path,
        title=title,
        subtitle=summary.settings,
        verdict=result.sentence,
        small=" ".join(filter(None, [result.small, guessed])),
        warnings=[
            *filter(None, [absurdity(review, summary.moved)]),
            *result.warnings,
            *([f"{partial[0].upper()}{partial[1:]}."] if partial else []),
            *(f"{alert.text}." for alert in summary.alerts),
        ],
        claims=[],
        sections=[
            *_forecasts(review),
            *_errors(review),
            *_groups(review),
            *_series(review),
            *_intervals(review),
            *(_over_time(summary, timeline, review) if len(timeline.when) > 1 else []),
            *([] if explanation is None else _explained(explanation)),
            *research_sections(summary, timeline),
        ],
        command=command,
        settings=settings,
    )


def _forecasts(review: Review) -> list[Section]:
    """Return the section of forecasts beside outcomes."""
    shown = [track for track in review.tracks if len(track.last.times)]
    if not shown:
        return []
    plot, cut = track_plot(shown, review.target)
    first = shown[0]
    rows = len(first.last.times)
    words = [f"Above: the last {counted(rows, 'row')}" if first.whole else counted(rows, "row")]
    words[0] += f", {moment(first.last.times[0])} to {moment(first.last.times[-1])}."
    if first.whole:
        means = f"in means over {first.each:,} rows" if first.each > 1 else "every row"
        words.append(f"Below: the whole time, {means}. Drag over a part to zoom in.")
    if len(review.tracks) > 1:
        total = 0 if review.series is None else len(review.series.labels)
        largest = f"the {len(shown)} largest of {total:,} series" if total > len(shown) else "all"
        words.append(f"The menu has {largest}.".replace("has all", "has all series"))
        thin = sum(track.each > 1 for track in shown)
        if thin and first.each == 1:
            words.append(f"The smallest {thin} of them are shown in means over several rows.")
    if first.models:
        total = len(review.errors.names) - 1 - review.plain_count
        few = f", which has {len(first.models)} of {total:,}" if total > len(first.models) else ""
        words.append(f"Click a model in the legend{few} to show it.")
    if review.ahead:
        words.append("Where a time has several forecasts, the one made last is shown.")
    return [Section("forecast", "Forecast and actual", " ".join(words) + cut, plot)]


def _column_order(errors: Errors) -> list[int]:
    """Return the indices of the measures in the order of the columns: MAE before RMSE."""
    names = [measure.name for measure in errors.measures]
    known = [names.index(name) for name in ("WIS", "MAE", "RMSE") if name in names]
    return [*(k for k in range(len(names)) if k not in known), *known]


def _errors(review: Review) -> list[Section]:
    """Return the section of the errors of all forecasters."""
    errors = review.errors
    if not review.rows:
        return []
    models = range(1 + review.plain_count, len(errors.names))
    relative = errors.above_blend * (np.nan if review.of_wealth else 1.0)
    often = errors.counts[0] >= OFTEN * review.rows
    order = sorted(models, key=lambda k: (not often[k], np.nan_to_num(relative[k], nan=np.inf)))
    columns = [(errors.measures[m].name, errors.values[m, 0]) for m in _column_order(errors)]
    columns += [] if np.isnan(errors.bias).all() else [("bias", errors.bias[0])]
    head = ["", *(name for name, _ in columns), "compared with the blend", "forecasts made"]

    def row(k: int) -> list[str]:
        cells = [title_of(errors.names[k]), *(number(float(values[k])) for _, values in columns)]
        against = "" if k == 0 else excess(float(relative[k])).removesuffix(" as")
        return [*cells, against, percent(errors.counts[0, k] / review.rows)]

    meant = sorted(f"{m.name} is {IN_WORDS[m.name]}" for m in errors.measures if m.name in IN_WORDS)
    text = (
        f"The comparison is by {errors.measures[0].name}, over the rows in which the model made a "
        "forecast. The best models come first"
    )
    text += (
        "." if often.all() else ", and models with forecasts in less than half of the rows last."
    )
    if meant:
        meant += ["bias the mean of forecast minus actual"] * (head[-3] == "bias")
        text = f"In the units of {review.target}: {', '.join(meant)}. {text}"
    rest = order[TOP:]
    folds = [Fold(counted(len(rest), "more model"), head, [row(k) for k in rest[:MOST_ROWS]])]
    body = [row(k) for k in (*range(1 + review.plain_count), *order[:TOP])]
    return [Section("errors", "Errors", text, head=head, rows=body, folds=folds if rest else [])]


def _shown_measure(errors: Errors) -> int:
    """Return the index of the measure of plots: MAE, or the first."""
    names = [measure.name for measure in errors.measures]
    return names.index("MAE") if "MAE" in names and names[0] == "RMSE" else 0


def _group_table(
    errors: Errors, title: str, order: Sequence[int]
) -> tuple[list[str], list[list[str]]]:
    """Return a header and rows: the errors in some groups."""
    columns = _column_order(errors)
    last = errors.names[-1] if len(errors.names) > 3 else None
    head = [title, "rows", *(f"{errors.measures[m].name}" for m in columns)]
    head += [f"against the {title_of(errors.names[1])}", *([f"against {last}"] if last else [])]
    beside = [errors.excess(errors.names[1]), *([errors.excess(last)] if last else [])]
    body = [
        [
            errors.labels[g],
            f"{errors.counts[g, 0]:,}",
            *(number(float(errors.values[m, g, 0])) for m in columns),
            *(excess(float(part[g])).removesuffix(" as") for part in beside),
        ]
        for g in order
    ]
    return head, body


def _groups(review: Review) -> list[Section]:
    """Return the sections of errors by steps ahead, hour, weekday and month."""
    sections = []
    for title, errors in review.groups:
        plot, cut = group_plot(title, errors, _shown_measure(errors))
        local = f", in the local time of {review.zone}" if review.zone and title in LOCAL else ""
        text = f"{errors.measures[_shown_measure(errors)].name} by {title}{local}.{cut}"
        head, rows = _group_table(errors, title, range(len(errors.labels)))
        folds = [Fold("The numbers of the blend", head, rows)]
        name = f"group-{title.replace(' ', '-')}"
        sections.append(Section(name, f"Errors by {title}", text, plot, folds=folds))
    return sections


def _series(review: Review) -> list[Section]:
    """Return the section of errors by series: where the blend does worst, and best."""
    errors = review.series
    if errors is None or not review.rows:
        return []
    share = np.nan_to_num(errors.excess(review.plain), nan=-np.inf)
    there = np.flatnonzero(errors.counts[:, 0] > 0)
    order = there[np.argsort(-share[there], kind="stable")].tolist()
    text = (
        "Where the error of the blend is largest and smallest, compared with the "
        f"{title_of(review.plain)} ({errors.measures[0].name})."
    )
    head, rows = _group_table(errors, "series", order[: TOP + MOST_ROWS])
    folds, rest = [], len(order) - 2 * TOP
    if rest > 0:
        left = "" if rest <= MOST_ROWS else f", the first {MOST_ROWS:,} of them"
        folds = [Fold(f"{rest:,} more series{left}", head, rows[TOP:][: min(rest, MOST_ROWS)])]
        best = _group_table(errors, "series", order[-TOP:])[1]
        rows = [*rows[:TOP], ["…", *[""] * (len(head) - 1)], *best]
    return [Section("series", "Errors by series", text, head=head, rows=rows, folds=folds)]


def _intervals(review: Review) -> list[Section]:
    """Return the sections of intervals; none if there are none."""
    coverage = review.coverage
    if coverage is None:
        return []
    levels = [f"{100 * level:g} %" for level in coverage.levels]
    shares = [percent(float(covered)) for covered in coverage.covered]
    holds = [
        f"the {level} interval holds {share} of the outcomes"
        for level, share in zip(levels, shares, strict=True)
    ]
    listed = holds if len(holds) <= 3 else [holds[0], holds[-1]]
    text = f"Over {counted(coverage.rows, 'row')}, {' and '.join(listed)}."
    if coverage.wis >= 0:
        text += f" The weighted interval score (WIS) is {number(coverage.wis)}."
    head = ["interval", "holds", "mean width", "median width", ""]
    widths = [[number(float(x)) for x in part] for part in (coverage.width, coverage.middle_width)]
    gaps = (coverage.covered - coverage.levels).tolist()
    verdicts = [_judge(gap, coverage.rows) for gap in gaps]
    rows = [list(row) for row in zip(levels, shares, *widths, verdicts, strict=True)]
    title, text = "Intervals: promises and results", f"{text} The dashed lines are the promises."
    words = (
        "At the left, the share of outcomes below each quantile: on the dashed line, quantiles are "
        "right. At the right, how many outcomes fall between neighbouring quantiles, relative to "
        "their claim: bars above 1 at both ends mean that intervals are too narrow."
    )
    plot = reliability_plot(coverage)
    return [
        Section("coverage", title, text, coverage_plot(coverage), head, rows),
        Section("reliability", "Are the quantiles right?", words, plot),
    ]


def _explained(explanation: Explanation) -> list[Section]:
    """Return the sections on weights that changed, the rounds that moved them, and absences."""
    sections = []
    titles = ("Who gained and lost weight", "What moved the weights", "What each model is worth")
    for (text, (head, rows)), title in zip(explanation.tables(), titles, strict=False):
        name = title.lower().replace(" ", "-")
        sections.append(Section(name, title, sentence(text), head=head, rows=rows))
    return sections


def _judge(gap: float, rows: int) -> str:
    """Return in a word how an interval keeps its promise."""
    if rows < FEW:
        return "too few rows to say"
    return "as promised" if abs(gap) <= OFF else "too narrow" if gap < 0.0 else "too wide"


def _over_time(summary: Summary, timeline: Timeline, review: Review) -> list[Section]:
    """Return the sections of weights, errors and models awake over time."""
    around, each = f"{timeline.window:,.0f}", timeline.window < 1.5
    text = "The weights in each round."
    if not each:
        text = f"Mean weights over {around} rounds around each time."
    title = "Which models the blend relies on"
    sections = [Section("weights", title, text, weights_plot(timeline))]
    if summary.settled:
        name = review.errors.measures[0].name
        plot, cut = error_plot(timeline, name, square=name == "RMSE")
        span = "in each round" if each else f"over the last {around} rounds"
        text = f"{name} {span}. Click a model in the legend to show it.{cut}"
        sections.append(Section("loss", "Error over time", text, plot))
    if np.nanmin(timeline.awake, initial=1.0) < 1.0:
        text = "The share of rows in which each model made a forecast."
        sections.append(Section("awake", "When models made forecasts", text, awake_plot(timeline)))
    return sections
