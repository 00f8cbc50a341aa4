"""
What the default hedges over
============================

``"auto"`` has 14 ways of combining forecasts, and a hedger over them. Here five equally good models have independent errors, so that
the plain mean is the best that one can do, until one of them breaks in the middle.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge import Mixture

rng = np.random.default_rng(0)
mixtures = {
    "auto": Mixture(),
    "NormalHedge, memory 20": Mixture("normal-hedge"),
    "plain mean": Mixture("uniform"),
}
errors = {name: [] for name in mixtures}
for t in range(1500):
    forecasts = {f"model {k}": rng.normal(0, 1) for k in range(5)}
    if t > 750:
        forecasts["model 0"] += 6.0  # broken
    for name, mixture in mixtures.items():
        made = mixture.predict(forecasts)
        mixture.update(made.ticket, 0.0)
        errors[name].append(made.value**2)

fig, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
for name, values in errors.items():
    axes.plot(
        np.convolve(values, np.ones(60) / 60, "valid"), label=f"{name}: {np.mean(values):.2f}"
    )
axes.set(xlabel="round", ylabel="square error, mean of 60 rounds")
axes.legend(frameon=False, title="mean of all rounds")
