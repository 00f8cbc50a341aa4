"""
One action at a time
====================

Three options whose gains change places twice. Only the gain of the chosen option is known. The router finds the best option again
within some hundred rounds of each change.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge import Router

rounds, best = 6000, [0.5, 0.8, 0.3]
rng = np.random.default_rng(0)
router = Router(["small", "medium", "large"], seed=0)
shares = np.empty((rounds, 3))
for t in range(rounds):
    means = np.roll(best, t // 2000)
    shares[t] = [*router.probabilities().values()]
    choice = router.choose()
    router.reward(choice.ticket, float(rng.random() < means[router.actions.index(choice.action)]))

fig, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
axes.stackplot(range(rounds), shares.T, labels=router.actions, alpha=0.8, lw=0)
for change in (2000, 4000):
    axes.axvline(change, ls=":", color="black")
axes.set(xlabel="round", ylabel="probability of the choice", ylim=(0, 1))
axes.margins(x=0)
fig.legend(loc="outside upper center", ncols=3, frameon=False)
