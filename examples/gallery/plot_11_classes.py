"""
Probabilities of classes
========================

Two models give probabilities of rain. One is too sure of itself. The blend weighs them and corrects their calibration: its
forecasts come true about as often as they should.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge import Mixture

rng = np.random.default_rng(0)
mixture = Mixture(loss="brier")
probability, rain = np.empty((3000, 2)), np.empty(3000)
for t in range(3000):
    logit = rng.normal(0, 1.5)
    sure = 1 / (1 + np.exp(-3 * (logit + rng.normal(0, 0.5))))
    noisy = 1 / (1 + np.exp(-(logit + rng.normal(0, 1.5))))
    today = mixture.predict({n: {"rain": p, "dry": 1 - p} for n, p in (("a", sure), ("b", noisy))})
    rain[t] = rng.random() < 1 / (1 + np.exp(-logit))
    probability[t] = sure, today.value["rain"]
    mixture.update(today.ticket, "rain" if rain[t] else "dry")

fig, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
bins = np.linspace(0, 1, 9)
for k, name in enumerate(("the model that is too sure", "the blend")):
    bin_ = np.clip(np.digitize(probability[500:, k], bins) - 1, 0, 7)
    said = [probability[500:, k][bin_ == b].mean() for b in range(8)]
    seen = [rain[500:][bin_ == b].mean() for b in range(8)]
    axes.plot(said, seen, "o-", label=name)
axes.plot([0, 1], [0, 1], ":", color="grey")
axes.set(xlabel="forecast probability of rain", ylabel="share of rainy days")
axes.legend(frameon=False)
