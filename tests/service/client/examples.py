"""Rounds for clients and for mixtures of this process."""

from typing import Any

import numpy as np

from normalhedge import Mixture
from normalhedge.mixtures.files._saved import Snapshot, snapshot_text

LIMITS: dict[str, Any] = {"max_pending": 10_000, "max_names": 10_000, "history": 200}
"""Settings for which a server has defaults of its own."""


def state(mixture: Mixture) -> str:
    return snapshot_text(Snapshot(mixture))


def play(mixture: Any, rounds: int, seed: int = 0) -> list[Any]:
    """Play rounds in which outcomes come late, and return the predictions."""
    rng = np.random.default_rng(seed)
    values, waiting = [], []
    for k in range(rounds):
        made = mixture.predict({"a": rng.normal(), "b": rng.normal() + 1.0, "c": rng.normal()})
        values.append((made.value, made.ticket, made.weights))
        waiting.append(made.ticket)
        if k % 3:
            mixture.update(waiting.pop(int(rng.integers(len(waiting)))), rng.normal())
    return values
