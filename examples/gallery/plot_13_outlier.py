"""
A forecast gone wild
====================

One model sends a number a hundred times too large in a few rounds. The plain mean follows it. The blend hardly moves: its guard
clips a forecast to within ten median deviations of the median.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge import Mixture

rng = np.random.default_rng(0)
mixture, mean, blend, truth = Mixture(), np.empty(150), np.empty(150), np.empty(150)
for t in range(150):
    truth[t] = 20 + 3 * np.sin(t / 12)
    said = {name: truth[t] + rng.normal(0, 0.7) for name in "abcde"}
    if t in {50, 51, 100}:
        said["c"] *= 100
    today = mixture.predict(said)
    mean[t], blend[t] = np.mean([*said.values()]), today.value
    mixture.update(today.ticket, truth[t])

fig, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.plot(mean, lw=1, color="#d55e00", label="plain mean")
axes.plot(blend, lw=1.5, color="#0072b2", label="blend")
axes.plot(truth, ":", color="grey", label="outcome")
axes.set(ylim=(10, 45), xlabel="round")
axes.legend(frameon=False, ncols=3)
