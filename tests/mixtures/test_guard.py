"""The guard of the automatic mixture, which moves absurd forecasts."""

from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.state.sum_rows import ABSURD
from tests.mixtures.automatic_examples import NAMES, experts, table_of
from tests.tables.examples import values


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_one_absurd_forecast_of_five(scale: float) -> None:
    absurd = {0: 1e6, 1: -1e6, 7: 1e6, 30: -1e12, 45: 1e30}
    for seed in range(5):
        rng, mixture = np.random.default_rng(seed), Mixture("auto:inside=true")
        for t in range(60):
            y = scale * (50.0 + rng.normal())
            said = y + scale * rng.normal(size=5)
            if t in absurd:
                said[2] = scale * absurd[t]
            made = mixture.predict(dict(zip(NAMES, said.tolist(), strict=True)))
            middle = np.median(said)
            spread = np.median(np.abs(said - middle))
            assert abs(made.value - middle) < 10.0 * spread
            assert abs(made.value - y) < 4.0 * scale
            mixture.update(made.ticket, float(y))
        moved = mixture.live.expert_sums[ABSURD]
        assert moved[2] >= len(absurd)
        assert moved.sum() <= len(absurd) + 2
        losses = {row.name: row.loss for row in mixture.summary().experts}
        assert losses["cat"] > 1e10 * scale**2  # which are of the forecasts as they were


def test_one_of_two_that_becomes_absurd() -> None:
    for seed in range(5):
        rng, mixture, errors = np.random.default_rng(seed), Mixture(), []
        for t in range(60):
            y = 50.0 + rng.normal()
            said = {"a": y + rng.normal(), "b": y + rng.normal() if t < 30 else 1e6}
            made = mixture.predict(said)
            mixture.update(made.ticket, y)
            errors.append(abs(made.value - y))
        assert max(errors) < 20.0  # and not 500,000
        assert np.mean(errors[45:]) < 4.0
        assert mixture.live.expert_sums[ABSURD].tolist() == [0.0, 30.0]


def test_two_are_believed_before_anything_was_seen() -> None:
    mixture = Mixture()
    for _ in range(5):
        made = mixture.predict({"a": 1.0, "b": 1001.0})
        assert 1.0 < made.value < 1001.0
        mixture.update(made.ticket, 500.0)
    assert mixture.live.expert_sums[ABSURD].tolist() == [0.0, 0.0]


def test_items_on_different_scales() -> None:
    """A forecast that is absurd for one item is not for another."""
    rng, scales = np.random.default_rng(14), np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
    mixture, errors = Mixture(), []
    for t in range(200):
        y = scales * (20.0 + rng.normal(size=5))
        said = y[:, np.newaxis] + scales[:, np.newaxis] * rng.normal(size=(5, 5)) * [
            0.3,
            1,
            1,
            1,
            1,
        ]
        if t % 20 == 13:
            said[t // 20 % 5, 2] *= 1e6
        made = mixture.predict(dict(zip(NAMES, said.T, strict=True)))
        mixture.update(made.ticket, y)
        errors.append((made.value - y) / scales)
    moved = mixture.live.expert_sums[ABSURD]
    assert moved[2] >= 10
    assert moved.sum() <= 15
    assert np.abs(errors).max() < 4.0
    late = np.sqrt(np.square(errors[100:]).mean(axis=0))
    assert (late < 0.45).all()  # of each; the mean has 0.41, the best 0.3


def with_jumps(size: float, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a panel of four that follow, and one that foresees the jumps."""
    rng, rounds = np.random.default_rng(seed), 500
    level = np.zeros(rounds)
    for jump in rng.choice(np.arange(50, rounds - 50), count, replace=False):
        level[jump:] += size * rng.choice([-1, 1])
    y = 0.5 * rng.normal(size=rounds) + level
    naive = np.append(0.0, y[:-1])
    follow = [naive + 0.5 * rng.normal(size=rounds) for _ in range(4)]
    return y, np.stack([*follow, y + 0.7 * rng.normal(size=rounds)], axis=1)


def cost_of_the_guard(y: np.ndarray, forecasts: np.ndarray, loss: str) -> tuple[float, Any]:
    """Return the loss with the guard, relative to that without; and whose forecasts it moved."""
    both = []
    for guard in (True, False):
        found = blend(table_of(y, forecasts), "y", loss=loss, hedger=Automatic(guard=guard))
        errors = np.abs(values(found) - y)
        both.append((errors**2 if loss == "square" else errors).sum())
        if guard:
            moved = found.mixture.live.expert_sums[ABSURD]
    return both[0] / both[1], moved


@pytest.mark.parametrize(("size", "loss"), [(5.0, "square"), (5.0, "absolute"), (20.0, "absolute")])
@pytest.mark.parametrize("count", [1, 6])
def test_a_jump_that_one_expert_foresaw(size: float, loss: str, count: int) -> None:
    """The first jump may be taken for an absurd forecast; it opens the guard for the next."""
    for seed in range(4):
        cost, moved = cost_of_the_guard(*with_jumps(size, count, seed), loss)
        assert cost < 1.05
        assert moved[4] <= (1 if count == 1 else 2)


def test_a_first_jump_of_thirty_deviations_is_not_believed() -> None:
    """What it costs: the square loss of one such jump, of the one who foresaw it."""
    costs = [cost_of_the_guard(*with_jumps(20.0, 6, seed), "square")[0] for seed in range(6)]
    assert max(costs) < 1.5
    y, forecasts = with_jumps(20.0, 1, 0)
    found = blend(table_of(y, forecasts), "y")
    assert found.mixture.live.expert_sums[ABSURD].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_the_guard_costs_little_where_nothing_is_absurd(n: int) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.normal(size=1000).cumsum()
        forecasts = y[:, np.newaxis] + rng.normal(size=(1000, n)) * np.linspace(0.5, 2.0, n)
        cost, moved = cost_of_the_guard(y, forecasts, "square")
        assert abs(cost - 1.0) < 0.01
        assert moved.sum() <= 5


def test_a_guard_that_is_off_moves_nothing() -> None:
    forecasts, y = experts(60, 15, wild=0.1)
    mixture = Mixture("auto:guard=false")
    for row, outcome in zip(forecasts[:, 0], y[:, 0], strict=True):
        made = mixture.predict(dict(zip(NAMES, row.tolist(), strict=True)))
        mixture.update(made.ticket, float(outcome))
    assert not mixture.live.expert_sums[ABSURD].any()


@pytest.mark.parametrize("loss", ["l1", "log", "zero-one"])
def test_probabilities_and_labels_are_not_guarded(loss: str) -> None:
    said: Any = [[0.3, 0.7]] * 4 + [[1.0, 0.0]]
    if loss == "zero-one":
        said = [1, 1, 1, 1, 1_000_000]
    mixture = Mixture(loss=loss)
    for _ in range(20):
        made = mixture.predict(dict(zip(NAMES, said, strict=True)))
        mixture.update(made.ticket, 1)
    assert not mixture.live.expert_sums[ABSURD].any()
