"""The fault bench in its short form; `nox -s torture` runs the long one."""

import subprocess
import sys

import pytest

from tests.torture.__main__ import KINDS
from tests.torture.command import PYTHON

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it forks and sends signals")


@pytest.mark.parametrize("kind", KINDS)
def test_no_fault_does_harm(kind: str) -> None:
    found = subprocess.run(
        [*PYTHON, "-m", "tests.torture", "--quick", "--only", kind],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
