"""
Quantiles of several models
===========================

Two models forecast nine quantiles. One is too narrow and one is biased; both faults are mended from the outcomes. The blend is drawn
as a fan.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from normalhedge import Mixture

levels = np.round(np.arange(0.1, 1.0, 0.1), 1)
rng = np.random.default_rng(0)
mixture = Mixture(loss="crps:levels=" + "/".join(map(str, levels)))
fan, truth = np.empty((200, 9)), np.empty(200)
for t in range(200):
    mean = 5 * np.sin(t / 15)
    said = {"narrow": mean + 0.4 * norm.ppf(levels), "biased": mean + 2 + norm.ppf(levels)}
    today = mixture.predict(said)
    fan[t], truth[t] = today.value, mean + rng.normal()
    mixture.update(today.ticket, truth[t])

fig, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
for k in range(4):
    axes.fill_between(range(200), fan[:, k], fan[:, 8 - k], color="#0072b2", alpha=0.2, lw=0)
axes.plot(fan[:, 4], color="#0072b2", lw=1, label="median of the blend")
axes.plot(truth, ".", ms=4, color="#d55e00", label="outcome")
axes.set(xlabel="round")
axes.legend(frameon=False, ncols=2)
