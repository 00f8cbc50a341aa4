"""What the core adds up on the way, for summaries and reports (``src/core/mixture.hpp``)."""

WEIGHT, AWAKE, LOSS, BLEND_LOSS, SCORED, ABSURD = range(6)
"""What is summed for each expert: its weights, the rows it was awake in; and of those that were
settled its losses, the blend's losses beside them, and how many they are; and how many of its
forecasts the guard moved."""

ROWS, SILENT, SETTLED, BLEND, UNIFORM, STEPS, WILD, REGRET, LOG_POTENTIAL = range(9)
"""What is summed for the blend: rows, those without anybody awake, those settled, the losses of the
blend and of uniform weights in them, the rounds played, forecasts that were infinite; and the
largest regret and logarithm of the average potential so far."""

FIRST, LAST, SINCE = range(3)
"""The rounds in which an expert was first and last awake, and since which it carries weight: at
least the share that uniform weights would give it. -1: never, or not now."""

EXPERT_SUMS, TOTAL_SUMS, MARKS = 6, 9, 3
"""How many of each there are."""
