"""
The frontier of c
=================

The bound of NormalHedge depends on its constant c. The line is the certified bound on the regret of 1,000 experts, for all
gains whatsoever. The dots are regrets that an adversary reaches. The truth lies between.
"""

# %%
import math

import matplotlib.pyplot as plt

from normalhedge.guarantees import certify
from normalhedge.hedgers import Hedge
from normalhedge.research.games.attacks import break_away

alpha, experts = 0.001, 1000
constants = [0.6, 0.7, 0.8, 1.0, 1.4, 2.0, 2.8, 4.0]
bounds = [certify(alpha, experts, c, tolerance=1e-3).scaled_regret for c in constants]
reached = [break_away(alpha, experts, c).regret for c in constants]
hedge = math.sqrt(alpha) * Hedge.corrected(alpha, experts).bound(experts).regret

fig, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.plot(constants, bounds, color="#0072b2", label="NormalHedge never exceeds")
axes.plot(constants, reached, "o", color="#d55e00", label="an attack on NormalHedge reaches")
axes.axhline(
    hedge,
    color="black",
    linestyle="--",
    label="Hedge, tuned to the number of experts, never exceeds",
)
axes.axhline(
    math.sqrt(8 * math.log(2.32 * experts)),
    color="gray",
    linestyle=":",
    label="Theorem 1 of the paper, c = 4 and smaller rates",
)
axes.set(xscale="log", xlabel="c", ylabel="regret, in units of $1/\\sqrt{\\alpha}$", ylim=(0, 9))
axes.set_xticks([0.6, 1, 2, 4], labels=["0.6", "1", "2", "4"])
axes.minorticks_off()
axes.legend(frameon=False, loc="lower right", fontsize="small")

# %%
# The paper has c = 4. The bound is least near c = 0.73, and 1 is the default.
for c, bound, regret in zip(constants, bounds, reached, strict=True):
    print(f"c = {c:<4} bound {bound:.3f}   attack {regret:.3f}")
