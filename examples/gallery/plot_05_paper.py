"""
A figure of the paper
=====================

Freund and Hsu let NormalHedge and Hedge play against a nature with a few good experts, which change every 1,000 rounds. This is
a panel of their figures with 5 runs in place of 50. ``normalhedge paper`` replays all of them.
"""

# %%
import matplotlib.pyplot as plt

from normalhedge import NormalHedge
from normalhedge.hedgers import Hedge
from normalhedge.research.games import GoodAndBad, play

alpha, experts = 0.001, 1000
hedgers = {
    "Hedge, the rate of the simulations": Hedge.simulated(alpha, experts),
    "Hedge, the rate that the paper derives": Hedge.derived(alpha, experts),
    "NormalHedge, c = 1": NormalHedge(alpha, c=1.0),
    "NormalHedge, c = 4": NormalHedge(alpha, c=4.0),
}
styles = {"color": ["black", "gray", "#0072b2", "#009e73"], "linestyle": ["-", "-.", "-", ":"]}
fig, both = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for axes, f in zip(both, (0.001, 0.1), strict=True):
    trace = play(
        hedgers, GoodAndBad(experts, gamma=0.4, f=f, alpha=alpha), 10_000, runs=5, every=20
    )
    for k, name in enumerate(trace.hedgers):
        look = {key: values[k] for key, values in styles.items()}
        axes.plot(trace.rounds, trace.regret.mean[k], label=name, **look)
    axes.set(xlabel="round", title=f"{round(f * experts)} good of {experts} experts")
both[0].set_ylabel("discounted regret to the best expert")
fig.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
