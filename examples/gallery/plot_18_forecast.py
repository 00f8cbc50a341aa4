"""
The next two weeks
==================

A forecast of the temperature in Seattle by hidden regimes, with its intervals: 50 % and 90 %. The points are the days that followed.
"""

# %%
import matplotlib.pyplot as plt
from vega_datasets import data

from normalhedge.latent import infer

weather = data.seattle_weather()
values, days = weather["temp_max"].to_numpy(), weather["date"]
ahead = infer(values[:-14], kind="autoregressive").forecast(14)

fig, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
axes.plot(days[-74:-14], values[-74:-14], lw=1, color="grey")
for share in (0.9, 0.5):
    low, high = ahead.interval(share).T
    axes.fill_between(
        days[-14:], low, high, color="#0072b2", alpha=0.25, lw=0, label=f"{share:.0%}"
    )
axes.plot(days[-14:], ahead.means, color="#0072b2", label="mean")
axes.plot(days[-14:], values[-14:], "k.", label="outcome")
axes.set(ylabel="°C")
axes.tick_params(axis="x", rotation=30)
axes.legend(frameon=False, ncols=4)
