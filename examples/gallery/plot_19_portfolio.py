"""
Wealth of five stocks
=====================

Monthly prices of five stocks come with vega-datasets. A mixture with the loss ``log-wealth`` divides the money anew in each month. Its
wealth is that of a portfolio without trading costs.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd
from vega_datasets import data

from normalhedge import Mixture

prices = data.stocks().pivot_table(index="date", columns="symbol", values="price")
relatives = prices / prices.shift()
mixture, factors = Mixture(loss="log-wealth"), []
for _, row in relatives.iloc[1:].iterrows():
    month = mixture.predict(row.dropna().to_dict())
    factors.append(month.value)
    mixture.update(month.ticket, outcome=1.0)

fig, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
(relatives.iloc[1:].fillna(1.0)).cumprod().plot(ax=axes, lw=0.8, alpha=0.7)
axes.plot(relatives.index[1:], pd.Series(factors).cumprod(), color="#0072b2", lw=2, label="blend")
axes.set(yscale="log", xlabel="", ylabel="wealth")
axes.legend(frameon=False, ncols=6, fontsize=8)
