"""
A newcomer, and one that leaves
===============================

A better model joins after 100 rounds, and leaves after 250. It begins with a third of the weight, and has nearly all of it after
some eighty rounds. When it leaves, the other two share its weight.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge import Mixture

rng = np.random.default_rng(0)
mixture, noise = Mixture(), {"old": 2.0, "older": 3.0, "newcomer": 0.4}
weights = np.zeros((350, 3))
for t in range(350):
    truth = 10 * np.sin(t / 20)
    awake = [name for name in noise if name != "newcomer" or 100 <= t < 250]
    today = mixture.predict({name: truth + rng.normal(0, noise[name]) for name in awake})
    weights[t] = [today.weights.get(name, 0.0) for name in noise]
    mixture.update(today.ticket, truth)

fig, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.stackplot(range(350), weights.T, labels=noise, alpha=0.8, lw=0)
axes.set(xlabel="round", ylabel="weight", ylim=(0, 1))
axes.margins(x=0)
fig.legend(loc="outside upper center", ncols=3, frameon=False)
