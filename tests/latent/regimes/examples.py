"""Models and series that several tests share."""

from typing import Any

import numpy as np

from normalhedge.latent import Live, Regimes
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models.emissions import Gaussian
from normalhedge.latent.regimes._regimes_stream import RegimesStream


def textbook(rounds: int = 4000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two regimes of returns."""
    model = Fitted(
        np.array([1.0, 0.0]),
        np.array([[0.99, 0.01], [0.04, 0.96]]),
        Gaussian(np.zeros(2), np.array([0.7, 2.2])),
        0.0,
        0,
        np.empty(0),
    )
    return model.sample(rounds, np.random.default_rng(seed))


def switching(rounds: int = 600, seed: int = 0, chance: float = 0.015) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    state = np.cumsum(rng.random(rounds) < chance) % 2
    return state, rng


def weather(days: int = 300) -> list[Any]:
    state, rng = switching(days, 1, 0.03)
    return [("dry", "wet")[int(x)] for x in rng.random(days) < np.where(state, 0.9, 0.1)]


def series(kind: str, rounds: int = 260, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    state = np.cumsum(rng.random(rounds) < 0.03) % 2
    seen = rng.normal(2.0 * state, 1.0 + state)
    if kind in {"poisson", "negative_binomial"}:
        seen = rng.poisson(2.0 + 5.0 * state).astype(float)
    elif kind == "categorical":
        seen = ((rng.random(rounds) < 0.2 + 0.6 * state) + (rng.random(rounds) < 0.1)).astype(float)
    elif kind in {"diagonal", "full"}:
        seen = rng.normal(state[:, np.newaxis], 1.0 + state[:, np.newaxis], (rounds, 2))
    seen[rng.random(rounds) < 0.05] = np.nan
    return seen


def bits(regimes: Regimes, given: Any = None) -> list[Any]:
    """All that can be asked, in bytes."""
    ahead = regimes.forecast(3, given)
    plain = [regimes.weights, regimes.probabilities, ahead.means, ahead.probabilities]
    return [
        *(part.tobytes() for part in plain),
        regimes.rounds,
        repr(regimes),
        repr(regimes.history),
        regimes.candidates(),
        regimes._state.rng.bit_generator.state,
    ]


def answers(live: Live, *lines: str | bytes) -> list[Any]:
    stream = RegimesStream(live)
    return [stream.answer(k, line) for k, line in enumerate(lines, start=1)]
