"""Quantiles at several levels: an oracle of the whole rule, order, gaps, files, tables, bounds."""

import json
import math
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from normalhedge import Mixture
from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.mixtures import crps
from normalhedge.mixtures.rules import Automatic, levels_of
from normalhedge.mixtures.rules._components import ledger_weights
from normalhedge.mixtures.state import item_indices
from normalhedge.tables._playing import play_table
from normalhedge.tables._rounds import arrange
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames._panels import Panel
from tests.mixtures.quantile_examples import LEVELS, MANY, NAMES, forecasters, said_by
from tests.quantile_oracle import QuantileOracle, QuantileRound, hats, quantile_loss

SETTINGS: dict[str, dict[str, Any]] = {
    "one item": {},
    "many levels": {"levels": MANY},
    "one level": {"levels": (0.3,)},
    "outcomes are late": {"lag": 3},
    "newcomers": {"late": 2, "lag": 2},
    "two experts": {"n": 2},
    "three items": {"items": 3},
    "three items, many levels, late, newcomers": {"items": 3, "levels": MANY, "lag": 4, "late": 1},
    "items that begin later": {"items": 3, "begins": (0, 15, 40), "lag": 3},
    "ragged items": {"items": 3, "rhythms": (1, 2, 3), "lag": 2},
    "inside": {"inside": True, "levels": MANY},
    "inside, three items, late, newcomers": {"inside": True, "items": 3, "lag": 4, "late": 1},
}


def compare_with_oracle(
    seed: int,
    *,
    levels: tuple[float, ...] = LEVELS,
    items: int = 1,
    n: int = 5,
    lag: int = 0,
    late: int = 0,
    begins: tuple[int, ...] = (0, 0, 0),
    rhythms: tuple[int, ...] = (1, 1, 1),
    inside: bool = False,
) -> None:
    """Play a game with sleepers; all that is said must be what the oracle says."""
    forecasts, y = forecasters(70, seed, levels, items=items, n=n)
    forecasts[30:32] = np.nan
    rng = np.random.default_rng([seed, 1])
    y[rng.random(y.shape) < (0.1 if items > 1 else 0.0)] = np.nan
    mixture = Mixture("auto:inside=true" if inside else "auto", crps(levels))
    oracle = QuantileOracle(n - late, levels, inside=inside)
    names = [f"e{i}" for i in range(n)]
    mixture.join(names[: n - late])
    waiting: deque[tuple[int, QuantileRound, np.ndarray]] = deque()
    for t in range(len(y)):
        if t == 35 and late:
            oracle.join(late)
        who = names if t >= 35 else names[: n - late]
        now = [i for i in range(items) if t >= begins[i] and t % rhythms[i] == 0]
        rows = forecasts[t, now, :, : len(who)]
        made = mixture.predict(said_by(who, rows, now, alone=items == 1))
        slow = oracle.predict(now, rows)
        size = np.abs(rows).max(initial=1.0, where=~np.isnan(rows))
        found = mixture.pending[made.ticket].values
        blend, rest = found[:, : len(levels)], found[:, len(levels) :]
        rest = rest.reshape(len(now), len(levels), -1).swapaxes(1, 2)
        found = np.concatenate([blend[:, np.newaxis], rest], axis=1)
        np.testing.assert_allclose(found, slow.values, rtol=1e-9, atol=1e-9 * size)
        waiting.append((made.ticket, slow, y[t, now]))
        if len(waiting) > lag:
            ticket, slow, outcomes = waiting.popleft()
            if not np.isnan(outcomes).all():
                pairs = zip(slow.items, outcomes.tolist(), strict=True)
                told = {f"i{i}": x for i, x in pairs if not math.isnan(x)}
                mixture.update(ticket, float(outcomes[0]) if items == 1 else told)
                oracle.update(slow, outcomes)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
def test_it_is_the_oracle(setting: dict[str, Any]) -> None:
    compare_with_oracle(0, **setting)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
def test_it_is_the_oracle_in_many_games(setting: dict[str, Any]) -> None:
    for seed in range(1, 9):
        compare_with_oracle(seed, **setting)


def loss_of(x: list[float], y: float, levels: tuple[float, ...]) -> float:
    """Return the loss that a mixture notes of a single expert."""
    mixture = Mixture("uniform", crps(levels))
    mixture.update(mixture.predict({"a": x}).ticket, y)
    return mixture.summary().experts[0].loss


def test_the_loss_is_the_weighted_interval_score() -> None:
    rng = np.random.default_rng(0)
    levels = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)
    for _ in range(20):
        x, y = np.sort(rng.normal(size=7)), float(2.0 * rng.normal())
        score = 0.5 * abs(y - x[3])
        for k, alpha in enumerate((0.05, 0.2, 0.5)):
            low, high = x[k], x[6 - k]
            beyond = max(low - y, 0.0) + max(y - high, 0.0)
            score += alpha / 2.0 * (high - low + 2.0 / alpha * beyond)
        assert loss_of(x.tolist(), y, levels) == pytest.approx(score / 3.5)


finite = st.floats(-1e6, 1e6)


@given(st.lists(finite, min_size=4, max_size=4), finite)
def test_sorting_never_raises_the_loss(x: list[float], y: float) -> None:
    levels, shares = np.array([0.1, 0.4, 0.5, 0.9]), np.full(4, 0.25)
    before = quantile_loss(x, y, levels, shares)
    after = quantile_loss(sorted(x), y, levels, shares)
    assert after <= before + 1e-9 * (1.0 + abs(before))


def test_the_crps_of_a_normal_distribution_is_the_limit() -> None:
    from statistics import NormalDist  # noqa: PLC0415 -- for this test alone

    levels = tuple((np.arange(400) + 0.5) / 400.0)
    quantiles = [NormalDist().inv_cdf(level) for level in levels]
    y, normal = 0.7, NormalDist()
    exact = y * (2.0 * normal.cdf(y) - 1.0) + 2.0 * normal.pdf(y) - 1.0 / math.sqrt(math.pi)
    assert loss_of(quantiles, y, levels) == pytest.approx(exact, abs=2e-3)


def play(
    forecasts: np.ndarray,
    y: np.ndarray,
    levels: tuple[float, ...],
    *,
    lag: int = 0,
    rule: str = "auto",
) -> tuple[Mixture, np.ndarray, np.ndarray]:
    """Play a table, rounds x items x levels x n; return the blends, and all that was said."""
    rounds, items, count, n = forecasts.shape
    mixture = Mixture(rule, loss=crps(levels))
    panel = Panel(
        None, [f"m{i}" for i in range(n)], forecasts.reshape(-1, count, n).copy(), y.ravel(),
        [f"i{k}" for k in range(items)] if items > 1 else [""],
        np.tile(np.arange(items, dtype=np.int32), rounds),
        np.repeat(np.arange(rounds, dtype=np.int32), items), np.arange(rounds), None, "numbers",
    )  # fmt: skip
    session = TableSession.of(mixture)
    found = arrange(session, panel, lag)
    values: list[np.ndarray] = []
    observe = lambda _, new: values.append(new.copy())  # noqa: E731 -- one line
    play_table(session, found, weights=False, progress=None, observe=observe)
    blends, components = np.split(np.concatenate(values), [count], axis=1)
    np.testing.assert_array_equal(blends, found.values)
    return (
        mixture,
        blends.reshape(rounds, items, count),
        components.reshape(rounds, items, count, -1),
    )


def check_order(rounds: int, seed: int, levels: tuple[float, ...], **options: Any) -> None:
    forecasts, y = forecasters(rounds, seed, levels, wild=0.1, crossing=0.3, **options)
    holes = np.random.default_rng([seed, 2]).random(forecasts.shape) < 0.05
    _, blends, _ = play(np.where(holes, np.nan, forecasts), y, levels, lag=seed % 3)
    with np.errstate(invalid="ignore"):
        assert not (np.diff(blends, axis=2) < 0.0).any()
    assert np.isfinite(blends).mean() > 0.9


@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize("levels", [LEVELS, MANY], ids=["three levels", "seven levels"])
def test_the_blend_never_crosses(levels: tuple[float, ...], items: int) -> None:
    for seed in range(3):
        check_order(600, seed, levels, items=items)


@pytest.mark.slow
def test_the_blend_never_crosses_in_a_million_rounds() -> None:
    for seed in range(20):
        check_order(50_000, 100 + seed, MANY if seed % 2 else LEVELS)


def test_weights_of_a_knot_lie_within_its_reach() -> None:
    for knots, levels in ((1, 7), (2, 7), (3, 7), (5, 23), (7, 7)):
        table = hats(knots, levels)
        np.testing.assert_allclose(table.sum(axis=0), 1.0)
        found = Automatic().components(crps(MANY))
        one = found[-1]._replace(knots=knots)
        np.testing.assert_allclose(one.knot_shares(levels), table.mean(axis=1))


def test_a_table_is_played_as_a_mixture_is() -> None:
    forecasts, y = forecasters(60, 1, MANY, items=3)
    table, blends, _ = play(forecasts, y, MANY)
    mixture = Mixture(loss=crps(MANY))
    mixture.join(table.names)
    item_indices(mixture.live, table.items)
    for rows, outcomes, expected in zip(forecasts, y, blends, strict=True):
        made = mixture.predict(said_by(table.names, rows, [0, 1, 2], alone=False))
        found = [[math.nan] * 7 if one is None else one for one in made.value.values()]
        np.testing.assert_array_equal(found, expected)
        mixture.update(made.ticket, {f"i{k}": float(one) for k, one in enumerate(outcomes)})
    for name in ARRAYS:  # a table adds up in stretches
        rtol = 1e-12 if name.endswith("sums") else 0.0
        one, other = getattr(mixture.live, name), getattr(table.live, name)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=0.0)


def test_a_file_continues_to_the_bit(tmp_path: Path) -> None:
    forecasts, y = forecasters(60, 2, MANY, items=2)
    one = Mixture(loss=crps(MANY))
    waiting: list[tuple[int, np.ndarray]] = []
    for t, (rows, outcomes) in enumerate(zip(forecasts, y, strict=True)):
        if t % 20 == 13:
            one.save(tmp_path / "state.json")
            other = Mixture.load(tmp_path / "state.json")
            assert json.dumps(other.settings.to_plain()) == json.dumps(one.settings.to_plain())
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(other.live, name), getattr(one.live, name))
            for ticket, pending in one.pending.items():
                np.testing.assert_array_equal(other.pending[ticket].values, pending.values)
            one = other
        made = one.predict({name: rows[:, :, k] for k, name in enumerate(NAMES)})
        waiting.append((made.ticket, outcomes))
        if len(waiting) > 3:
            one.update(*waiting.pop(0))
    assert len(one.pending) == 3
    assert sum(count for _, count in one.summary().crossed) > 0


def test_quantiles_that_cross_are_sorted_and_counted() -> None:
    mixtures = [Mixture(loss=crps(LEVELS)) for _ in range(2)]
    rng = np.random.default_rng(3)
    for t in range(40):
        a, b, y = np.sort(rng.normal(size=3)), np.sort(rng.normal(size=3)), float(rng.normal())
        crossed = a[[2, 0, 1]] if t % 4 == 0 else a
        made = [
            mixture.predict({"a": said, "b": b})
            for mixture, said in zip(mixtures, (crossed, a), strict=True)
        ]
        np.testing.assert_array_equal(made[0].value, made[1].value)
        for mixture, one in zip(mixtures, made, strict=True):
            mixture.update(one.ticket, y)
    first, second = (mixture.summary() for mixture in mixtures)
    assert first.crossed == [("a", 10)]
    assert second.crossed == []
    assert "the quantiles of 10 forecasts crossed and were sorted: 10 of a" in str(first)
    assert "crossed" not in str(second)


@pytest.mark.parametrize("hedger", [None, "normal-hedge", "squint"])
def test_gaps_are_filled_in_a_straight_line(hedger: str | None) -> None:
    mixture = Mixture(hedger, crps((0.1, 0.2, 0.5, 0.9)))
    assert mixture.predict({"a": [1.0, None, 5.0, 9.0]}).value.tolist() == [1.0, 2.0, 5.0, 9.0]
    found = mixture.predict({"a": {0.1: 5.0, 0.9: 1.0}}).value.tolist()
    np.testing.assert_allclose(found, [1.0, 1.5, 3.0, 5.0])
    made = mixture.predict({"a": [1.0, 2.0, 5.0, None], "b": [0.0, 0.0, 0.0, 0.0]})
    assert made.value.tolist() == [0.0] * 4  # without the last one it sleeps
    assert made.weights["a"] == 0.0
    assert mixture.predict({"a": [None, 2.0, 5.0, 6.0]}).value is None
    with pytest.warns(RuntimeWarning, match="infinite forecasts count as missing"):
        assert mixture.predict({"a": [math.inf, 2.0, 5.0, 6.0], "b": math.nan}).value is None


def test_plain_combinations_are_of_sorted_quantiles() -> None:
    mixture = Mixture("normal-hedge", crps(LEVELS), include=("mean", "median"))
    made = mixture.predict({"a": [3.0, 1.0, 2.0], "b": [3.0, None, 5.0]})
    table = mixture.pending[made.ticket].forecasts[0]
    np.testing.assert_array_equal(table[:, 0], [2.0, 3.0, 4.0])
    np.testing.assert_array_equal(table[:, 1], [2.0, 3.0, 4.0])
    mixture.update(made.ticket, 2.0)
    assert mixture.summary().crossed == [("a", 1)]


def test_the_bound_is_a_theorem() -> None:
    """Known at once, nothing exceeds the condition of the theorem, for sorting only helps."""
    for seed, items in ((6, 1), (7, 3)):
        forecasts, y = forecasters(400, seed, LEVELS, items=items, crossing=0.3, wild=0.1)
        mixture, _, _ = play(forecasts, y, LEVELS)
        assert mixture.summary().regret <= mixture.bound().regret
        assert levels_of(mixture.live).excess[0].max() < 5.0  # the logarithm of the clocks alone
    late, _, _ = play(forecasts, y, LEVELS, lag=7)
    assert late.summary().regret <= late.bound().regret


def test_the_blend_is_within_the_hull_and_follows_scale_and_order() -> None:
    forecasts, y = forecasters(120, 8, MANY, items=2, asleep=0.1, crossing=0.0, wild=0.0)
    _, one, _ = play(forecasts, y, MANY, rule="auto:inside=true")
    low, high = (part(forecasts, axis=3) for part in (np.nanmin, np.nanmax))
    assert ((low <= one) & (one <= high))[~np.isnan(one)].all()
    _, scaled, _ = play(2.0**30 * forecasts, 2.0**30 * y, MANY, rule="auto:inside=true")
    np.testing.assert_array_equal(scaled, 2.0**30 * one)
    order = [3, 0, 4, 1, 2]
    _, other, _ = play(forecasts[..., order], y, MANY, rule="auto:inside=true")
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_weights_by_level_are_found_where_they_are_needed() -> None:
    """One expert knows the low quantiles and another one the high ones."""
    rng, levels = np.random.default_rng(9), np.array(MANY)
    y = rng.normal(size=(600, 1))
    spread = np.log(levels / (1.0 - levels)) / 1.7
    noise = np.where(levels < 0.5, 0.1, 3.0) * rng.normal(size=(600, 1, 1))
    other = np.where(levels > 0.5, 0.1, 3.0) * rng.normal(size=(600, 1, 1))
    mixture, blends, said = play(
        np.moveaxis(np.stack([np.sort(spread + part, axis=2) for part in (noise, other)]), 0, 3),
        y, MANY,
    )  # fmt: skip
    names = [one.name for one in Automatic().components(crps(MANY))]

    def mean_loss(x: np.ndarray) -> float:
        shares = np.full(len(levels), 1.0 / len(levels))
        return float(
            np.mean([quantile_loss(a[0], b[0], levels, shares) for a, b in zip(x, y, strict=True)])
        )

    losses = {name: mean_loss(said[..., 3 + k]) for k, name in enumerate(names)}
    varying = [name for name in names if name.endswith(("by level", "smooth"))]
    shared = [name for name in names if name not in varying]
    assert min(losses[name] for name in varying) < 0.97 * min(losses[name] for name in shared)
    assert mean_loss(blends) < min(losses[name] for name in shared)
    weights = ledger_weights(Automatic().components(crps(MANY)), mixture.live.ledgers, len(MANY))
    np.testing.assert_allclose(weights.sum(axis=2), 1.0)
    assert math.fsum(row.weight for row in mixture.summary().experts) == pytest.approx(1.0)
