"""
The attack that refutes a bound
===============================

The paper says that the regret of discounted Hedge is at most :math:`\\sqrt{\\ln N / (\\alpha - \\alpha^2/2)}`. It is not. For a while the two
halves of the experts win in turns; then one expert wins for good. Hedge ends far above the line; NormalHedge stays below its own bound.
"""

# %%
import math

import matplotlib.pyplot as plt

from normalhedge import NormalHedge
from normalhedge.hedgers import Hedge
from normalhedge.research.games import BreakAway, play

alpha, experts = 0.001, 1000
hedgers = {
    "Hedge, the rate of the paper": Hedge.derived(alpha, experts),
    "NormalHedge, c = 1": NormalHedge(alpha),
}
trace = play(hedgers, BreakAway(experts, alpha), round(12 / alpha), every=10)
claimed = math.sqrt(math.log(experts) / (alpha - alpha**2 / 2))

fig, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for k, (name, color) in enumerate(zip(trace.hedgers, ("black", "#0072b2"), strict=True)):
    axes.plot(trace.rounds, trace.regret.mean[k], color=color, label=name)
axes.axhline(claimed, color="black", linestyle=":", label="claimed of Hedge: does not hold")
axes.axhline(
    NormalHedge(alpha).bound(experts).regret,
    color="#0072b2",
    linestyle=":",
    label="proved of NormalHedge",
)
axes.set(xlabel="round", ylabel="discounted regret")
axes.legend(frameon=False)
