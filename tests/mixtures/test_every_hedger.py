"""Mixtures of every hedger of the package."""

import dataclasses
import math
import pickle
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import Mixture, NormalHedge, blend
from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.hedgers import BatesGranger, FixedShare, Uniform, named
from tests.mixtures.hedger_examples import EVERY, KNOWN, WIDTH, busy_with
from tests.tables.examples import loop, values, wide

NEVER = {
    f"{name}, alpha=0": dataclasses.replace(hedger, alpha=0.0)
    for name, hedger in EVERY.items()
    if not hedger.has_potential
}


each = pytest.mark.parametrize("hedger", EVERY.values(), ids=EVERY.keys())


all_of_them = pytest.mark.parametrize(
    "hedger", [*EVERY.values(), *NEVER.values()], ids=[*EVERY, *NEVER]
)


def gains_of(hedger: Any, forecasts: np.ndarray, outcome: float) -> np.ndarray:
    """Return the gains as the top of `src/core/mixture.hpp` has them, where the range is known."""
    losses = np.abs(forecasts - outcome)
    least = 0.0 if hedger.by_losses else np.nanmin(losses)
    return np.asarray(1.0 - 2.0 * np.minimum((losses - least) / WIDTH, 1.0))


@all_of_them
def test_a_mixture_is_a_loop_over_step(hedger: Any) -> None:
    rng = np.random.default_rng(4)
    mixture, names = Mixture(hedger, KNOWN), ["a", "b", "c"]
    state = hedger.init(3)
    waiting: deque[tuple[int, np.ndarray, np.ndarray, float]] = deque()
    for t in range(60):
        if t == 30:
            names = [*names, "d", "e"]
        said = rng.normal(size=len(names)) * np.arange(1, len(names) + 1)
        asleep = rng.random(len(names)) < (0.3 if t % 3 else 0.0)
        said[asleep] = np.nan
        rated = np.where(asleep, 0.0, 1.0)
        told = None
        if t % 5 == 1:
            rated[0] *= 0.25
            told = {"a": 0.25}
        made = mixture.predict(dict(zip(names, said, strict=True)), confidence=told)
        if t == 30:
            state = hedger.join(state, 2)
        np.testing.assert_allclose(made.distribution[0], hedger.play(state, rated), 1e-9, 1e-12)
        waiting.append((made.ticket, said, rated, rng.normal()))
        # Outcomes are known two rounds later; NormalHedge allows for that in a mixture.
        if len(waiting) > 2 or isinstance(hedger, NormalHedge):
            ticket, said, rated, outcome = waiting.popleft()
            mixture.update(ticket, outcome)
            late = len(state.weights) - len(said)
            said, rated = np.append(said, [np.nan] * late), np.append(rated, [0.0] * late)
            if not rated.any():
                said = np.zeros_like(said)
            state = hedger.step(state, gains_of(hedger, said, outcome), rated)
        now: Any = mixture.state()
        np.testing.assert_allclose(now.weights, state.weights, 1e-9, 1e-12)
        np.testing.assert_allclose(now.regrets, state.regrets, 1e-9, 1e-12)
        np.testing.assert_allclose(mixture.regrets[0], state.regrets, 1e-9, 1e-12)
    np.testing.assert_allclose(now.ledger, state.ledger, 1e-7, 1e-9)
    np.testing.assert_allclose(now.totals, state.totals, 1e-9, 1e-12)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_losses_of_several_things_are_averaged(power: float) -> None:
    hedger, rng = BatesGranger(alpha=0.1, power=power), np.random.default_rng(5)
    mixture, state = Mixture(hedger, KNOWN), hedger.init(3)
    assert not mixture.settings.gradient
    for _ in range(50):
        said, outcome = rng.normal(size=(4, 3)) * [0.5, 1.0, 2.0], rng.normal(size=4)
        said[rng.random(said.shape) < 0.2] = np.nan
        said[0] = 0.5  # somebody is awake in one row
        outcome[1] = np.nan
        made = mixture.predict(dict(zip("abc", said.T, strict=True)))
        rated = [~np.isnan(row) for row in said]
        for row, awake in zip(made.distribution, rated, strict=True):
            np.testing.assert_allclose(row, hedger.play(state, 1.0 * awake), 1e-12)
        mixture.update(made.ticket, outcome)
        gains = 1.0 - 2.0 * np.abs(said - outcome[:, np.newaxis]) / WIDTH
        known = gains[~np.isnan(outcome)]
        covered = (~np.isnan(known)).mean(axis=0)
        state = hedger.step(state, np.nansum(known, axis=0) / (3.0 * covered), covered)
        np.testing.assert_allclose(mixture.weights[0], state.weights, 1e-12)


def test_inverse_losses_at_any_scale() -> None:
    """The range doubles on the way, and earlier losses count half."""
    rng, runs = np.random.default_rng(6), []
    errors = rng.normal(size=(200, 3)) * [0.5, 1.0, 2.0] * 1.05 ** np.arange(200)[:, np.newaxis]
    for scale in (1.0, 2.0**-40, 2.0**60):
        mixture = Mixture("bates-granger:alpha=0", "absolute", combine="mean")
        for row in errors * scale:
            mixture.update(mixture.predict(dict(zip("abc", row, strict=True))).ticket, 0.0)
        runs.append(mixture.weights[0])
        assert mixture.ranges[0, 0] > 1e3 * scale
    np.testing.assert_array_equal(runs[1], runs[0])
    np.testing.assert_array_equal(runs[2], runs[0])
    losses = np.abs(errors).sum(axis=0)
    inverse = 1.0 / losses  # some are clipped
    np.testing.assert_allclose(runs[0], inverse / inverse.sum(), rtol=0.3)
    with pytest.raises(ValueError, match="gradient is of no use to BatesGranger"):
        Mixture("bates-granger", gradient=True)


@each
@pytest.mark.parametrize(("series", "pooled", "lag"), [(1, False, 2), (3, False, 0), (3, True, 1)])
def test_blend_is_a_loop_over_mixtures(hedger: Any, series: int, pooled: bool, lag: int) -> None:
    table = wide(40, series)
    by = () if series == 1 else "unique_id"
    experts = ["gam", "ar", "naive"]
    found = blend(pa.table(table), "y", experts, by, "ds", lag, pooled=pooled, hedger=hedger)
    np.testing.assert_array_equal(values(found), loop(table, lag, pooled=pooled, hedger=hedger))
    assert repr(hedger) in str(found.summary())


@each
@pytest.mark.parametrize("way", ["file", "pickle"])
def test_a_mixture_comes_back_to_the_bit(tmp_path: Path, hedger: Any, way: str) -> None:
    one = busy_with(hedger, shared=way == "pickle")
    if way == "file":
        one.save(tmp_path / "state.json")
        two = Mixture.load(tmp_path / "state.json")
        two.save(tmp_path / "again.json")
        assert (tmp_path / "state.json").read_text() == (tmp_path / "again.json").read_text()
    else:
        two = pickle.loads(pickle.dumps(one))
    assert one.settings == two.settings
    assert one.bound() == two.bound()
    for mixture in (one, two):
        for ticket in list(mixture.pending):
            mixture.update(ticket, [0.25, 0.5])
    said = {name: [1.0, float(k)] for k, name in enumerate("abcdef")}
    for k in range(3):
        made = [mixture.predict(said) for mixture in (one, two)]
        np.testing.assert_array_equal(made[0].value, made[1].value)
        for mixture, prediction in zip((one, two), made, strict=True):
            mixture.update(prediction.ticket, [0.0, float(k)])
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one.live, name), getattr(two.live, name))


def halved(hedger: Any, state: Any) -> Any:
    """Return the state were all gains so far half as large, as the core sees it."""
    arrays = state.weights.copy(), state.ledger.copy(), state.totals.copy()
    hedger._engine.halve(*arrays)
    return state._replace(weights=arrays[0], ledger=arrays[1], totals=arrays[2])


@all_of_them
def test_halving_the_past(hedger: Any) -> None:
    rng = np.random.default_rng(2)
    gains = rng.uniform(-1.0, 1.0, (80, 5))
    one = hedger.run(gains[:40]).state
    two = halved(hedger, one)
    np.testing.assert_array_equal(two.regrets, 0.5 * one.regrets)
    assert two.weights.min() >= 0.0
    assert two.weights.sum() == pytest.approx(1.0)
    if not hedger.free_of_scale or hedger.has_potential or "time" in hedger.total_names:
        return
    np.testing.assert_allclose(two.weights, one.weights, rtol=1e-9, atol=1e-12)
    for row in gains[40:]:
        one, two = hedger.step(one, row), hedger.step(two, 0.5 * row)
        np.testing.assert_allclose(two.weights, one.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("eta", [0.5, 2.0])
@pytest.mark.parametrize("name", ["hedge-fixed", "optimistic-hedge"])
def test_halving_the_past_is_doubling_the_rate(name: str, eta: float) -> None:
    gains = np.random.default_rng(2).uniform(-1.0, 1.0, (60, 5))
    hedger = dataclasses.replace(EVERY[name], eta=eta)
    double: Any = dataclasses.replace(hedger, eta=2.0 * eta)
    one = hedger.run(gains[:30]).state
    two = halved(double, one)  # the state knows nothing of the rate
    np.testing.assert_allclose(two.weights, one.weights, rtol=1e-9)
    for row in gains[30:]:
        one, two = hedger.step(one, row), double.step(two, 0.5 * row)
        np.testing.assert_allclose(two.weights, one.weights, rtol=1e-9)


def test_halving_the_past_of_those_that_remember_weights() -> None:
    gains = np.random.default_rng(2).uniform(-1.0, 1.0, (30, 5))
    hedger: Any = FixedShare(2.0, 1e-300)  # that is Hedge
    one, two = hedger.run(gains).state, FixedShare(1.0, 1e-300).run(gains).state
    np.testing.assert_allclose(halved(hedger, one).weights, two.weights, rtol=1e-9)


@pytest.mark.parametrize("hedger", NEVER.values(), ids=NEVER.keys())
def test_rows_grow_as_their_exponents_say(hedger: Any) -> None:
    """Two rounds of tiny gains, and of half of them, from the start."""
    gains = np.array([[1e-4, -2e-4, 3e-5], [2e-4, -1e-4, 8e-5]])
    start = hedger.init(3)
    first, totals = start.ledger, start.totals
    halved = 1.0 - 0.5 * (1.0 - gains) if hedger.by_losses else 0.5 * gains
    whole, half = (hedger.run(sized).state for sized in (gains, halved))
    names = hedger.row_names + hedger.total_names
    degrees = [hedger.scaling_exponents.get(name, 1) for name in names]
    assert set(hedger.scaling_exponents) <= {*names, "weights"}
    own = len(first) - len(hedger.row_names)
    pairs = [
        *zip(whole.ledger[own:] - first[own:], half.ledger[own:] - first[own:], strict=True),
        *zip(whole.totals - totals, half.totals - totals, strict=True),
    ]
    for (large, small), degree in zip(pairs, degrees, strict=True):
        np.testing.assert_allclose(small, 0.5**degree * large, rtol=2e-3, atol=1e-13)


@each
def test_ranges_double_on_the_way(hedger: Any) -> None:
    rng = np.random.default_rng(0)
    mixture, heard, doubled = Mixture(hedger, "absolute"), np.zeros(3), 0
    for t in range(80):
        made = mixture.predict(
            {name: rng.normal() * 4.0**k * 1.3**t for k, name in enumerate("abc")}
        )
        heard += made.distribution[0]
        before = (mixture.ranges[0, 0], mixture.regrets[0].copy())
        mixture.update(made.ticket, 0.0)
        if before[0] and mixture.ranges[0, 0] > before[0]:
            shrunk = before[0] / mixture.ranges[0, 0] * before[1]
            assert np.abs(mixture.regrets[0] - (1.0 - hedger.alpha) * shrunk).max() <= 2.0 + 1e-12
            doubled += round(math.log2(mixture.ranges[0, 0] / before[0]))
        assert mixture.weights.sum() == pytest.approx(1.0)
    assert doubled >= 3 or hedger == Uniform(alpha=0.1)
    assert heard[0] > heard[2] or hedger == Uniform(alpha=0.1)


def test_a_report_of_a_state() -> None:
    mixture = busy_with(named("regret-matching", alpha=0.1))
    hedger: Any = mixture.settings.hedger
    text = str(hedger.report(mixture.state()))
    assert "RegretMatching(alpha=0.1)" in text
    assert "never above" in text
    assert "average potential" not in text
    assert "or it was not kept" in text  # a mixture does not know its last gain
    assert "no theorem" in str(EVERY["squint"].report(EVERY["squint"].init(3)))
