"""The page about the regimes of a series."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.regimes import (
    Forecast,
    Inferred,
    facts,
    forecast_table,
    regime_table,
    score_table,
)
from normalhedge.reports import _latent_figures as latent_figures
from normalhedge.reports._page import Section, write_page

MEANS = 240
"""The largest number of points in the plot of probabilities; each is a mean over some rounds."""


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
    """Write the page: the series and its regimes, parameters, scores, reliability and more.

    Parameters
    ----------
    path
        The file to write.
    found
        The regimes of the series.
    baselines
        The log scores of each baseline, see `normalhedge.latent.regimes.baselines`.
    title, subtitle, command, settings
        The head and the foot of the page.
    ahead
        A forecast for the page; None to leave it out.
    level
        The probability of the intervals of the forecast.
    """
    rounds = len(found.path)
    when, remark = latent_figures.axis(range(rounds) if found.time is None else found.time)
    head, rows = regime_table(found)
    width = -(-rounds // MEANS)
    unit = f" Each point is a mean over {width} rounds." if width > 1 else ""
    sections = [
        Section(
            "series",
            "The series and its regimes",
            "Each observation has the colour of its most probable regime, given the observations "
            "up to that round. The table shows the regimes at the end of the series; the mean "
            "duration is the mean number of rounds before the next switch.",
            latent_figures.series(found, when),
            head,
            rows,
        ),
        Section(
            "probabilities",
            "The probability of each regime",
            "All models vote with their weights, given the observations up to each round." + unit,
            latent_figures.probabilities(found, when, width),
        ),
        Section(
            "parameters",
            "The parameters of the regimes over time",
            *latent_figures.parameters(found, when),
        ),
        *([_ahead(ahead, found, level)] if ahead is not None else []),
        *_scores(found, baselines, when),
        *_reliability(found),
        Section("facts", "Further results", head=["", ""], rows=facts(found)),
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


def _ahead(ahead: Forecast, found: Inferred, level: float) -> Section:
    head, rows = forecast_table(ahead, found, level)
    return Section(
        "forecast",
        "The next rounds",
        "The forecast after the last round. “Switch” is the probability that the regime differs "
        "from that of the round before.",
        head=head,
        rows=rows,
    )


def _scores(found: Inferred, baselines: Mapping[str, Floats], when: Sequence[Any]) -> list[Section]:
    if not baselines:
        return []
    head, rows = score_table(found, baselines)
    text = (
        "The cumulative log score of the regimes minus that of each baseline. Where a line rises, "
        "the regimes predict better. Baselines that are far off are hidden; a click on the legend "
        "shows them."
    )
    plot = latent_figures.score_curves(found, baselines, when)
    return [Section("scores", "Comparison with simple baselines", text, plot, head, rows)]


def _reliability(found: Inferred) -> list[Section]:
    if found.sequence.labels:
        return [_symbol_reliability(found)]
    shares = found.pit_histogram()
    if np.isnan(shares).any():
        return []
    covered = ", ".join(f"{level:.0%}: {found.coverage(level):.1%}" for level in (0.5, 0.8, 0.9))
    checked = int((~np.isnan(found.pits).any(axis=2)).sum())
    text = (
        "The probability integral transform: the position of each observation in its predicted "
        "distribution. Calibrated predictions make all bars as high as the line; high bars at both "
        "ends mean that the predictions are too narrow. Share of observations inside their "
        f"interval: {covered} ({checked:,} observations)."
    )
    plot = latent_figures.pit_bars(shares)
    return [Section("reliability", "Can the intervals be trusted?", text, plot)]


def _symbol_reliability(found: Inferred) -> Section:
    text = (
        "The observed share of symbols against their predicted probability, in steps of 0.1. "
        "Calibrated predictions lie on the line. Larger dots stand for more predictions."
    )
    plot = latent_figures.reliability_curve(found)
    return Section("reliability", "Can the probabilities be trusted?", text, plot)
