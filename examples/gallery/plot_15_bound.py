"""
Regret and its bound
====================

NormalHedge with 100 experts that toss coins. The discounted regret to the best expert stays far below the bound, which holds for every sequence
of gains.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge.hedgers import NormalHedge

alpha, rng = 0.01, np.random.default_rng(0)
hedger = NormalHedge(alpha=alpha)
gains = rng.choice([-1.0, 1.0], size=(3000, 100))
run = hedger.run(gains)
regrets, current = np.empty(3000), np.zeros(100)
for t in range(3000):
    current = (1 - alpha) * current + gains[t] - run.gains[t]
    regrets[t] = current.max()

fig, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.plot(regrets, lw=0.8, label="regret to the best expert")
axes.axhline(hedger.bound(100).regret, color="#d55e00", label="proved for every sequence")
axes.set(xlabel="round", ylabel="discounted regret", ylim=(0, None))
axes.legend(frameon=False)
