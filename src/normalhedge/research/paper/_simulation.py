"""The numbers that the simulations of Section 4 of the paper have in common."""

ALPHA = 0.001
"""The discount rate."""

PRINTED_C = (1.0, 2.0, 4.0)
"""The parameters c of NormalHedge in the figures of the paper."""

GAMMAS = (0.2, 0.4, 0.6, 0.8)
"""The edges of the good experts over chance."""
