"""Gains of a nature, all at once."""

import numpy as np

from normalhedge.research.games import Nature


def drawn(nature: Nature, rounds: int, seed: int = 0) -> np.ndarray:
    return np.concatenate(list(nature.gains(rounds, np.random.default_rng(seed))))
