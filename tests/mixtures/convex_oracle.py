"""Panels for the best convex combination, and SciPy's solvers for the same problem."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures import Loss, pinball
from normalhedge.mixtures.losses import loss_of
from normalhedge.mixtures.summaries._best_convex import Convex

LEVELS = np.array([0.9, 0.3])


OF_NUMBERS = ("square", "absolute", "pinball", "huber", "expectile:level=0.8", "mape")


OF_LOGS = ("log", "log-wealth")


ROUNDING = 1e-9
"""Where some weights make no error at all: relative to the errors of the experts."""


KINDS = (*OF_NUMBERS, *OF_LOGS, "l1", "brier")


def loss_for(kind: str) -> Loss:
    """Return the loss; the pinball loss has two levels."""
    return pinball(LEVELS.tolist()) if kind == "pinball" else loss_of(kind)


def panel(
    kind: str, rows: int, n: int, *, asleep: float = 0.0, seed: int = 0
) -> tuple[Floats, Floats, np.ndarray]:
    """Return forecasts whose errors have much in common, outcomes and items."""
    rng = np.random.default_rng(seed)
    items = np.arange(rows, dtype=np.int32)
    if kind in OF_NUMBERS:
        outcomes = rng.normal(5.0, 3.0, rows)
        errors = rng.normal(size=(rows, 1)) + rng.normal(0.0, 0.4, (rows, n)) + rng.normal(size=n)
        forecasts = (outcomes[:, np.newaxis] + errors)[:, np.newaxis]
    elif kind == "log-wealth":
        outcomes = np.exp(rng.normal(0.5, 0.1, rows))
        forecasts = np.exp(rng.normal(0.0, 0.3, (rows, 1, n)))
    else:
        outcomes = rng.integers(0, 3, rows).astype(float)
        sharp = rng.dirichlet(np.full(3, 0.7), (rows, n)).transpose(0, 2, 1)
        forecasts = 0.9 * sharp + 0.1 * np.eye(3)[outcomes.astype(int)][:, :, np.newaxis]
    sleeping = rng.random((rows, 1, n)) < asleep
    return np.ascontiguousarray(np.where(sleeping, np.nan, forecasts)), outcomes, items


def filled(forecasts: Floats, outcomes: Floats, way: str = "mean") -> tuple[Floats, np.ndarray]:
    """Return the forecasts of each row with somebody awake, and which rows these are."""
    said, kept = [], []
    for row, y in enumerate(outcomes):
        x = forecasts[row]
        awake = np.isfinite(x).all(axis=0)
        if awake.any() and not np.isnan(y):
            middle = np.median if way == "median" else np.mean
            said.append(np.where(awake, x, middle(x[:, awake], axis=1, keepdims=True)))
            kept.append(row)
    return np.array(said), np.array(kept)


def losses(kind: str, values: Floats, outcomes: Floats, items: np.ndarray) -> Floats:
    """Return the loss of each row, a number or a probability for each class."""
    level: Floats = LEVELS[items % 2]
    rows = np.arange(len(values))
    if kind == "brier":
        happened = np.eye(values.shape[1])[outcomes.astype(int)]
        return np.asarray(((values - happened) ** 2).sum(axis=1))
    v = values[rows, outcomes.astype(int)] if values.shape[1] > 1 else values[:, 0]
    far, given = v - outcomes, v / outcomes if kind == "log-wealth" else v
    found: dict[str, Callable[[], Floats]] = {
        "square": lambda: far * far,
        "absolute": lambda: np.abs(far),
        "pinball": lambda: level * -far + np.maximum(far, 0.0),
        "huber": lambda: np.where(np.abs(far) < 1.0, 0.5 * far**2, np.abs(far) - 0.5),
        "expectile:level=0.8": lambda: np.where(far > 0.0, 0.2, 0.8) * far**2,
        "mape": lambda: np.abs(far) / np.abs(outcomes),
        "l1": lambda: 1.0 - v,
    }
    if kind in OF_LOGS:
        return -np.log(np.maximum(given, 1e-6))
    return np.asarray(found[kind]())


def by_scipy(kind: str, said: Floats, outcomes: Floats, items: np.ndarray) -> float:
    """Return the least mean loss: a linear program, or by sequential quadratic programs."""
    rows, _, n = said.shape
    if kind in {"absolute", "pinball", "l1", "mape"}:
        level = LEVELS[items % 2] if kind == "pinball" else np.full(rows, 0.5)
        scale: Any = 2.0 if kind == "absolute" else 1.0
        scale = 2.0 / np.abs(outcomes) if kind == "mape" else scale
        chosen = outcomes.astype(int) if kind == "l1" else np.zeros(rows, dtype=int)
        said = said[np.arange(rows), chosen]
        if kind == "l1":
            cost, slack = -said.mean(axis=0), np.zeros((rows, 0))
            found = linprog(cost, A_eq=np.ones((1, n)), b_eq=[1.0])
            return float(found.fun) + 1.0
        slack = np.hstack([-np.eye(rows), np.eye(rows)])
        cost = np.concatenate([np.zeros(n), (1 - level) * scale / rows, level * scale / rows])
        whole = np.concatenate([np.ones(n), np.zeros(2 * rows)])
        found = linprog(
            cost, A_eq=np.vstack([np.hstack([said, slack]), whole]), b_eq=[*outcomes, 1.0]
        )
        return float(found.fun)

    def mean(w: Floats) -> float:
        return float(losses(kind, said @ w, outcomes, items).mean())

    only = {"type": "eq", "fun": lambda w: w.sum() - 1.0}
    least = np.inf
    for seed in range(3):
        start = np.random.default_rng(seed).dirichlet(np.ones(n))
        found = minimize(
            mean, start, bounds=[(0, 1)] * n, constraints=[only], method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        w = np.maximum(found.x, 0.0)
        least = min(least, mean(w / w.sum()))
    return least


def check(kind: str, data: Any, found: Convex, way: str = "mean") -> None:
    """Check that it is what it says, and that no other weights are better than it proves."""
    forecasts, outcomes, items = data
    said, kept = filled(forecasts, outcomes, way)
    told = outcomes[kept], items[kept]
    n = said.shape[2]
    assert found.weights.min() >= 0.0
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
    own = losses(kind, said @ found.weights, *told).mean()
    assert found.loss == pytest.approx(own, rel=1e-12, abs=1e-300)
    others = np.vstack([np.eye(n), np.random.default_rng(1).dirichlet(np.full(n, 0.3), 50)])
    for w in (*others, np.full(n, 1 / n)):
        assert losses(kind, said @ w, *told).mean() >= found.loss - found.gap - 1e-12 * abs(
            found.loss
        )
