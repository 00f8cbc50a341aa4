"""The fingerprint of the code: saved numbers are valid only for the code that computed them."""

import hashlib
from collections.abc import Collection, Mapping
from importlib import metadata
from pathlib import Path

from normalhedge import _core

SHOWN = (
    "cli",
    "integrations",
    "reports",
    "research/paper/_claim.py",
    "research/paper/_comparisons.py",
    "research/paper/_hidden_claims.py",
    "research/paper/_page.py",
    "research/paper/_parts.py",
    "research/leaderboard/_page.py",
    "research/leaderboard/_standings.py",
)
"""Code that only lists, judges or shows numbers, or has others compute them; it is part of no
fingerprint."""

PAPER, LEADERBOARD = "research/paper", "research/leaderboard"

UPPER = ("latent", "mixtures", "tables")
"""Layers that the layers below them do not import; part of a fingerprint only if named."""

LIBRARIES = ("numpy", "scipy", "latent/hmmlearn")
"""Other packages that take part in the arithmetic; hmmlearn counts as part of ``latent``."""

PACKAGE = Path(__file__).parents[1]


def contents(package: Path, core: Path) -> dict[str, str]:
    """Return a hash for each source file, each proof, the compiled core and the libraries."""
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


# Computed at import: a file that is edited later does not change the code that runs.
NOW = contents(PACKAGE, Path(_core.__file__))


def fingerprint(*upper: str, without: Collection[str] = (), code: Mapping[str, str] = NOW) -> str:
    """Return a hash of all code that computes certain numbers.

    Another algorithm may have computed the numbers that were saved under another fingerprint. A
    change of a file in `SHOWN` does not change the fingerprint.

    Examples
    --------
    >>> fingerprint() == fingerprint("latent")
    False
    """
    unknown = set(upper) - set(UPPER)
    if unknown:
        raise ValueError(f"upper must be of {', '.join(UPPER)}, got {min(unknown)}")
    left_out = (*SHOWN, *without, *(set(UPPER) - set(upper)))
    parts = [
        f"{name} {file_hash}\n"
        for name, file_hash in sorted(code.items())
        if not any(name == part or name.startswith(f"{part}/") for part in left_out)
    ]
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:32]
