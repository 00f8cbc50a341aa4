"""
Seasons, found without a calendar
=================================

The highest temperatures in Seattle, day by day. Told nothing but the numbers, ``infer`` finds a warm and a cold regime. Each day has
the colour of the regime that was most probable on that day. No later day was used: so it takes two summers to learn what a summer
is, and from then on they are recognised.
"""

# %%
import matplotlib.pyplot as plt
from vega_datasets import data

from normalhedge.latent import infer

weather = data.seattle_weather()
found = infer(weather["temp_max"].to_numpy(), kind="autoregressive")
colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"]

fig, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
for state in sorted(set(found.states.tolist()) - {-1}):  # -1: not known yet
    days = found.states == state
    axes.plot(
        weather["date"][days],
        weather["temp_max"][days],
        ".",
        color=colours[state],
        markersize=3,
        label=f"regime {state}",
    )
axes.set(ylabel="°C")
fig.legend(loc="outside upper center", ncols=3, frameon=False, markerscale=3)
