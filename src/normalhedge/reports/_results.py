"""Results of Python, written as pages in one call."""

from pathlib import Path

import numpy as np

import normalhedge
from normalhedge.boundary.terminal import counted
from normalhedge.latent.regimes import Forecast, Inferred, baselines
from normalhedge.reports._blend import write_blend
from normalhedge.reports._latent import write_inferred
from normalhedge.reports.analysis import review
from normalhedge.tables import Blend, timeline


def report_blend(result: Blend, path: Path, *, title: str = "") -> None:
    """Write the page of a blend.

    Parameters
    ----------
    result
        The result of `normalhedge.blend`.
    path
        The file to write.
    title
        The title of the page; by default the column of outcomes.
    """
    check_page(path)
    write_blend(
        path,
        result.summary(),
        timeline(result),
        review(result),
        title=title or f"{result.columns.target}, blended",
        notes=result.notes,
        command=f"blend(...).report({path.name!r})",
        settings=_versions(),
    )


def report_inferred(
    inferred: Inferred, path: Path, *, title: str = "", ahead: Forecast | None = None
) -> None:
    """Write the page of the regimes of a series.

    Parameters
    ----------
    inferred
        The result of `normalhedge.latent.infer`.
    path
        The file to write.
    title
        The title of the page.
    ahead
        A forecast for the page; None to leave it out.
    """
    check_page(path)
    regimes = inferred.live.regimes
    write_inferred(
        path,
        inferred,
        baselines(inferred.sequence),
        title=title or "Regimes of a series",
        subtitle=f"{counted(regimes.rounds, 'round')}, "
        f"{counted(len(inferred.hindsight.parameters), 'regime')}",
        command=f"infer(...).report({path.name!r})",
        settings=_versions(),
        ahead=ahead,
    )


def check_page(path: Path) -> None:
    """Refuse a page whose name or folder is not as it must be."""
    if path.suffix.lower() not in {".html", ".htm"}:
        raise ValueError(f"path must end in .html, got {str(path)!r}")
    if not path.resolve().parent.is_dir():
        raise ValueError(f"path must be in a folder that exists, got {str(path)!r}")


def _versions() -> dict[str, object]:
    return {"normalhedge": normalhedge.__version__, "numpy": np.__version__}
