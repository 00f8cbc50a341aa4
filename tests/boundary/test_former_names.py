"""Packages that moved still import under their former names, with a warning."""

import importlib
import pickle
import subprocess
import sys

import pytest

from normalhedge.boundary.former_names import FORMER, MOVED
from normalhedge.hedgers import AdaHedge


@pytest.mark.parametrize(("former", "present"), FORMER.items())
def test_a_former_name_is_the_present_module(former: str, present: str) -> None:
    program = (
        "import importlib, warnings\n"
        "import normalhedge\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        f"    former = importlib.import_module({former!r})\n"
        f"assert former is importlib.import_module({present!r})\n"
        f"assert {present!r} in str(caught[0].message), caught\n"
        "assert caught[0].category is DeprecationWarning\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_modules_below_a_former_name_are_loaded_once() -> None:
    program = (
        "import normalhedge\n"
        "from normalhedge.games.natures.greedy import Greedy\n"
        "from normalhedge.research import games\n"
        "assert Greedy is games.Greedy\n"
        "try:\n"
        "    import normalhedge.games.nothing\n"
        "except ModuleNotFoundError as error:\n"
        "    assert error.name == 'normalhedge.games.nothing'\n"
        "else:\n"
        "    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_a_program_runs_under_its_former_name() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "normalhedge.certificates.check_proof"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "usage" in run.stdout + run.stderr


@pytest.mark.parametrize(("former", "present"), MOVED.items())
def test_a_module_that_moved_is_found(former: str, present: str) -> None:
    sys.modules.pop(former, None)
    with pytest.warns(DeprecationWarning, match=present):
        assert importlib.import_module(former) is importlib.import_module(present)


def test_pickles_of_the_last_release_are_read() -> None:
    hedger = b"cnormalhedge.hedgers.ada_hedge\nAdaHedge\n)R."  # protocol 0, by name
    sys.modules.pop("normalhedge.hedgers.ada_hedge", None)
    with pytest.warns(DeprecationWarning, match="_ada_hedge"):
        assert pickle.loads(hedger) == AdaHedge()
