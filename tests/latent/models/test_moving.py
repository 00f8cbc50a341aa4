"""Models whose parameters move: states against all paths, fits against written sums."""

import itertools
import math

import numpy as np
import pytest

from normalhedge import _core
from normalhedge.latent.models import fit, fit_moving
from normalhedge.latent.models._moving import LENGTH, _degrees
from tests.latent.models.examples import EXAMPLES, series


def chain(rounds: int, k: int, length: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    blocks = -(-rounds // length)
    logs = rng.normal(0.0, 2.0, (rounds, k))
    logs[rng.random(rounds) < 0.2] = 0.0  # missing
    return logs, rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), (blocks, k))


def joint(
    path: tuple[int, ...], logs: np.ndarray, initial: np.ndarray, moves: np.ndarray, length: int
) -> float:
    """Return ln P(path, y)."""
    total = float(math.log(initial[path[0]]))
    for t in range(1, len(path)):
        total += math.log(moves[t // length, path[t - 1], path[t]])
    return total + sum(float(logs[t, s]) for t, s in enumerate(path))


@pytest.mark.parametrize(("rounds", "k", "length"), [(7, 3, 2), (9, 2, 3), (1, 3, 10), (6, 1, 4)])
def test_states_are_right_by_all_paths(rounds: int, k: int, length: int) -> None:
    for seed in range(5):
        logs, initial, moves = chain(rounds, k, length, seed)
        paths = list(itertools.product(range(k), repeat=rounds))
        totals = np.array([joint(path, logs, initial, moves, length) for path in paths])
        shares = np.exp(totals - np.logaddexp.reduce(totals))
        expected = np.array([
            [shares[[path[t] == s for path in paths]].sum() for s in range(k)]
            for t in range(rounds)
        ])  # fmt: skip
        smoothed, found = np.empty_like(logs), np.empty(rounds, dtype=np.int64)
        likelihood = _core.moving_expect(logs, initial, moves, length, smoothed)
        best = _core.moving_path(logs, initial, moves, length, found)
        np.testing.assert_allclose(smoothed, expected, atol=1e-12)
        assert likelihood == pytest.approx(np.logaddexp.reduce(totals))
        assert tuple(found.tolist()) == paths[totals.argmax()]
        assert best == pytest.approx(totals.max())


def test_states_are_right_in_a_long_series() -> None:
    """By forward and backward messages in logarithms."""
    rounds, k, length = 300, 4, 7
    logs, initial, moves = chain(rounds, k, length, 1)
    steps = np.log(moves)[np.arange(rounds) // length]
    ahead, back = np.empty_like(logs), np.zeros_like(logs)
    ahead[0] = np.log(initial) + logs[0]
    for t in range(1, rounds):
        ahead[t] = np.logaddexp.reduce(ahead[t - 1][:, np.newaxis] + steps[t]) + logs[t]
    for t in range(rounds - 2, -1, -1):
        back[t] = np.logaddexp.reduce(steps[t + 1] + logs[t + 1] + back[t + 1], axis=1)
    both = ahead + back
    both -= np.logaddexp.reduce(both, axis=1)[:, np.newaxis]
    smoothed = np.empty_like(logs)
    total = _core.moving_expect(logs, initial, moves, length, smoothed)
    np.testing.assert_allclose(smoothed, np.exp(both), atol=1e-10)
    assert total == pytest.approx(np.logaddexp.reduce(ahead[-1]))


def test_impossible_steps_and_ties() -> None:
    logs = np.zeros((6, 2))
    moves = np.repeat(np.eye(2)[np.newaxis], 3, axis=0)
    path = np.empty(6, dtype=np.int64)
    assert _core.moving_path(logs, np.array([0.5, 0.5]), moves, 2, path) == math.log(0.5)
    assert path.tolist() == [0] * 6  # of equals, the lowest
    logs[3] = [-5.0, 0.0]
    _core.moving_path(logs, np.array([0.5, 0.5]), moves, 2, path)
    assert path.tolist() == [1] * 6


def test_a_step_of_em_is_the_sums_written_out() -> None:
    rng = np.random.default_rng(3)
    rounds, k, length, keep = 40, 2, 6, np.array([0.7, 0.9])
    seen = rng.normal(np.arange(rounds) // 10 % 2 * 3.0, 1.0)
    seen[[5, 17]] = np.nan
    blocks = -(-rounds // length)
    initial, moves = np.array([0.6, 0.4]), np.repeat([[[0.9, 0.1], [0.2, 0.8]]], blocks, axis=0)
    rows = np.repeat([[[0.0, 3.0], [1.0, 1.0]]], blocks, axis=0)  # means, variances
    logs = np.empty((rounds, k))
    before = fit_once(seen, initial.copy(), moves.copy(), rows.copy(), length, keep, logs, 0)[0]
    expected = np.where(
        np.isnan(seen)[:, np.newaxis], 0.0,
        -0.5 * (seen[:, np.newaxis] - rows[0, 0]) ** 2 - 0.5 * math.log(2 * math.pi),
    )  # fmt: skip
    np.testing.assert_allclose(logs, expected)
    shares = np.empty_like(logs)
    total = _core.moving_expect(logs, initial, moves, length, shares)
    assert total == pytest.approx(before)
    # The expected steps, by the joint probability of two states in a row.
    steps = np.zeros((blocks, k, k))
    for t in range(1, rounds):
        for r, s in itertools.product(range(k), repeat=2):
            only = np.full((rounds, k), 0.0)
            only[t - 1, 1 - r] = only[t, 1 - s] = -np.inf
            pair = np.empty_like(logs)
            steps[t // length, r, s] += math.exp(
                _core.moving_expect(logs + only, initial, moves, length, pair) - total
            )
    near = keep ** np.abs(np.arange(blocks)[:, np.newaxis] - np.arange(blocks))[..., np.newaxis]
    block = np.arange(rounds) // length
    known = ~np.isnan(seen)
    _, first, after, parameters = fit_once(
        seen, initial.copy(), moves.copy(), rows.copy(), length, keep, logs, 1
    )
    np.testing.assert_allclose(first, (shares[0] + 0.1) / (shares[0] + 0.1).sum())
    for b in range(blocks):
        weights = near[b, block, 0][known, np.newaxis] * shares[known]
        means = weights.T @ seen[known] / weights.sum(axis=0)
        squares = weights.T @ seen[known] ** 2 / weights.sum(axis=0)
        np.testing.assert_allclose(parameters[b, 0], means)
        np.testing.assert_allclose(parameters[b, 1], squares - means**2, atol=1e-12)
        counts = np.einsum("c,crs->rs", near[b, :, 1], steps) + 0.1
        np.testing.assert_allclose(after[b], counts / counts.sum(axis=1, keepdims=True), rtol=1e-6)


def fit_once(
    seen: np.ndarray, initial: np.ndarray, moves: np.ndarray, rows: np.ndarray, length: int,
    keep: np.ndarray, logs: np.ndarray, iterations: int,
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    guards = np.array([1e-4, 0.1, 0.0])
    column = seen[:, np.newaxis].copy()
    total, _ = _core.moving_fit(
        "gaussian", column, length, keep, initial, moves, rows, None, guards, iterations, 0.0, logs
    )
    return total, initial, moves, rows


@pytest.mark.parametrize("family", EXAMPLES)
def test_every_family_moves(family: str) -> None:
    """Parameters that do not move are the fit itself; those that do explain the series better."""
    rng = np.random.default_rng(0)
    seen, symbols = series(family, 300), 3 if family == "categorical" else None
    base = fit(seen, 2, family, rng=rng, symbols=symbols)
    still = fit_moving(base.emission.accepted(seen), base, symbols=symbols)
    smoothed, _, total = base.smoothed(seen)
    np.testing.assert_allclose(still.smoothed(), smoothed, atol=1e-8)
    assert still.log_likelihood == pytest.approx(total, rel=1e-9)
    moved = fit_moving(base.emission.accepted(seen), base, memory=40, symbols=symbols)
    assert moved.log_likelihood > still.log_likelihood - 1.0
    assert moved.free > still.free
    assert np.isfinite(moved.logs).all()
    np.testing.assert_allclose(moved.smoothed().sum(axis=1), 1.0)


def test_the_number_of_free_parameters() -> None:
    for blocks, keep in ((1, 0.5), (9, 0.3), (40, 0.95)):
        near = keep ** np.abs(np.arange(blocks)[:, np.newaxis] - np.arange(blocks))
        assert _degrees(blocks, keep) == pytest.approx((1.0 / near.sum(axis=1)).sum())
    assert _degrees(7, 1.0) == 1.0
    assert LENGTH > 0
