"""
Regimes of counts
=================

Calls in an hour: quiet, busy, quiet. ``infer`` reads whole numbers as counts, and finds two rates without being told that there are two.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge.latent import infer

rng = np.random.default_rng(0)
busy = np.arange(900) // 150 % 2
calls = rng.poisson(np.where(busy, 9.0, 3.0)).astype(float)
found = infer(calls, kind="counts")

fig, (above, below) = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True, layout="constrained")
above.plot(calls, ".", ms=3, color="grey")
above.set(ylabel="calls")
below.plot(found.states, drawstyle="steps", lw=1, label="regime, from earlier hours only")
below.plot(busy - 0.04, ":", color="#d55e00", label="truth")
below.set(xlabel="hour", yticks=sorted(set(found.states.tolist())))
below.legend(frameon=False)
