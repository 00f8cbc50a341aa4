"""The nature that lets a hedger earn nothing."""

import pytest

from normalhedge import NormalHedge
from normalhedge.boundary.specs import make
from normalhedge.hedgers import HEDGERS
from normalhedge.research.games import Contrary
from tests.research.games.natures.examples import drawn


@pytest.mark.parametrize("name", [name for name in HEDGERS if name != "hedge-fixed"])
def test_against_the_contrary_nobody_earns_anything(name: str) -> None:
    target = make("hedger", name, HEDGERS, alpha=0.02, n_experts=9)
    gains = drawn(Contrary(9, target), 150)
    earned = target.run(gains).gains
    assert earned.max() <= 1e-8
    assert (gains == 1).any(axis=1).all() or name == "follow-the-leader"


def test_the_contrary_needs_a_hedger() -> None:
    with pytest.raises(TypeError, match="target must be a hedger"):
        Contrary(3, "hedge")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 2"):
        Contrary(1, NormalHedge(0.1))
