"""The automatic mixture: laws that every blend obeys."""

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.mixtures.rules import levels_of
from tests.mixtures.automatic_examples import NAMES, experts


def run(
    forecasts: np.ndarray,
    y: np.ndarray,
    names: list[str] = NAMES,
    *,
    lag: int = 0,
    before: Callable[[Mixture, int], object] | None = None,
    **options: Any,
) -> np.ndarray:
    """Return the blend of rounds x items x experts; an item by itself is a number."""
    mixture, waiting, found = Mixture(**options), deque[tuple[int, Any]](), []
    for t, (rows, outcomes) in enumerate(zip(forecasts, y, strict=True)):
        if before is not None:
            before(mixture, t)
        said = {name: rows[:, k] for k, name in enumerate(names)}
        if forecasts.shape[1] == 1:
            made = mixture.predict({name: float(row[0]) for name, row in said.items()})
            found.append([math.nan if made.value is None else made.value])
        else:
            made = mixture.predict(said)
            found.append(made.value)
        waiting.append((made.ticket, outcomes if forecasts.shape[1] > 1 else float(outcomes[0])))
        if len(waiting) > lag:
            mixture.update(*waiting.popleft())
    return np.array(found)


GAMES: dict[str, dict[str, Any]] = {
    "one item": {},
    "three items": {"items": 3},
    "two experts": {"n": 2},
    "all awake": {"asleep": 0.0, "wild": 0.0},
}


each_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())


each_loss = pytest.mark.parametrize("loss", ["square", "absolute"])


@each_game
@each_loss
def test_the_blend_is_within_the_hull(game: dict[str, Any], loss: str) -> None:
    forecasts, y = experts(150, 5, **game)
    names = NAMES[: forecasts.shape[2]]
    found = run(forecasts, y, names, loss=loss, lag=2, hedger="auto:inside=true")
    awake = ~np.isnan(forecasts)
    np.testing.assert_array_equal(np.isnan(found), ~awake.any(axis=2))
    low = np.min(forecasts, axis=2, initial=np.inf, where=awake)
    high = np.max(forecasts, axis=2, initial=-np.inf, where=awake)
    low, high, found = (part[awake.any(axis=2)] for part in (low, high, found))
    assert (low <= found).all()
    assert (found <= high).all()


@each_game
@each_loss
def test_the_order_of_the_experts_does_not_matter(game: dict[str, Any], loss: str) -> None:
    forecasts, y = experts(200, 6, **game)
    names = NAMES[: forecasts.shape[2]]
    size = np.max(np.abs(forecasts), axis=2, initial=1.0, where=~np.isnan(forecasts))
    one = run(forecasts, y, names, loss=loss)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(names))
        other = run(forecasts[:, :, order], y, [names[k] for k in order], loss=loss)
        assert np.nanmax(np.abs(one - other) / size) < 1e-9


@each_game
def test_the_order_of_the_items_does_not_matter(game: dict[str, Any]) -> None:
    forecasts, y = experts(120, 7, **game)
    names = NAMES[: forecasts.shape[2]]
    one = run(forecasts, y, names)
    other = run(forecasts[:, ::-1], y[:, ::-1], names)[:, ::-1]
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@each_game
@each_loss
def test_an_expert_that_never_wakes_changes_nothing(game: dict[str, Any], loss: str) -> None:
    forecasts, y = experts(150, 8, **game)
    names = NAMES[: forecasts.shape[2]]
    one = run(forecasts, y, names, loss=loss)

    def join(mixture: Mixture, t: int) -> None:
        if t in {0, 1, 70}:
            mixture.join([f"ghost {t}"])

    other = run(forecasts, y, names, loss=loss, before=join)
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@each_game
@each_loss
@pytest.mark.parametrize("power", [-40, 40])
def test_scales_and_shifts(game: dict[str, Any], loss: str, power: int) -> None:
    forecasts, y = (np.round(part * 2.0**20) / 2.0**20 for part in experts(150, 9, **game))
    names, scale = NAMES[: forecasts.shape[2]], 2.0**power
    one = run(forecasts, y, names, loss=loss, lag=1)
    scaled = run(scale * forecasts, scale * y, names, loss=loss, lag=1)
    np.testing.assert_array_equal(scaled, scale * one)
    shifted = run(forecasts + 4096.0, y + 4096.0, names, loss=loss, lag=1)
    np.testing.assert_allclose(shifted - 4096.0, one, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shared", [True, False])
def test_one_expert_identical_experts_and_nobody(shared: bool) -> None:
    rng = np.random.default_rng(10)
    mixture = Mixture("auto:inside=true", shared=shared)
    for t in range(60):
        x = rng.normal(size=2) * 10.0 ** rng.integers(-8, 9)
        said: dict[str, Any] = {"a": x} if t % 3 == 0 else {"a": x, "b": x, "c": x}
        if t % 7 == 5:
            said = {"a": [math.nan, math.nan], "b": None}
        made = mixture.predict(said)
        np.testing.assert_array_equal(made.value, [math.nan] * 2 if t % 7 == 5 else x)
        mixture.update(made.ticket, rng.normal(size=2))
        for name in ARRAYS:
            assert np.isfinite(getattr(mixture.live, name)).all()
    assert mixture.predict({"a": [1.0, math.nan], "b": [math.nan, 2.0]}).value.tolist() == [
        1.0,
        2.0,
    ]


def test_alike_for_long_and_then_not() -> None:
    """What differs by rounding alone teaches nothing."""
    rng, mixture, errors = np.random.default_rng(11), Mixture(), []
    for t in range(700):
        y = 1e6 + rng.normal()
        noise = rng.normal() * np.ones(3) if t < 500 else rng.normal(size=3) * [0.1, 2.0, 2.0]
        made = mixture.predict(dict(zip("abc", (y + noise).tolist(), strict=True)))
        mixture.update(made.ticket, float(y))
        errors.append([made.value - y, *noise])
    blended, best, *_ = np.sqrt(np.square(errors[600:]).mean(axis=0))
    assert blended < 5.0 * best
    assert blended < 0.5


def test_items_names_and_leavers() -> None:
    """Items come one after the other, and so do names; some leave, and some are forgotten."""
    rng = np.random.default_rng(12)
    mixture = Mixture("auto:inside=true", forget_after=40)
    alive: dict[int, dict[str, float]] = {}
    for t in range(200):
        items = [f"i{k}" for k in range(1 if t < 30 else 2 if t < 60 else 5)]
        names = ["a", "b", *(f"n{k}" for k in range(t // 40, t // 40 + 3))]
        y = {item: float(rng.normal()) for item in items}
        said = {
            name: {item: y[item] + rng.normal() for item in items if rng.random() < 0.9}
            for name in names
        }
        made = mixture.predict(said)
        for item in items:
            heard = [one[item] for one in said.values() if item in one]
            value = made.value[item]
            assert value is None if not heard else min(heard) <= value <= max(heard)
        alive[made.ticket] = y
        if t == 100:
            mixture.leave("b")
        if t % 10 != 9:
            for ticket in list(alive)[: -(1 + t % 3)]:
                mixture.update(ticket, alive.pop(ticket))
        ways, choice = levels_of(mixture.live)[:2]
        np.testing.assert_allclose(mixture.weights.sum(axis=1), 1.0)
        np.testing.assert_allclose(choice.sum(axis=1), 1.0)
        assert len(mixture.weights) == (1 if len(items) == 1 else 1 + len(items))
        assert ((ways >= 0.0) & (ways <= 1.0)).all()
    assert "n0" not in mixture.names
    str(mixture.summary())
