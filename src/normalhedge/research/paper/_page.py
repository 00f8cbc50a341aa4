"""Write the page of the paper, the table of its claims, and the files of its parts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import normalhedge
from normalhedge.boundary import number_tables
from normalhedge.boundary.progress import Progress
from normalhedge.reports import Section, write_page
from normalhedge.research.paper import _figures as figures
from normalhedge.research.paper._claim import PaperClaim
from normalhedge.research.paper._part import ALPHA, Measured, PaperSettings
from normalhedge.research.paper._parts import CHOICES, PARTS


def write_paper(
    folder: Path,
    settings: PaperSettings,
    chosen: Sequence[str],
    measured: Measured,
    claims: Sequence[PaperClaim],
    progress: Progress,
) -> list[Path]:
    """Write the files of all parts, the claims and the page; return the paths."""
    files: list[Path] = []
    sections: list[Section] = []
    for part in PARTS:
        progress.done(0, f"writing {part.id}")
        files += part.files(measured, folder)
        sections += part.sections(measured)
    if claims:
        files.append(folder / "claims.parquet")
        rows = [claim.texts() for claim in claims]
        number_tables.write_table(
            files[-1], {name: [row[name] for row in rows] for name in rows[0]}
        )
    subtitle = (
        "Freund and Hsu, A new Hedging algorithm and its application to inferring latent random "
        "variables. Every figure and every claim, measured again."
    )
    files.append(folder / "report.html")
    _write(files[-1], "The paper, reproduced", subtitle, settings, chosen, {}, claims, sections)
    return files


def write_figures(
    folder: Path,
    settings: PaperSettings,
    changes: Mapping[str, float],
    drawn: Sequence[figures.Figure],
    measured: Measured,
) -> list[Path]:
    """Write figures of other settings than the paper's, and their page; return the paths."""
    files = [*figures.files(measured, folder, drawn), folder / "report.html"]
    sections = figures.sections(measured, drawn)
    title = "Figures of the paper, with other settings"
    chosen = [figure.id for figure in drawn]
    _write(files[-1], title, "Not a claim of the paper.", settings, chosen, changes, (), sections)
    return files


def _write(
    path: Path,
    title: str,
    subtitle: str,
    settings: PaperSettings,
    chosen: Sequence[str],
    changes: Mapping[str, float],
    claims: Sequence[PaperClaim],
    sections: list[Section],
) -> None:
    write_page(
        path,
        title=title,
        subtitle=subtitle
        + " A quick run: its verdicts are a first indication only." * settings.quick,
        claims=[claim.texts() | {"kind": claim.verdict.outcome.value} for claim in claims],
        sections=sections,
        command=_command(settings, chosen, changes),
        settings={
            "normalhedge": normalhedge.__version__,
            "numpy": np.__version__,
            "seed": settings.seed,
            "runs": settings.runs,
            "rounds": settings.rounds,
            "α": changes.get("alpha", ALPHA),
        },
    )


def _command(settings: PaperSettings, chosen: Sequence[str], changes: Mapping[str, float]) -> str:
    """Return the command that makes the page again."""
    words = ["normalhedge paper", f"--seed {settings.seed}"]
    words += [f"--{name} {value:g}" for name, value in changes.items()]
    if settings.quick:
        words.append("--quick")
    if len(chosen) < len(CHOICES):
        words += [f"--only {name}" for name in chosen]
    return " ".join(words)
