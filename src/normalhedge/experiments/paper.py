"""The whole paper: figures, claims and the page, into a folder."""

import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import normalhedge
from normalhedge import _files, _names, _tables
from normalhedge._threads import cores
from normalhedge.experiments import claims, frontier
from normalhedge.experiments.cells import Cells, trace_from_arrays, trace_to_arrays
from normalhedge.experiments.figures import (
    ALPHA,
    EVERY,
    FIGURES,
    PARTS,
    ROUNDS,
    RUNS,
    STYLES,
    Figure,
    Panel,
)
from normalhedge.experiments.fingerprint import fingerprint
from normalhedge.experiments.hidden import CASES, play_case
from normalhedge.experiments.hidden_claims import hidden_sections, judge_hidden
from normalhedge.experiments.learning import judge_learning, learn, learning_section
from normalhedge.experiments.measures import MEASURES, Arrays
from normalhedge.experiments.pulse import pulse_section, track_pulses
from normalhedge.games import Trace, play
from normalhedge.plots import regret_figure
from normalhedge.reports import Claim, Section, regret_plot, write_page

OF_HIDDEN_STATES: dict[str, Callable[..., Arrays]] = {
    **{f"hidden-{case.id}": partial(play_case, case) for case in CASES},
    "learning": learn,
    "pulse": track_pulses,
}
"""The measurements of Section 5."""

MEASUREMENTS = MEASURES | OF_HIDDEN_STATES | {"frontier": frontier.measure}

PARTS_OF_THE_PAPER = (*(figure.id for figure in FIGURES), *MEASUREMENTS)
"""What ``--only`` knows."""


@dataclass(frozen=True)
class Settings:
    """Everything the numbers depend on, beside the code."""

    runs: int = RUNS
    rounds: int = ROUNDS
    seed: int = 0
    quick: bool = False


QUICK = Settings(runs=2, quick=True)


@dataclass(frozen=True)
class Result:
    """What was written, and the verdicts."""

    claims: list[Claim]
    files: list[Path]


class Progress:
    """Told how far the work is; this one keeps silent."""

    def total(self, units: float) -> None:
        """Say how much work there is."""

    def done(self, units: float, what: str) -> None:
        """Say that a piece of it is done, and of what."""

    def say(self, sentence: str) -> None:
        """Say something worth knowing."""


def reproduce(
    out: Path,
    settings: Settings,
    *,
    only: Sequence[str] = (),
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Compute what is not yet in the folder, and write figures, data, claims and the page.

    Parameters
    ----------
    out
        The folder; what an earlier, interrupted call finished is taken from it.
    settings
        How much, and from which seed.
    only
        Parts of the paper; all of them where none is named.
    jobs
        How many runs go in parallel; none for all cores.
    progress
        Told how far the work is.
    """
    for part in only:
        if part not in PARTS_OF_THE_PAPER:
            raise _names.nearest("part of the paper", part, dict.fromkeys(PARTS_OF_THE_PAPER))
    wanted = only or PARTS_OF_THE_PAPER
    watch = progress or Progress()
    _files.sweep(out)
    cells = Cells(out / "cells", watch.say)
    figures = [figure for figure in FIGURES if figure.id in wanted]
    panels = list(dict.fromkeys(panel for figure in figures for panel in figure.panels))
    measures = [name for name in MEASUREMENTS if name in wanted]
    watch.total(sum(_units(panel, settings) for panel in panels) + MEASURE_UNITS * len(measures))
    with ThreadPoolExecutor(jobs or cores()) as pool:
        found = pool.map(lambda name: _measure(name, settings, cells, watch), measures)
        measured = dict(zip(measures, found, strict=True))
    traces = {panel: _trace(panel, settings, jobs, cells, watch) for panel in panels}
    rows = claims.judge(traces, measured) + judge_hidden(_cases(measured))
    rows += judge_learning(measured["learning"]) if "learning" in measured else []
    return Result(rows, _write(out, settings, figures, traces, measured, rows, watch))


MEASURE_UNITS = 3e8
"""What the other measurements cost beside the panels, in rounds x experts x hedgers, roughly."""


def _units(panel: Panel, settings: Settings) -> float:
    # A round has a cost even where there are few experts.
    return float(settings.runs * settings.rounds * len(STYLES) * (panel.experts + 50))


def _key(settings: Settings, *upper: str, **more: object) -> dict[str, object]:
    return {"code": fingerprint(*upper), **asdict(settings), **more}


def _measure(name: str, settings: Settings, cells: Cells, watch: Progress) -> Arrays:
    key = _key(settings, *(["latent"] if name in OF_HIDDEN_STATES else []), measure=name)
    found = cells.load(name, key)
    if found is None:
        found = MEASUREMENTS[name](settings.seed, quick=settings.quick)
        cells.save(name, key, found)
    watch.done(MEASURE_UNITS, name)
    return found


def _trace(
    panel: Panel, settings: Settings, jobs: int | None, cells: Cells, watch: Progress
) -> Trace:
    key = _key(settings, panel=asdict(panel), every=EVERY, parts=PARTS)
    name = panel.id
    found = cells.load(name, key)
    if found is not None:
        watch.done(_units(panel, settings), name)
        return trace_from_arrays(found)
    per_round = _units(panel, settings) / (settings.runs * settings.rounds)
    trace = play(
        panel.hedgers(),
        panel.nature,
        settings.rounds,
        settings.runs,
        # Each panel has gains of its own.
        [settings.seed, zlib.crc32(name.encode())],
        every=EVERY,
        parts=PARTS,
        jobs=jobs,
        progress=lambda rounds: watch.done(per_round * rounds, name),
    )
    cells.save(name, key, trace_to_arrays(trace))
    return trace


def _cases(measured: dict[str, Arrays]) -> dict[str, Arrays]:
    """Return what was measured of hidden states, by the case."""
    named = {case.id: f"hidden-{case.id}" for case in CASES}
    return {case: measured[name] for case, name in named.items() if name in measured}


def _write(
    out: Path,
    settings: Settings,
    figures: list[Figure],
    traces: dict[Panel, Trace],
    measured: dict[str, Arrays],
    rows: list[Claim],
    watch: Progress,
) -> list[Path]:
    files: list[Path] = []
    sections: list[Section] = []
    for figure in figures:
        watch.done(0, f"drawing {figure.id}")
        panels = [(figure.caption(panel), traces[panel]) for panel in figure.panels]
        files += regret_figure(panels, STYLES, out / figure.id)
        files.append(out / f"{figure.id}.parquet")
        _tables.write_table(files[-1], tidy(figure, traces))
        plot = regret_plot(figure.id, panels, STYLES)
        sections.append(Section(figure.id, figure.title, figure.text, plot))
    sections += hidden_sections(_cases(measured))
    for name, section in (("learning", learning_section), ("pulse", pulse_section)):
        if name in measured:
            sections.append(section(measured[name]))
    if "frontier" in measured:
        sections.append(frontier.section(frontier.from_arrays(measured["frontier"])))
    if rows:
        files.append(out / "claims.parquet")
        columns: dict[str, Any] = {
            field: [getattr(row, field) for row in rows] for field in Claim._fields
        }
        _tables.write_table(files[-1], columns)
    files.append(out / "report.html")
    write_page(
        files[-1],
        title="The paper, reproduced",
        subtitle="Freund and Hsu, A new Hedging algorithm and its application to inferring latent "
        "random variables. Every figure and every claim, measured again."
        + " A quick run: its verdicts are a first indication only."
        * settings.quick,
        claims=rows,
        sections=sections,
        command=_command(settings, figures, measured),
        settings={
            "normalhedge": normalhedge.__version__,
            "numpy": np.__version__,
            "seed": settings.seed,
            "runs": settings.runs,
            "rounds": settings.rounds,
            "α": ALPHA,
        },
    )
    return files


def _command(settings: Settings, figures: list[Figure], measured: dict[str, Arrays]) -> str:
    parts = [*(figure.id for figure in figures), *measured]
    words = ["normalhedge paper", f"--seed {settings.seed}"]
    if settings.quick:
        words.append("--quick")
    if len(parts) < len(PARTS_OF_THE_PAPER):
        words += [f"--only {part}" for part in parts]
    return " ".join(words)


def tidy(figure: Figure, traces: dict[Panel, Trace]) -> dict[str, Any]:
    """Return the data of a figure, a row for each panel, hedger and recorded round."""
    columns: dict[str, list[Any]] = {}
    for panel in figure.panels:
        curves = traces[panel].columns()
        rows = len(curves["round"])
        setting = {name: np.full(rows, value) for name, value in asdict(panel).items()}
        for name, values in (setting | curves).items():
            columns.setdefault(name, []).append(values)
    return {name: np.concatenate(parts) for name, parts in columns.items()}
