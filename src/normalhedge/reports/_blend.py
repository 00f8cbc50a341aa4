"""The page of a blend: first what anybody wants to know, then what researchers ask."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from normalhedge.mixtures import Summary
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
from normalhedge.reports._page import Fold, Section, write_page
from normalhedge.reports._research import research_sections
from normalhedge.reports._verdict import FEW, IN_WORDS, called, verdict
from normalhedge.reports._wording import excess, moment, number, percent
from normalhedge.reports.analysis import Errors, Review
from normalhedge.tables import Timeline

TOP = 5
"""The numbers of models, and of series at each end, that are shown unfolded."""

OFF = 0.05
"""Intervals whose coverage is off by more than this are too narrow or too wide."""

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
    """
    found = verdict(review)
    listed = "; ".join(notes)
    guessed = f"Notes: {listed}{'' if listed.endswith('.') else '.'}" if notes else ""
    few = len(timeline.when) < 2
    sections = [
        *_forecasts(review),
        *_errors(review),
        *_groups(review),
        *_series(review),
        *_intervals(review),
        *([] if few else _over_time(summary, timeline, review)),
        *research_sections(summary, timeline),
    ]
    write_page(
        path,
        title=title,
        subtitle=summary.settings,
        verdict=found.sentence,
        small=" ".join(filter(None, [found.small, guessed])),
        warnings=found.warnings,
        claims=[],
        sections=sections,
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
    words = [f"Above: the last {rows:,} rows" if first.whole else f"{rows:,} rows"]
    words[0] += f", {moment(first.last.times[0])} to {moment(first.last.times[-1])}."
    if first.whole:
        means = f", in means over {first.each:,} rows" if first.each > 1 else ""
        words.append(f"Below: the whole time{means}. Drag over a part to zoom in.")
    if len(review.tracks) > 1:
        total = 0 if review.series is None else len(review.series.labels)
        largest = f"the {len(shown)} largest of {total:,} series" if total > len(shown) else "all"
        words.append(f"The menu has {largest}.".replace("has all", "has all series"))
    return [Section("forecast", "Forecast and actual", " ".join(words) + cut, plot)]


def _ordered(errors: Errors) -> list[int]:
    """Return the indices of the measures in the order of the columns: MAE before RMSE."""
    names = [measure.name for measure in errors.measures]
    known = [names.index(name) for name in ("WIS", "MAE", "RMSE") if name in names]
    return [*(k for k in range(len(names)) if k not in known), *known]


def _errors(review: Review) -> list[Section]:
    """Return the section of the errors of all forecasters."""
    errors = review.errors
    if not review.rows:
        return []
    plain = sum(name.startswith("plain ") for name in errors.names[1:3])
    models = range(1 + plain, len(errors.names))
    wealth = errors.measures[0].name == "log-wealth loss"  # its losses may be negative
    relative = (np.nan if wealth else 1.0) * errors.above_blend
    often = errors.counts[0] >= OFTEN * review.rows
    order = sorted(models, key=lambda k: (not often[k], np.nan_to_num(relative[k], nan=np.inf)))
    columns = _ordered(errors)
    bias = not np.isnan(errors.bias).all()
    head = ["", *(errors.measures[m].name for m in columns), *(["bias"] if bias else [])]
    head += ["compared with the blend", "forecasts made"]

    def row(k: int) -> list[str]:
        cells = [called(errors.names[k]), *(number(float(errors.values[m, 0, k])) for m in columns)]
        cells += [number(float(errors.bias[0, k]))] if bias else []
        against = "" if k == 0 else excess(float(relative[k])).removesuffix(" as")
        return [*cells, against, percent(errors.counts[0, k] / review.rows)]

    meant = [f"{m.name} is {IN_WORDS[m.name]}" for m in errors.measures if m.name in IN_WORDS]
    units = f"In the units of {review.target}: {', '.join(sorted(meant))}" if meant else ""
    text = f"{units}{', bias the mean of forecast minus actual' if bias and meant else ''}."
    text = (text if meant else "") + (
        f" The comparison is by {errors.measures[0].name}, over the rows in which the model made a "
        "forecast. The best models come first"
        + (
            ", and those with forecasts in less than half of the rows last."
            if not often.all()
            else "."
        )
    )
    first, rest = order[:TOP], order[TOP:]
    folds = []
    if rest:
        kept = rest[:MOST_ROWS]
        folds = [Fold(f"{len(rest):,} more models", head, [row(k) for k in kept])]
    body = [row(k) for k in (*range(1 + plain), *first)]
    return [Section("errors", "Errors", text.strip(), head=head, rows=body, folds=folds)]


def _shown_measure(errors: Errors) -> int:
    """Return the index of the measure of plots: MAE, or the first."""
    names = [measure.name for measure in errors.measures]
    return names.index("MAE") if "MAE" in names and names[0] == "RMSE" else 0


def _group_table(
    errors: Errors, title: str, order: Sequence[int]
) -> tuple[list[str], list[list[str]]]:
    """Return a header and rows: the errors in some groups."""
    columns = _ordered(errors)
    last = errors.names[-1] if len(errors.names) > 3 else None
    head = [title, "rows", *(f"{errors.measures[m].name}" for m in columns)]
    head += [f"against the {called(errors.names[1])}", *([f"against {last}"] if last else [])]
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
        text = f"{errors.measures[_shown_measure(errors)].name} by {title}.{cut}"
        head, rows = _group_table(errors, title, range(len(errors.labels)))
        fold = Fold("The numbers of the blend", head, rows)
        section = Section(
            f"group-{title.replace(' ', '-')}", f"Errors by {title}", text, plot, folds=[fold]
        )
        sections.append(section)
    return sections


def _series(review: Review) -> list[Section]:
    """Return the section of errors by series: those where the blend does worst, and best."""
    errors = review.series
    if errors is None or not review.rows:
        return []
    share = np.nan_to_num(errors.excess(review.plain), nan=-np.inf)
    there = np.flatnonzero(errors.counts[:, 0] > 0)
    order = there[np.argsort(-share[there], kind="stable")].tolist()
    text = (
        "Where the error of the blend is largest and smallest, compared with the "
        f"{called(review.plain)} ({errors.measures[0].name})."
    )
    folds = []
    shown = order
    if len(order) > 2 * TOP:
        shown = [*order[:TOP], *order[-TOP:]]
        rest = order[TOP:-TOP]
        head, rows = _group_table(errors, "series", rest[:MOST_ROWS])
        left = "" if len(rest) <= MOST_ROWS else f", the first {MOST_ROWS:,} of them"
        folds = [Fold(f"{len(rest):,} more series{left}", head, rows)]
    head, rows = _group_table(errors, "series", shown)
    if folds:
        rows.insert(TOP, ["…", *[""] * (len(head) - 1)])
    return [Section("series", "Errors by series", text, head=head, rows=rows, folds=folds)]


def _intervals(review: Review) -> list[Section]:
    """Return the sections of intervals; none if there are none."""
    found = review.coverage
    if found is None:
        return []
    misses = [
        f"the {100 * level:g} % interval holds {percent(float(covered))} of the outcomes"
        for level, covered in zip(found.levels, found.covered, strict=True)
    ]
    listed = misses if len(misses) <= 3 else [misses[0], misses[-1]]
    text = f"Over {found.rows:,} rows, {' and '.join(listed)}."
    text += f" The weighted interval score (WIS) is {number(found.wis)}." if found.wis >= 0 else ""
    head = ["interval", "holds", "mean width", "median width", ""]
    rows = [
        [
            f"{100 * level:g} %",
            percent(float(a)),
            number(float(b)),
            number(float(c)),
            _kept(float(a - level), found.rows),
        ]
        for level, a, b, c in zip(
            found.levels, found.covered, found.width, found.middle_width, strict=True
        )
    ]
    over = Section(
        "coverage",
        "Intervals: what they promise and what they hold",
        f"{text} The dashed lines are the promises.",
        coverage_plot(found),
        head,
        rows,
    )
    words = (
        "At the left, the share of outcomes below each quantile: on the dashed line, quantiles are "
        "right. At the right, how many outcomes fall between neighbouring quantiles, relative to "
        "what these claim: bars above 1 at both ends mean that intervals are too narrow."
    )
    right = Section("reliability", "Are the quantiles right?", words, reliability_plot(found))
    return [over, right]


def _kept(gap: float, rows: int) -> str:
    """Return in a word how an interval keeps its promise."""
    if rows < FEW:
        return "too few rows to say"
    return "as promised" if abs(gap) <= OFF else "too narrow" if gap < 0.0 else "too wide"


def _over_time(summary: Summary, timeline: Timeline, review: Review) -> list[Section]:
    """Return the sections of weights, errors and models awake over time."""
    around = f"{timeline.window:,.0f}"
    each = timeline.window < 1.5
    square = review.errors.measures[0].name == "RMSE"
    name = "RMSE" if square else review.errors.measures[0].name
    sections = [
        Section(
            "weights",
            "Which models the blend relies on",
            "The weights in each round."
            if each
            else f"Mean weights over {around} rounds around each time.",
            weights_plot(timeline),
        )
    ]
    if summary.settled:
        plot, cut = error_plot(timeline, name, square=square)
        span = "in each round" if each else f"over the last {around} rounds"
        text = f"{name} {span}. Click a model in the legend to show it.{cut}"
        sections.append(Section("loss", "Error over time", text, plot))
    if np.nanmin(timeline.awake, initial=1.0) < 1.0:
        text = "The share of rows in which each model made a forecast."
        sections.append(Section("awake", "When models made forecasts", text, awake_plot(timeline)))
    return sections
