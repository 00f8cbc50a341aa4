"""What kept numbers depend on beside their settings: the code that computes them."""

import hashlib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from normalhedge import _core

SHOWN = (
    "cli",
    "reports",
    "plots.py",
    "experiments/claims.py",
    "experiments/hidden_claims.py",
    "experiments/leaderboard_page.py",
    "experiments/recommendation.py",
    "experiments/standings.py",
)
"""What only judges or shows numbers that are computed already."""

UPPER = ("latent", "mixtures")
"""Layers that do not import each other, nor are imported by the layers below them."""

LIBRARIES = ("numpy", "scipy", "latent/hmmlearn")
"""Other packages whose arithmetic is in the numbers; the last in those of hidden states only."""

PACKAGE = Path(__file__).parents[1]


def contents(package: Path, core: Path) -> dict[str, str]:
    """Return a hash for each part of the code: sources and proofs, the compiled core, libraries.

    Parameters
    ----------
    package, core
        The folder of the package, and the file of its compiled module.
    """
    files = {
        path.relative_to(package).as_posix(): path
        for ending in ("py", "json")
        for path in package.rglob(f"*.{ending}")
    }
    hashes = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in (files | {"core": core}).items()
    }
    return hashes | {name: _version(name.rpartition("/")[2]) for name in LIBRARIES}


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "none"


# Read when the code is imported: a file that is edited later does not change what runs.
NOW = contents(PACKAGE, Path(_core.__file__))


def fingerprint(*upper: str, code: Mapping[str, str] = NOW) -> str:
    """Return a hash of all code that computes.

    Numbers that were kept under another fingerprint may be those of another algorithm. What is in
    `SHOWN` may change without another fingerprint.

    Parameters
    ----------
    upper
        Which of `UPPER` the numbers come from; the layers below them always take part.
    code
        The `contents` of a package.
    """
    unknown = set(upper) - set(UPPER)
    if unknown:
        raise ValueError(f"upper must be of {', '.join(UPPER)}, got {min(unknown)}")
    without = (*SHOWN, *(set(UPPER) - set(upper)))
    parts = [
        f"{name} {hashed}\n"
        for name, hashed in sorted(code.items())
        if not any(name == part or name.startswith(f"{part}/") for part in without)
    ]
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:32]
