"""The best convex combination: time, steps and gap, beside Frank-Wolfe's method with away steps.

    python -m benchmarks.best_convex

Frank-Wolfe's method needs the slopes of the loss alone. It is here to show why it is not used: a
slope at a kink proves nothing, and without kinks its gap falls slowly.
"""

import time

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.checks._loss_laws import Rows, draw_rows
from normalhedge.mixtures import Loss
from normalhedge.mixtures.losses import loss_of
from normalhedge.mixtures.summaries._best_convex import best_convex

LOSSES = (
    "square",
    "absolute",
    "huber",
    "expectile:level=0.8",
    "mape",
    "log",
    "brier",
    "log-wealth",
)
SIZES = ((200, 5), (200, 20), (200, 50))
STEPS = 1000


def frank_wolfe(loss: Loss, rows: Rows) -> tuple[float, float]:
    """Return the mean loss and the gap after so many steps, with away steps and line search.

    Parameters
    ----------
    loss, rows
        The loss, and the forecasts and outcomes.
    """
    parts = loss.parts(*rows)
    table = parts.numbers.reshape(-1, rows.forecasts.shape[2])
    y, setting = parts.outcomes.ravel(), parts.settings.ravel()
    w = np.full(table.shape[1], 1.0 / table.shape[1])
    gap = np.inf
    for _ in range(STEPS):
        v = table @ w
        pull = loss.number_slope(v, y, setting) @ table / len(y)
        ahead, away = int(pull.argmin()), int(np.where(w > 0.0, pull, -np.inf).argmax())
        gap = min(gap, float(pull @ w - pull[ahead]))
        direction, most = -w, 1.0
        direction[ahead] += 1.0
        if pull[away] - pull @ w > pull @ w - pull[ahead]:
            direction, most = w.copy(), w[away] / max(1.0 - w[away], 1e-300)
            direction[away] -= 1.0
        w = np.maximum(w + _longest(loss, v, table @ direction, most, y, setting) * direction, 0.0)
        w /= w.sum()
    mean = float(loss.number_loss(table @ w, y, setting).mean())
    return parts.factor * mean, parts.factor * gap


def _longest(loss: Loss, v: Floats, dv: Floats, most: float, y: Floats, setting: Floats) -> float:
    """Return the step at which the slope along a line becomes zero, by bisection."""
    low, high = 0.0, most
    for _ in range(30):
        middle = 0.5 * (low + high)
        rises = loss.number_slope(v + middle * dv, y, setting) @ dv > 0.0
        low, high = (low, middle) if rises else (middle, high)
    return low


def main() -> None:
    """Print a line for each loss and size."""
    print(f"{'loss':22}{'rows x experts':>16}{'ms':>8}{'gap':>10}{'FW: ms':>10}{'gap':>10}")
    for name in LOSSES:
        for size in SIZES:
            loss = loss_of(name)
            rows = draw_rows(loss, *size, 1.0, 0)
            best_convex(loss, *rows)
            start = time.perf_counter()
            found = best_convex(loss, *rows)
            middle = time.perf_counter()
            _, gap = frank_wolfe(loss, rows)
            ours, theirs = 1e3 * (middle - start), 1e3 * (time.perf_counter() - middle)
            gaps = found.gap / abs(found.loss), gap / abs(found.loss)
            print(f"{name:22}{size[0]:>10} x {size[1]:<3}{ours:>8.1f}{gaps[0]:>10.0e}", end="")
            print(f"{theirs:>10.0f}{gaps[1]:>10.0e}")


if __name__ == "__main__":
    main()
