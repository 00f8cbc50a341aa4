"""Draw docs/chip-game.png: from the potential of a finite game of chips to that of NormalHedge.

``.venv/bin/python docs/chip_picture.py``
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from normalhedge.research.games.chips import BoostByMajority

PICTURE = Path("docs/chip-game.png")
ROUNDS, GAMMA = 100, 0.05
TIMES = ((0, "black"), (50, "#0072b2"), (90, "#e69f00"))


def draw(picture: Path) -> None:
    """Draw potential and weights of a finite game, and both of the game without an end."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
    hedger = BoostByMajority(ROUNDS, GAMMA)
    for after, colour in TIMES:
        positions = np.arange(-40, 41, 2)
        potential = [hedger.potential(int(s), after) for s in positions]
        ahead = [hedger.potential(int(s) + 1, after + 1) for s in positions]
        behind = [hedger.potential(int(s) - 1, after + 1) for s in positions]
        left.plot(positions, potential, color=colour, label=f"after {after} rounds")
        middle.plot(positions, np.subtract(ahead, behind), color=colour)
    left.set(title="chance to end at 0 or above", xlabel="position of a chip")
    left.legend(frameon=False, fontsize=7)
    middle.set(title="weight: what the next move changes", xlabel="position of a chip")
    x = np.linspace(-2.0, 2.5, 200)
    right.plot(x, np.exp(np.maximum(x, 0.0) ** 2 / 2.0), color="black", label="Φ, c = 1")
    right.plot(x, np.maximum(x, 0) * np.exp(x**2 / 2), color="#0072b2", label="weight, Φ'")
    right.fill_between(x, np.exp(-(x**2)), color="#cccccc", label="chips moved by coins")
    right.set(title="no end, but a discount", xlabel="√α times the regret", ylim=(0.0, 8.0))
    right.legend(frameon=False, fontsize=7)
    figure.savefig(picture, dpi=110, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    draw(PICTURE)
