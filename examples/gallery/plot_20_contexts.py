"""
Weights for each kind of day
============================

One model is good on calm days and another on windy days, which alternate at random. Without the wind the blend has one set of weights.
With the wind as a context it has weights for each kind of day, and its error is lower.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from normalhedge import blend

rng = np.random.default_rng(0)
days = np.arange(600)
windy = rng.random(600) < 0.5
table = pd.DataFrame(
    {"day": days, "wind": np.where(windy, "windy", "calm"), "y": 10 * np.sin(days / 58)}
)
table["a"] = table["y"] + rng.normal(0, np.where(windy, 2.0, 0.4))
table["b"] = table["y"] + rng.normal(0, np.where(windy, 0.4, 2.0))
plain = blend(table.drop(columns="wind"), target="y", time="day", weights=True).frame
by_wind = blend(table, target="y", time="day", context="wind", weights=True).frame

fig, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.plot(days, plain["weight_b"], lw=1, color="grey", label="without the wind")
for kind, colour in ((windy, "#0072b2"), (~windy, "#56b4e9")):
    name = "windy days" if kind is windy else "calm days"
    axes.plot(days[kind], by_wind["weight_b"][kind], ".", ms=3, color=colour, label=name)
axes.set(xlabel="day", ylabel="weight of b", ylim=(0, 1.2))
axes.legend(frameon=False, ncols=3)

# %%
# The mean absolute errors:
for name, frame in (("without the wind", plain), ("with the wind", by_wind)):
    print(f"{name:20}{(frame['blend'] - table['y']).abs().mean():.3f}")
