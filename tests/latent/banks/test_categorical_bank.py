"""Banks of models of symbols: the filter against all paths and against hmmlearn."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from normalhedge.latent import (
    bank_from_hmmlearn,
    categorical_bank,
)
from tests.latent.banks.examples import models, scored_as_by_hmmlearn


def paths(
    initial: np.ndarray, transition: np.ndarray, emission: np.ndarray, symbols: list[int]
) -> tuple[float, np.ndarray]:
    """Return P(x_1..x_t) and P(S_{t+1} | x_1..x_t) of one model, by adding up all paths."""
    k = len(initial)
    total, ends = 0.0, np.zeros(k)
    for path in itertools.product(range(k), repeat=len(symbols) + 1):
        p = initial[path[0]]
        for t, x in enumerate(symbols):
            p *= emission[path[t], x] * transition[path[t], path[t + 1]]
        total += p
        ends[path[-1]] += p
    return total, ends / total


@pytest.mark.parametrize(("k", "m"), [(1, 2), (2, 2), (3, 4)])
def test_filtering_is_adding_up_paths(k: int, m: int) -> None:
    initial, transition, emission = models(3, k, m)
    bank = categorical_bank(initial, transition, emission)
    symbols = np.random.default_rng(1).integers(m, size=6).tolist()
    state = bank.init()
    for t in range(len(symbols) + 1):
        for n in range(3):
            total, ends = paths(initial[n], transition[n], emission[n], symbols[:t])
            np.testing.assert_allclose(state.beliefs[:, n], ends, rtol=1e-12)
            assert state.log_likelihood[n] == pytest.approx(math.log(total), abs=1e-12)
            np.testing.assert_allclose(bank.symbols(state)[:, n], ends @ emission[n], rtol=1e-12)
        if t < len(symbols):
            state = bank.observe(state, symbols[t])


def hmmlearn_models(n: int, k: int, m: int) -> list[Any]:
    hmm = pytest.importorskip("hmmlearn.hmm")
    made = []
    for start, moves, said in zip(*models(n, k, m, seed=2), strict=True):
        model = hmm.CategoricalHMM(n_components=k, n_features=m)
        model.startprob_, model.transmat_, model.emissionprob_ = start, moves, said
        made.append(model)
    return made


def test_filtering_is_hmmlearn() -> None:
    made = hmmlearn_models(20, 4, 3)
    bank = bank_from_hmmlearn(made)
    symbols = np.random.default_rng(3).integers(3, size=500)
    state = scored_as_by_hmmlearn(bank, made, symbols)
    for n, model in enumerate(made):
        last = model.predict_proba(symbols[:, np.newaxis])[-1]
        np.testing.assert_allclose(state.beliefs[:, n], last @ model.transmat_, rtol=1e-8)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8])
def test_very_small_probabilities_are_not_lost(k: int) -> None:
    moves, says = np.eye(k), np.tile([0.0, 1.0], (k, 1))
    moves[0, 1], says[0], says[1] = 1e-150, [1e-200, 1.0], [1.0, 0.0]
    bank = categorical_bank([np.eye(k)[0]], [moves], [says])
    state = bank.observe(bank.observe(bank.init(), 0), 0)
    np.testing.assert_allclose(state.beliefs[:2, 0], [1e-50, 1.0], rtol=1e-9)
    assert state.log_likelihood[0] == pytest.approx(math.log(1e-200) + math.log(1e-150))
