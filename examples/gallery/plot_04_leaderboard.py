"""
A leaderboard
=============

Seven hedgers meet the same gains in seven games. A cell is the mean discounted regret to the best expert; dark is good. No row is
dark everywhere: Fixed Share is the best where the best expert jumps, and among the worst under adversaries.
``normalhedge compare`` does this with all hedgers, and with more runs.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from normalhedge.research.leaderboard import QUICK, NatureContest, compare, default_natures

names = [
    "normal-hedge",
    "ada-normal-hedge",
    "squint",
    "hedge",
    "ada-hedge",
    "fixed-share",
    "uniform",
]
games = [NatureContest(name, QUICK) for name in default_natures(QUICK)]
board = compare(names, games)
regrets = np.array([game.mean("mean") for game in board.games]).T
order = board.order

titles = [
    "jumps",
    "jumps, one good",
    "rare jumps",
    "a few better",
    "coins",
    "break-away",
    "contrary",
]
shade = (regrets - regrets.min(axis=0)) / np.ptp(regrets, axis=0).clip(5.0)
fig, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.imshow(np.sqrt(shade[order]), cmap="viridis", aspect="auto")
for i, row in enumerate(regrets[order]):
    for j, value in enumerate(row):
        light = np.sqrt(shade[order][i, j]) < 0.6
        axes.text(
            j, i, f"{value:.1f}", ha="center", va="center", color="white" if light else "black"
        )
axes.set_xticks(range(len(games)), titles, rotation=30, ha="right")
axes.set_yticks(range(len(names)), [board.hedgers[k] for k in order])
