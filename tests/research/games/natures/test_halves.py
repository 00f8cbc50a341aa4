"""The attack of the errata."""

import numpy as np

from normalhedge.research.games import BreakAway
from tests.adversaries import alternate_then_break_away
from tests.research.games.natures.examples import drawn


def test_break_away_is_the_attack_of_the_errata() -> None:
    nature = BreakAway(9, 0.01)
    np.testing.assert_array_equal(drawn(nature, nature.rounds), alternate_then_break_away(9, 0.01))
