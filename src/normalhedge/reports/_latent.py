"""The page about the regimes of a series."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.latent.regimes import (
    Forecast,
    Inferred,
    facts,
    forecast_table,
    regime_table,
    score_table,
    segment_table,
    verdict,
)
from normalhedge.reports import _latent_figures as latent_figures
from normalhedge.reports._page import Fold, Section, write_page

MEANS = 240
"""The largest number of points in the plot of probabilities; each is a mean over some rounds."""

SERIES = (
    "Each observation has the colour of the regime that was most probable when it came, given the "
    "observations up to that round. The table shows the observations in each regime in hindsight; "
    "a stay is an unbroken run of rounds in a regime."
)
HINDSIGHT = (
    "Given all rounds, later ones too: each observation has the colour of its regime on the most "
    "probable path."
)
SMOOTHED = (
    "The smoothed probabilities, given all rounds. Nobody could have known them at the time: use "
    "them to look back, not to judge predictions."
)
FORECAST = (
    "The forecast after the last round. “Switch” is the probability that the regime differs from "
    "the regime of the round before."
)
SCORES = (
    "The cumulative log score of the regimes minus the score of each baseline. Where a line rises, "
    "the regimes predict better. Baselines that are far off are hidden; a click on the legend "
    "shows them."
)
SYMBOLS = (
    "The observed share of symbols against their predicted probability, in steps of 0.1. "
    "Calibrated predictions lie on the line. Larger dots stand for more predictions."
)
PIT = (
    "The probability integral transform: the position of each observation in its predicted "
    "distribution. Calibrated predictions make all bars as high as the line; high bars at both "
    "ends mean that the predictions are too narrow."
)
"""The texts of the sections."""


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
    width = -(-rounds // MEANS)
    unit = f" Each point is a mean over {width} rounds." if width > 1 else ""
    looked = found.hindsight
    causal = looked.fold(found.path.probabilities)
    fitted = causal.any(axis=1)
    states = np.where(fitted, causal.argmax(axis=1), -1)
    stays = Fold(f"All {counted(sum(looked.stays.values()), 'stay')}", *segment_table(found))
    result = verdict(found)
    sections = [
        Section(
            "series",
            "The series and its regimes, at the time",
            SERIES,
            latent_figures.series(found, when, states, "series"),
            *regime_table(found),
        ),
        Section(
            "probabilities",
            "The probability of each regime, at the time",
            "All models vote with their weights, given the observations up to each round." + unit,
            latent_figures.probabilities(causal, when, width, "probabilities"),
        ),
        Section(
            "hindsight",
            "The regimes in hindsight",
            HINDSIGHT,
            latent_figures.series(found, when, looked.path, "hindsight"),
            folds=[stays] if stays.rows else [],
        ),
        Section(
            "smoothed",
            "The probability of each regime, in hindsight",
            SMOOTHED + unit,
            latent_figures.probabilities(looked.probabilities, when, width, "smoothed"),
        ),
        Section(
            "parameters",
            "The parameters of the regimes over time",
            *latent_figures.parameters(found, when),
        ),
    ]
    if ahead is not None:
        table = forecast_table(ahead, found, level)
        sections.append(Section("forecast", "The next rounds", FORECAST, "", *table))
    if baselines:
        plot = latent_figures.score_curves(found, baselines, when)
        table = score_table(found, baselines)
        heading = "Comparison with simple baselines"
        sections.append(Section("scores", heading, SCORES, plot, *table))
    write_page(
        path,
        title=title,
        subtitle=f"{subtitle}{remark}",
        verdict=result.sentence,
        small=result.evidence,
        claims=[],
        sections=[
            *sections,
            *_reliability(found),
            Section("facts", "Further results", head=["", ""], rows=facts(found)),
        ],
        command=command,
        settings=settings,
    )


def _reliability(found: Inferred) -> list[Section]:
    """Return the section of calibration; none without predictions to check."""
    if found.sequence.labels:
        plot = latent_figures.reliability_curve(found)
        return [Section("reliability", "Can the probabilities be trusted?", SYMBOLS, plot)]
    shares = found.pit_histogram()
    if np.isnan(shares).any():
        return []
    covered = ", ".join(f"{level:.0%}: {found.coverage(level):.1%}" for level in (0.5, 0.8, 0.9))
    checked = int((~np.isnan(found.pits).any(axis=2)).sum())
    text = (
        f"{PIT} Share of observations inside their interval: {covered} ({checked:,} observations)."
    )
    plot = latent_figures.pit_bars(shares)
    return [Section("reliability", "Can the intervals be trusted?", text, plot)]
