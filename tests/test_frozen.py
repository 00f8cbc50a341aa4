"""What the package computes is what it computed before its engine was rewritten."""

import functools

import numpy as np
import pytest

from tests.frozen.case import NO_NUDGE, TIGHT
from tests.frozen.cases import CASES, CHANGED
from tests.frozen.frozen import Frozen, how_far

frozen = functools.cache(Frozen)


@pytest.mark.parametrize("name", CASES)
def test_it_comes_out_as_it_did(name: str) -> None:
    case = CASES[name]
    far = how_far(case.run(NO_NUDGE), frozen()[name])
    moved = {array: f"{by:.1e}" for array, by in far.items() if not by <= case.tolerance}
    assert not moved, f"moved by more than {case.tolerance:g}: {moved}"


def test_every_case_is_frozen() -> None:
    assert [name for name in frozen().index if name not in CHANGED] == list(CASES)


def test_what_moves_is_noticed() -> None:
    before = frozen()["game/normal-hedge/alpha 0.02/7 experts"]
    for name, array in before.items():
        if not np.isfinite(array).any():
            continue
        moved = array.copy()
        place = np.nanargmax(np.abs(moved))
        moved.ravel()[place] += 1e-11 * max(1.0, abs(moved.ravel()[place]))
        far = how_far(before | {name: moved}, before)
        assert far[name] > TIGHT
        assert max(by for other, by in far.items() if other != name) == 0.0
    gone = {name: array for name, array in before.items() if name != "uniform/gains"}
    assert how_far(gone, before)["uniform/gains"] == np.inf
    assert how_far(before, gone)["uniform/gains"] == np.inf
    unknown = before | {"uniform/gains": np.full_like(before["uniform/gains"], np.nan)}
    assert how_far(unknown, before)["uniform/gains"] == np.inf
    assert how_far(before, before) == dict.fromkeys(before, 0.0)
