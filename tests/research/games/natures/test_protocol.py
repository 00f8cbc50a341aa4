"""What holds of every nature."""

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import Squint
from normalhedge.research.games import Nature, natures
from tests.research.games.natures.examples import drawn

NATURES: list[Nature] = [
    natures.GoodAndBad(30, 0.4, 0.1, 0.01),
    natures.IndependentCoins(30, 0.2, 0.5),
    natures.BreakAway(7, 0.05),
    natures.Blocks(7, 4),
    natures.Greedy(6, NormalHedge(0.05)),
    natures.Contrary(6, Squint()),
    natures.Replay(np.random.default_rng(0).uniform(-1, 1, (700, 3))),
]


@pytest.mark.parametrize("nature", NATURES, ids=repr)
def test_a_nature_is_a_nature(nature: Nature) -> None:
    assert isinstance(nature, Nature)
    gains = drawn(nature, 600)
    assert gains.shape == (600, nature.experts)
    assert np.abs(gains.astype(float)).max() <= 1.0
    np.testing.assert_array_equal(gains, drawn(nature, 600))
    for block in nature.gains(3, np.random.default_rng(0)):
        assert len(block) <= 3


def test_natures_know_when_they_change() -> None:
    moving = natures.GoodAndBad(10, 1.0, 0.1, 0.1)
    assert moving.switches(35).tolist() == [10, 20, 30]
    gains = np.concatenate(list(moving.gains(35, np.random.default_rng(0))))
    for start in (0, *moving.switches(35)):
        assert (gains[start : start + 5, start // 10] == 1).all()
    assert natures.Blocks(4, 3).switches(10).tolist() == [3, 6, 9]
    breaking = natures.BreakAway(4, 0.5)
    gains = np.concatenate(list(breaking.gains(70, np.random.default_rng(0))))
    alone = (gains == [1, -1, -1, -1]).all(axis=1)
    assert breaking.switches(70).tolist() == (1 + np.flatnonzero(np.diff(alone))).tolist()
