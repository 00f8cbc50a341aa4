"""Attacks on any hedger."""

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import Hedge
from normalhedge.research.games import Holding, play
from normalhedge.research.games.attacks import break_away, provoke
from tests.test_own_hedgers import Own


def test_holding_keeps_the_weight_near_the_share() -> None:
    hedger = NormalHedge(0.01)
    nature = Holding(10, hedger, held=2, share=0.3, until=400)
    gains = np.concatenate(list(nature.gains(600, np.random.default_rng(0))))
    weights = hedger.run(gains, keep_weights=True).weights
    assert weights is not None
    held = weights[:400, :2].sum(axis=1)
    assert ((held < 0.3 - 1e-9) == (gains[:400, 0] == 1)).all()
    assert abs(held[200:].mean() - 0.3) < 0.1
    np.testing.assert_array_equal(gains[400:], [[1] + [-1] * 9] * 200)


@pytest.mark.parametrize("hedger", [NormalHedge(0.02), Hedge.corrected(0.02, 6), Own(0.02)])
def test_the_attack_reaches_what_it_says(hedger: object) -> None:
    found = provoke(hedger, 6, 150)  # type: ignore[arg-type]
    trace = play(hedger, found.nature, 150)  # type: ignore[arg-type]
    assert trace.highest_regret[0] == found.regret
    assert found.discount == 0.02
    if not isinstance(hedger, Own):
        assert found.regret <= hedger.bound(6).regret  # type: ignore[attr-defined]


def test_it_finds_what_the_attacks_on_normalhedge_find() -> None:
    known = break_away(0.02, 6, 1.0)
    found = provoke(NormalHedge(0.02), 6, 300)
    assert found.regret >= 0.95 * known.regret / np.sqrt(0.02)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"experts": 1}, "experts must be at least 2"),
        ({"held": 6}, "held must be at most 5"),
        ({"share": 1.0}, "share must be strictly between 0 and 1"),
        ({"until": -1}, "until must be at least 0"),
    ],
)
def test_bad_plans(options: dict[str, object], words: str) -> None:
    arguments = {"experts": 6, "target": NormalHedge(0.1)} | options
    with pytest.raises(ValueError, match=words):
        Holding(**arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="target must be a hedger"):
        Holding(6, NormalHedge)  # type: ignore[arg-type]
