"""Write the page of the paper, the table of its claims, and the files of its parts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import normalhedge
from normalhedge.boundary import number_tables
from normalhedge.boundary.progress import Progress
from normalhedge.reports import write_page
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
    sections = []
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
    files.append(folder / "report.html")
    write_page(
        files[-1],
        title="The paper, reproduced",
        subtitle="Freund and Hsu, A new Hedging algorithm and its application to inferring latent "
        "random variables. Every figure and every claim, measured again."
        + " A quick run: its verdicts are a first indication only."
        * settings.quick,
        claims=[claim.texts() | {"kind": claim.verdict.outcome.value} for claim in claims],
        sections=sections,
        command=_command(settings, chosen),
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


def _command(settings: PaperSettings, chosen: Sequence[str]) -> str:
    """Return the command that makes the page again."""
    words = ["normalhedge paper", f"--seed {settings.seed}"]
    if settings.quick:
        words.append("--quick")
    if len(chosen) < len(CHOICES):
        words += [f"--only {name}" for name in chosen]
    return " ".join(words)
