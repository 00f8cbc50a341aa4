"""Settings of the tests."""

import shutil
from glob import glob

from hypothesis import settings

settings.register_profile("normalhedge", deadline=None)  # a busy machine is no failure
settings.load_profile("normalhedge")

PROGRAMS = {
    "Chromium": ("chromium", "chromium-browser"),
    "PostgreSQL": ("initdb", *glob("/usr/lib/postgresql/*/bin/initdb")),
}
"""Programs that tests use, and are skipped without."""


def pytest_report_header() -> list[str]:
    """Name the absent programs at the start, as the end only counts skipped tests."""
    absent = [name for name, paths in PROGRAMS.items() if not any(map(shutil.which, paths))]
    if not absent:
        return []
    return [f"absent, so that some tests are skipped: {', '.join(absent)} (see `make system`)"]
