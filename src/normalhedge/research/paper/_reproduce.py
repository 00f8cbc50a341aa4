"""Reproduce the paper: measure its parts, judge its claims, and write the page into a folder."""

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from normalhedge.boundary import inputs, specs, whole_files
from normalhedge.boundary.progress import SILENT, Listener, PieceOfWork, Progress, listener
from normalhedge.boundary.threads import cores, on_one_core
from normalhedge.research._away import done_by, same_code
from normalhedge.research._cells import Arrays, Cells
from normalhedge.research._fingerprint import LEADERBOARD, fingerprint
from normalhedge.research.paper import _figures as figures
from normalhedge.research.paper._claim import PaperClaim
from normalhedge.research.paper._page import write_figures, write_paper
from normalhedge.research.paper._part import Measurement, PaperSettings, Part
from normalhedge.research.paper._parts import CHOICES, PARTS


@dataclass(frozen=True)
class PaperResult:
    """The claims of the paper with their verdicts, and the files that were written."""

    claims: list[PaperClaim]
    files: list[Path]


def reproduce(
    out: Path,
    settings: PaperSettings,
    *,
    only: Sequence[str] = (),
    jobs: int | None = None,
    progress: Listener = None,
    workers: Executor | None = None,
) -> PaperResult:
    """Run the missing measurements, and write figures, claims and the page."""
    for name in only:
        if name not in CHOICES:
            raise specs.nearest("part of the paper", name, CHOICES)
    whole_files.sweep(out)
    told = listener(progress)
    cells = Cells(out / "cells", told.say)
    chosen = [name for name in CHOICES if not only or name in only]
    work = {
        measurement.id: (part, measurement)
        for part in PARTS
        for name, measurements in part.choices.items()
        if name in chosen
        for measurement in measurements
    }
    told.total(sum(measurement.units(settings) for _, measurement in work.values()))

    def run(name: str) -> Arrays:
        return _load_or_measure(*work[name], settings, jobs, cells, told, workers)

    beside = [
        name for name, (_, measurement) in work.items() if workers or not measurement.parallel
    ]
    threads = len(work) if workers else jobs or cores()  # those that only wait for workers
    with ThreadPoolExecutor(max(threads, 1)) as pool, done_by(workers):
        measured = dict(zip(beside, pool.map(run, beside), strict=True))
    measured |= {name: run(name) for name in work if name not in beside}
    claims = [claim for part in PARTS for claim in part.judge(measured)]
    files = write_paper(out, settings, chosen, measured, claims, told)
    return PaperResult(claims, files)


def redraw(
    out: Path,
    settings: PaperSettings,
    *,
    only: Sequence[str],
    experts: int | None = None,
    alpha: float | None = None,
    jobs: int | None = None,
    progress: Listener = None,
) -> PaperResult:
    """Play and draw figures of the paper with another number of experts or another rate.

    A game lasts for ten shifts of the good set, as in the paper. No claim is judged.
    """
    by_name = {figure.id: figure for figure in figures.FIGURES}
    for name in only:
        if name not in by_name:
            raise specs.nearest("figure of the paper", name, by_name)
    changes: dict[str, float] = {}
    if experts is not None:
        changes["experts"] = experts = inputs.count("experts", experts)
    if alpha is not None:
        changes["alpha"] = alpha = inputs.number("alpha", alpha, 0.0, 1.0)
        settings = replace(settings, rounds=max(round(10.0 / alpha), figures.EVERY))
    drawn = [by_name[name].with_settings(experts, alpha) for name in only or by_name]
    panels = dict.fromkeys(panel for figure in drawn for panel in figure.panels)
    for panel in panels:  # wrong settings are refused before the first game
        panel.nature.switches(settings.rounds)
    told = listener(progress)
    cells = Cells(out / "cells", told.say)
    work = [figures.panel_measurement(panel) for panel in panels]
    told.total(sum(measurement.units(settings) for measurement in work))
    measured = {
        measurement.id: _load_or_measure(figures.PART, measurement, settings, jobs, cells, told)
        for measurement in work
    }
    return PaperResult([], write_figures(out, settings, changes, drawn, measured))


def _load_or_measure(
    part: Part,
    measurement: Measurement,
    settings: PaperSettings,
    jobs: int | None,
    cells: Cells,
    progress: Progress,
    workers: Executor | None = None,
) -> Arrays:
    """Return the arrays of a measurement, from its cell if it was saved there."""
    name, units = measurement.id, measurement.units(settings)
    key = {"code": _code(part), **asdict(settings), "measurement": name}
    arrays = cells.load(name, key)
    if arrays is not None:
        progress.done(units, name)
        return arrays
    if workers is None:
        arrays = measurement.measure(settings, jobs, PieceOfWork(progress, units, name))
    else:
        arrays = workers.submit(_measure_here, name, settings, key["code"]).result()
        progress.done(units, name)
    cells.save(name, key, arrays)
    return arrays


def _measure_here(name: str, settings: PaperSettings, code: str) -> Arrays:
    """Return the arrays of a measurement, as a worker computes them."""
    owners = {m.id: (part, m) for part in PARTS for ms in part.choices.values() for m in ms}
    part, measurement = owners[name]
    same_code(code, _code(part))
    with on_one_core():
        return measurement.measure(settings, 1, SILENT)


def _code(part: Part) -> str:
    """Return the fingerprint of the code that a part depends on."""
    others = [path for other in PARTS if other is not part for path in other.paths]
    return fingerprint(*part.layers, without=(LEADERBOARD, *others))
