"""The sums that the core keeps for summaries and reports (``src/core/mixture.hpp``)."""

WEIGHT, AWAKE, LOSS, BLEND_LOSS, SCORED, ABSURD = range(6)
"""The sums of an expert: its weights; the number of rows in which it was awake; over the settled
ones among them its losses, the losses of the blend, and their number; and the number of its
forecasts that the guard moved."""

CROSSED = 6
"""A further sum of an expert where forecasts are quantiles: how many of them crossed."""

ROWS, SILENT, SETTLED, BLEND, UNIFORM, STEPS, WILD, REGRET, LOG_POTENTIAL = range(9)
"""The sums of the blend: the numbers of rows, of rows without any expert awake and of settled rows;
the losses of the blend and of uniform weights in settled rows; the numbers of rounds learned from
and of infinite forecasts; the largest regret in units of the loss, and the largest logarithm of the
average potential."""

FIRST, LAST, SINCE = range(3)
"""The rounds in which an expert was first and last awake, and the round since which its weight has
been at least the uniform weight. -1 stands for never, or not now."""

EXPERT_SUMS, TOTAL_SUMS, MARKS = 6, 9, 3
"""The number of sums of an expert without `CROSSED`, of sums of the blend, and of marks of an
expert."""
