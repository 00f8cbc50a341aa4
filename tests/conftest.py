"""Settings of the tests."""

import shutil
from glob import glob

import pytest
from hypothesis import settings

settings.register_profile("normalhedge", deadline=None)  # a busy machine is no failure
settings.load_profile("normalhedge")

PROGRAMS = {
    "Chromium": ("chromium", "chromium-browser"),
    "PostgreSQL": ("initdb", *glob("/usr/lib/postgresql/*/bin/initdb")),
}
"""Programs that tests use, and are skipped without."""


SLOW_VARIANTS = (
    "test_torture.py::test_no_fault_does_harm[standby]",
    "test_all_or_nothing.py::test_a_lack_of_memory_changes_nothing[auto]",
    "test_blocking.py::test_nothing_is_learned_twice_where_connections_break[1]",
    "test_recovery.py::test_a_restart_leads_to_the_same_state_to_the_bit[sqlite-60]",
    "test_recovery.py::test_a_restart_leads_to_the_same_state_to_the_bit[sqlite-100000]",
    "test_paper.py::test_a_killed_run_is_continued[9]",
    "test_streaming.py::test_what_was_answered_is_there_after_any_end[15]",
)
"""Variants that take long, and whose sisters run the same code."""

SLOW_ON_POSTGRES = (
    "test_budgets.py::test_a_large_snapshot_is_made_aside[postgres",
    "test_budgets.py::test_history_by_cursor_is_the_whole_history[postgres",
    "test_checksums.py::test_a_bit_of_the_file_is_noticed[postgres",
    "test_compaction.py::test_",
    "test_delays.py::test_overdue_rounds_are_overdue_after_a_restart[postgres",
    "test_recovery.py::test_a_restart_leads_to_the_same_state_to_the_bit[postgres",
)
"""Tests whose run on the second database takes long, and is about the same code."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark long variants as slow."""
    for item in items:
        name = item.nodeid.rpartition("/")[2]
        second = "[postgres" in name and name.startswith(SLOW_ON_POSTGRES)
        if second or name in SLOW_VARIANTS:
            item.add_marker(pytest.mark.slow)


def pytest_report_header() -> list[str]:
    """Name the absent programs at the start, as the end only counts skipped tests."""
    absent = [name for name, paths in PROGRAMS.items() if not any(map(shutil.which, paths))]
    if not absent:
        return []
    return [f"absent, so that some tests are skipped: {', '.join(absent)} (see `make system`)"]
