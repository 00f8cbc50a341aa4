"""Models and series that several tests share."""

from typing import Any

import numpy as np

from normalhedge.latent import (
    HMMBank,
    Predictor,
    categorical_bank,
    random_gaussian_bank,
)
from normalhedge.latent.banks import BankState


def models(n: int, k: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (
        rng.dirichlet(np.ones(k), size=n),
        rng.dirichlet(np.ones(k), size=(n, k)),
        rng.dirichlet(np.ones(m), size=(n, k)),
    )


def two_state(stay: float, first: float, second: float) -> tuple[list[Any], list[Any]]:
    moves = [[stay, 1 - stay], [1 - stay, stay]]
    return moves, [[1 - first, first], [1 - second, second]]


def bank_of(*candidates: tuple[float, float, float]) -> HMMBank:
    made = [two_state(*candidate) for candidate in candidates]
    return categorical_bank([[0.5, 0.5]] * len(made), [a for a, _ in made], [b for _, b in made])


def sequence(rounds: int, stay: float, first: float, second: float, seed: int = 0) -> list[int]:
    """Draw a sequence: one uniform for the switch, and then one for the symbol."""
    rng = np.random.default_rng(seed)
    state, symbols = 0, []
    for _ in range(rounds):
        if rng.random() > stay:
            state = 1 - state
        symbols.append(int(rng.random() < (first, second)[state]))
    return symbols


def losses(predictors: dict[str, Predictor], symbols: list[int]) -> dict[str, float]:
    total = dict.fromkeys(predictors, 0.0)
    for x in symbols:
        for name, predictor in predictors.items():
            said = predictor.predict()
            assert said.min() >= 0.0
            assert abs(said.sum() - 1.0) < 1e-9
            total[name] += 1.0 - said[x]
            predictor.observe(x)
    return total


GOOD: dict[str, Any] = {
    "initial": [[0.5, 0.5]],
    "transition": [[[0.9, 0.1], [0.1, 0.9]]],
    "emission": [[[0.5, 0.5], [0.5, 0.5]]],
}


ROUNDS = 60


def gaps(kind: str) -> np.ndarray:
    missing = np.zeros(ROUNDS, dtype=bool)
    if kind == "every second":
        missing[::2] = True
    elif kind == "long":
        missing[:5] = missing[20:41] = missing[-7:] = True
    elif kind == "drawn":
        missing = np.random.default_rng(2).random(ROUNDS) < 0.5
    else:
        missing[:] = True
    return missing


def bank_and_sequence(kind: str, missing: np.ndarray) -> tuple[HMMBank, np.ndarray]:
    rng = np.random.default_rng(1)
    if kind == "numbers":
        bank: HMMBank = random_gaussian_bank(5, 3, 0.0, 1.0, rng)
        numbers = rng.normal(size=ROUNDS)
        numbers[13] = 1e9  # impossible under all
    else:
        says = rng.dirichlet(np.full(3, 0.3), size=(5, 2))
        moves = rng.dirichlet(np.ones(2), size=(5, 2))
        says[0, 0], says[0, 1] = [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]  # of one state nobody can doubt
        moves[1] = [[0.0, 1.0], [1.0, 0.0]]
        bank = categorical_bank([[1.0, 0.0]] * 5, moves, says)
        numbers = rng.integers(3, size=ROUNDS).astype(np.float64)
    return bank, np.where(missing, np.nan, numbers)


def scored_as_by_hmmlearn(bank: HMMBank, models: list[Any], series: np.ndarray) -> BankState:
    """Return the state of a bank after a series, with the likelihoods of hmmlearn."""
    state = bank.init()
    for x in series.tolist():
        state = bank.observe(state, x)
    scores = [model.score(series[:, np.newaxis]) for model in models]
    np.testing.assert_allclose(state.log_likelihood, scores, rtol=1e-10)
    return state
