"""What is added up on the way, for summaries and reports; compiled."""

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel

WEIGHT, AWAKE, LOSS, BLEND_LOSS, SCORED = range(5)
"""What is summed for each expert: its weights, the rows it was awake in; and of those that were
settled its losses, the blend's losses beside them, and how many they are."""

ROWS, SILENT, SETTLED, BLEND, UNIFORM, STEPS, WILD, REGRET, LOG_POTENTIAL = range(9)
"""What is summed for the blend: rows, those without anybody awake, those settled, the losses of the
blend and of uniform weights in them, the rounds played, forecasts that were infinite; and the
largest regret and logarithm of the average potential so far."""

FIRST, LAST, SINCE = range(3)
"""The rounds in which an expert was first and last awake, and since which it carries weight: at
least the share that uniform weights would give it. -1: never, or not now."""

EXPERT_SUMS, TOTAL_SUMS, MARKS = 5, 9, 3
"""How many of each there are."""


@kernel(VECTOR, inline=False)
def mark(
    number: int,
    weights: Floats,
    seen: Floats,
    first: np.ndarray,
    last: np.ndarray,
    since: np.ndarray,
) -> None:
    """Note when the experts that are awake in a round were, and whether they carry weight."""
    share_of_all = (1.0 - 1e-9) / weights.size
    for i in range(weights.size):
        here = seen[i] > 0.0
        last[i] = number if here else last[i]
        first[i] = number if here and first[i] < 0 else first[i]
        carries = since[i] if since[i] >= 0 else number
        carries = carries if weights[i] >= share_of_all else -1
        since[i] = carries if here else since[i]


@kernel(VECTOR, inline=False)
def add_weights(rated: Floats, heard: Floats, seen: Floats, awake: Floats, weight: Floats) -> None:
    """Add what was played to the sums."""
    for i in range(rated.size):
        here = 1.0 if rated[i] > 0.0 else 0.0
        seen[i] += here
        awake[i] += here
        weight[i] += heard[i]


@kernel(VECTOR, inline=False)
def add_losses(
    rated: Floats, losses: Floats, blend: float, loss: Floats, beside: Floats, scored: Floats
) -> None:
    """Add the losses of those awake, and the blend's beside them, to the sums."""
    for i in range(rated.size):
        here = rated[i] > 0.0
        loss[i] += losses[i] if here else 0.0
        beside[i] += blend if here else 0.0
        scored[i] += 1.0 if here else 0.0
