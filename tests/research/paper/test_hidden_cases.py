"""The sequences of Section 5 are drawn as their docstrings say."""

import numpy as np

from normalhedge.research.paper import _hidden_cases as hidden_cases


def test_sequences_of_two_states_are_drawn_as_they_say() -> None:
    rng = np.random.default_rng(0)
    state, expected = 0, []
    for _ in range(300):
        if rng.random() > 0.9:
            state = 1 - state
        expected.append(float(rng.random() < (0.8, 0.3)[state]))
    drawn = hidden_cases.draw_two_states(300, 0.9, 0.8, 0.3, np.random.default_rng(0))
    assert drawn.tolist() == expected
