"""
Outcomes that come late
=======================

The forecasts of five pollsters, once with each outcome on the next day and once thirty days later. The weights with late outcomes (dotted)
are those of earlier days, and the error is larger.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd
from river import datasets

from normalhedge import blend

table, keys = pd.read_csv(datasets.TrumpApproval().path), ("five_thirty_eight", "ordinal_date")
soon, late = (
    blend(table, target=keys[0], time=keys[1], lag=lag, weights=True).frame for lag in (0, 30)
)

days = [pd.Timestamp.fromordinal(day) for day in soon["ordinal_date"]]
fig, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
for name in soon.filter(like="weight_"):
    (line,) = axes.plot(days[:400], soon[name][:400], lw=1, label=name.removeprefix("weight_"))
    axes.plot(days[:400], late[name][:400], ":", lw=1, color=line.get_color())
axes.set(ylabel="weight")
fig.legend(loc="outside upper center", ncols=5, frameon=False)

# %%
# The mean absolute errors:
for name, frame in (("next day", soon), ("thirty days later", late)):
    print(f"{name:20}{(frame['blend'] - frame['five_thirty_eight']).abs().mean():.3f}")
