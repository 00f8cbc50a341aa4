"""
Weights at work
===============

Five pollsters, and the average that FiveThirtyEight made of them (the file comes with river). The weights of the blend follow
whoever was good lately, and the error of the blend is well below the error of each pollster.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd
from river import datasets

from normalhedge import blend

table = pd.read_csv(datasets.TrumpApproval().path)
result = blend(table, target="five_thirty_eight", time="ordinal_date", weights=True)
frame = result.frame
days = [pd.Timestamp.fromordinal(day) for day in frame["ordinal_date"]]
weights = frame.filter(like="weight_").rename(columns=lambda name: name.removeprefix("weight_"))

fig, (above, below) = plt.subplots(2, 1, figsize=(8, 6), sharex=True, layout="constrained")
for name in weights:
    above.plot(days, table[name], linewidth=0.8, label=name)
above.plot(days, frame["five_thirty_eight"], "k.", markersize=2, label="outcome")
above.plot(days, frame["blend"], color="black", label="blend")
above.set(ylabel="approval, %")
below.stackplot(days, weights.T)
below.set(ylabel="weight", ylim=(0, 1))
below.margins(x=0)
fig.legend(*above.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)

# %%
# The mean absolute errors:
error = table[[*weights]].sub(table["five_thirty_eight"], axis=0).abs().mean()
error["plain mean"] = (table[[*weights]].mean(axis=1) - table["five_thirty_eight"]).abs().mean()
error["blend"] = (frame["blend"] - frame["five_thirty_eight"]).abs().mean()
error.round(2).sort_values().to_frame("mean absolute error")
