"""
Intervals that keep their promise
=================================

The noise of a series triples after 300 rounds. An interval that should cover 90 % covers too few outcomes at first, then
widens, and after a hundred rounds covers 90 % again.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge import Mixture

rng = np.random.default_rng(1)
mixture = Mixture(interval=0.9)
truth, low, high = np.empty(600), np.empty(600), np.empty(600)
for t in range(600):
    level = 10 * np.sin(t / 40)
    today = mixture.predict({"a": level + rng.normal(0, 0.5), "b": level + rng.normal(0, 1.0)})
    low[t], high[t] = today.interval
    truth[t] = level + rng.normal(0, 1 if t < 300 else 3)
    mixture.update(today.ticket, truth[t])

fig, (above, below) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
above.fill_between(range(30, 600), low[30:], high[30:], alpha=0.3, label="interval of 90 %")
above.plot(truth, ".", ms=3, color="#d55e00", label="outcome")
above.legend(frameon=False, ncols=2)
covered = (low <= truth) & (truth <= high)
below.plot(np.arange(60, 600), np.convolve(covered, np.ones(60) / 60, "valid")[:540])
below.axhline(0.9, ls=":", color="grey")
below.set(ylabel="covered, last 60", xlabel="round", ylim=(0.5, 1.02))
