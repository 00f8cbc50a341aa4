"""Section 3.2: the time that the weights take to follow."""

import math

import numpy as np
import pytest

from normalhedge.research.games import GoodAndBad
from normalhedge.research.paper import _switching as switching
from normalhedge.research.paper._claim import FAILS, HOLDS, Outcome
from normalhedge.research.paper._part import QUICK


def test_times_to_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    def carried(nature: GoodAndBad, rounds: int, _: object) -> np.ndarray:
        shifts = rounds // nature.shift
        one = np.zeros((3, shifts, nature.shift // switching.SWITCH_EVERY))
        one[:, :, 3:] = 0.6  # seen first after 40 rounds
        one[2] = 0.4
        return one.reshape(3, -1)

    monkeypatch.setattr(switching, "good_weight", carried)
    times = switching.measure(QUICK)["times"]
    np.testing.assert_allclose(times[:, :2], 0.04)
    assert np.isinf(times[:, 2]).all()
    assert switching.switching_claim({"times": times}).verdict == FAILS


def test_the_verdict_can_turn() -> None:
    times = np.full((len(switching.SWITCH_SETTINGS), 3, 2, 2), 0.5)
    assert switching.switching_claim({"times": times}).verdict == HOLDS
    times[0] = math.inf
    verdict = switching.switching_claim({"times": times}).verdict
    assert verdict.outcome is Outcome.PARTLY
    assert verdict.condition == "if not γ = 0.2, f = 0.001"


def test_the_measured_times_are_judged() -> None:
    (claim,) = switching.PART.judge({"switch": switching.measure(QUICK)})
    assert claim.where == "Section 3.2"
