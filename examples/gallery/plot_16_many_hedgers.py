"""
Five algorithms, one change
===========================

Ten experts; another one is the best from round 500 on. Algorithms that forget move on at once, and an algorithm that never forgets has to
wait.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge.hedgers import AdaHedge, DecreasingHedge, FixedShare, NormalHedge, Squint

rng = np.random.default_rng(0)
gains = rng.choice([-1.0, 1.0], size=(1000, 10))
gains[:500, 2] = gains[500:, 7] = rng.choice([-1.0, 1.0], p=[0.2, 0.8], size=500)
hedgers = {
    "NormalHedge, memory 100": NormalHedge(memory=100),
    "Squint, memory 100": Squint(alpha=0.01),
    "Fixed Share": FixedShare(0.1, 0.01),
    "AdaHedge, never forgets": AdaHedge(),
    "Hedge, never forgets": DecreasingHedge(),
}

fig, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
for name, hedger in hedgers.items():
    axes.plot(hedger.run(gains, keep_weights=True).weights[:, 7], lw=1, label=name)
axes.axvline(500, ls=":", color="grey")
axes.set(xlabel="round", ylabel="weight of the new best")
fig.legend(loc="outside upper center", ncols=3, frameon=False)
