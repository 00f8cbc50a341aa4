"""The theorems of docs/two-levels.md, and natures that try to break them."""

import math
from collections import deque
from typing import Any

import numpy as np
import pytest

from benchmarks import insurance, two_levels
from benchmarks.insurance import phi, weight
from normalhedge import Mixture, NormalHedge
from normalhedge.mixtures.losses import LOSSES, crps, pinball
from normalhedge.mixtures.rules import CONTEXTS, Automatic, levels_of, part_of
from tests.mixtures.automatic_examples import ALIKE, APART, NAMES, five_models

CLOCKS = np.concatenate([np.linspace(0.0, 5.0, 51), np.geomspace(5.0, 3000.0, 60)])[:, None]
SHARES = np.linspace(-1.0, 1.0, 401)
L1 = LOSSES["l1"]()


def regrets_up_to(largest: Any, scale: Any) -> Any:
    """Return regrets up to the largest, and no potential above exp(300)."""
    return SHARES * np.minimum(largest, np.sqrt(900.0 * scale))


def test_step_1_the_lemma() -> None:
    """phi(R + r, C + |r|) <= phi(R, C) + w(R, C) r + |r| / 2(C + 1), for |r| <= 1, |R| <= C."""
    C, R = CLOCKS[..., None], regrets_up_to(CLOCKS, CLOCKS)[..., None]
    for r in np.linspace(-1.0, 1.0, 41):
        right = phi(R, C) + weight(R, C) * r + 0.5 * abs(r) / (C + 1.0)
        assert (phi(R + r, C + abs(r)) <= right * (1.0 + 1e-9)).all()
    needed = (C + 1.0) * (0.5 * (phi(R + 1.0, C + 1.0) + phi(R - 1.0, C + 1.0)) - phi(R, C))
    assert 0.33 < needed[np.isfinite(needed) & (phi(R, C) < 100.0)].max() < 0.34


def test_a_weight_is_at_least_the_slope_of_the_potential() -> None:
    s = CLOCKS + 1.0
    R = regrets_up_to(CLOCKS, CLOCKS)
    slope = 2.0 * np.maximum(R, 0.0) / (3.0 * s) * phi(R, s)
    assert (weight(R, CLOCKS) >= slope * (1.0 - 1e-9)).all()


@pytest.mark.parametrize("n", [2, 3, 7, 25, 1000])
def test_step_3_of_theorem_g(n: int) -> None:
    """The two inequalities about a state and one that lies n/4 ahead, with 2 / (b + 1) to spare."""
    b = np.concatenate([[0.0], np.geomspace(1e-4 * n, 1e4 * n, 800)])[:, None]
    X, ahead = regrets_up_to(b, n * b), b + n / 4.0

    def slope(R: Any, sign: float) -> Any:
        u = np.maximum(R, 0.0) / ahead
        return (2.0 * u - sign * u**2) / (3.0 * n) * phi(R, n * ahead)

    rising = slope(X + n / 4.0, 1.0) - weight(X, n * b)
    falling = weight(X, n * b) - slope(X - n / 4.0, -1.0)
    assert (np.maximum(rising, falling) <= 2.0 / (b + 1.0)).all()
    assert (np.maximum(rising, falling) * (b + 1.0)).max() < 0.36  # the proof is generous
    R, r = X[..., None], np.linspace(-1.0, 1.0, 21)
    factor = phi(R + r, n * (b[..., None] + np.abs(r))) / phi(R, n * b[..., None])
    assert (factor <= np.exp(np.abs(r) / (3.0 * n)) * (1.0 + 1e-12)).all()  # of a wide round


@pytest.mark.parametrize("lag", two_levels.LAGS)
@pytest.mark.parametrize("name", two_levels.SETTINGS)
def test_no_nature_breaks_theorem_f(name: str, lag: int) -> None:
    setting = two_levels.SETTINGS[name]
    found = two_levels.attack(setting, lag, 200)
    assert found.share <= 1.0
    assert found.regret <= found.bound
    assert found.share > 0.08  # it was put to the test
    if lag == 0 and setting.loss != "zero-one":
        assert abs(found.excess) < 1e-6
    if lag == 0 and setting.loss == "zero-one":
        assert found.excess > 0.1


@pytest.mark.parametrize("lag", [1, 5, 24])
@pytest.mark.parametrize("name", insurance.NATURES)
def test_no_nature_breaks_theorem_g(name: str, lag: int) -> None:
    for unit in (1.0, 2.5, 4.0):
        found = insurance.play(insurance.NATURES[name], lag, 700, unit=unit)
        assert found.share <= 1.0
        assert 1.0 < found.potential < 2.5
        assert found.wide == 0 if unit == 4.0 else found.wide >= 0


def test_insurance_of_the_core_is_that_of_the_benchmark() -> None:
    """The weights that the core plays, with late outcomes, from its own regrets and clocks."""
    mixture, open_rounds, rng = Mixture("auto:guard=false"), deque[Any](), np.random.default_rng(3)
    square = LOSSES["square"]()
    prior, first = Automatic()._shares(square), Automatic().first_way(square) - 3
    prior[first - CONTEXTS : first] = 0.0  # there are no contexts
    for _ in range(60):
        y = rng.normal()
        made = mixture.predict({"a": y + rng.normal(), "b": y + 2.0 * rng.normal(), "c": 1.0})
        open_rounds.append((made.ticket, y))
        if len(open_rounds) > 3:
            mixture.update(*open_rounds.popleft())
        levels = levels_of(mixture.live)
        expected = prior * weight(levels.regrets[0], levels.clocks[0])
        np.testing.assert_allclose(levels.insurance[0], expected / expected.sum(), rtol=1e-9)


def even_odds(lag: int, rounds: int, low: float, high: float) -> tuple[Mixture, Any, Any, Any]:
    """Play probabilities against outcomes that are bad for the blend.

    Return the mixture and the losses of the blend, of the experts and of all that it is insured
    against.
    """
    mixture, rng = Mixture("auto", loss="l1"), np.random.default_rng(8)
    waiting, blends, experts, insured = deque[Any](), list[Any](), list[Any](), list[Any]()
    for t in range(rounds):
        p = rng.uniform(low, high, 5)
        p[0] = high if t % 37 < 25 else low
        made = mixture.predict({f"m{i}": [1.0 - x, x] for i, x in enumerate(p.tolist())})
        kept = mixture.pending[made.ticket].values.reshape(-1)
        ways = kept[2:].reshape(2, -1)[1, 2:]
        y = int(made.value[1] < np.nanmean(ways)) if t % 3 else int(p[0] > 0.5 * (low + high))
        blends.append(abs(y - made.value[1]))
        experts.append(np.abs(y - p))
        insured.append(np.abs(y - ways))
        waiting.append((made.ticket, y))
        if len(waiting) > lag:
            mixture.update(*waiting.popleft())
    return mixture, np.array(blends), np.array(experts), np.array(insured)


@pytest.mark.parametrize("lag", [0, 1, 5, 24])
def test_what_is_promised_before_a_game(lag: int) -> None:
    """All forecasts lie between .4 and .6, so that no round is wide."""
    rounds = 1500
    mixture, blend, _, ways = even_odds(lag, rounds, 0.4, 0.6)
    settled = blend[: rounds - lag, None] - ways[: rounds - lag]
    regrets = levels_of(mixture.live).regrets[0]
    known = ~np.isnan(settled[0])
    np.testing.assert_allclose(settled.sum(axis=0)[known], regrets[known], atol=1e-6)
    ahead = Automatic().bound_ahead(L1, rounds, lag)
    assert regrets.max() <= ahead.regret < rounds / 2.0
    if lag == 0:
        assert mixture.bound().regret <= ahead.regret
        assert mixture.bound().potential <= ahead.potential


@pytest.mark.parametrize("sizes", [ALIKE, APART])
def test_few_rounds_of_simulated_panels_are_wide(sizes: tuple[float, ...]) -> None:
    lag, rounds = 24, 2000
    y, forecasts = five_models(sizes, 0.3, 1, rounds)
    mixture, waiting, before, wide = Mixture(), deque[Any](), np.zeros(1), 0
    window = deque[Any](maxlen=1 + lag)
    for t, (row, truth) in enumerate(zip(forecasts, y.tolist(), strict=True)):
        made = mixture.predict(dict(zip(NAMES, row.tolist(), strict=True)))
        waiting.append((made.ticket, truth))
        if len(waiting) > lag:
            mixture.update(*waiting.popleft())
            regrets = levels_of(mixture.live).losses[0].copy()
            window.append(
                np.abs(regrets - before) / part_of(mixture.live, "largest_difference")[0, 0]
            )
            before = regrets
            if np.sum(window, axis=0).max() > (1 + lag) / 4:
                wide += 1
                assert t < 100
    assert 0 < wide < 30
    ahead = Automatic().bound_ahead(LOSSES["square"](), rounds, lag, wide)
    bound, unit = mixture.bound().regret, part_of(mixture.live, "largest_difference")[0, 0]
    assert regrets.max() <= bound <= unit * (1.0 + ahead.regret)
    assert ahead.regret < 720.0


def test_corollary_2_regret_to_experts() -> None:
    """The regret to plain mean, average expert and, through NormalHedge, each expert."""
    rounds = 800
    mixture, blend, experts, ways = even_odds(0, rounds, 0.0, 1.0)
    hedger = Automatic()
    limits = dict(
        zip(
            (one.name for one in hedger.components(L1)),
            hedger.bounds(L1, mixture.live)[0, 1:],
            strict=False,
        )
    )
    total, each = blend.sum(), experts.sum(axis=0)
    assert total - each.mean() <= limits["plain mean"] + 1e-9
    slow = NormalHedge(memory=100)
    added = 0.5 * slow.bound(5).regret * (1.0 + slow.alpha * (rounds - 1.0))
    place = list(limits).index("NormalHedge 100")
    assert ways[:, 1 + place].sum() - each.min() <= added
    assert total - each.min() <= limits["NormalHedge 100"] + added


@pytest.mark.parametrize("mended", [False, True])
def test_a_promise_in_the_last_unit(*, mended: bool) -> None:
    """A blend that is far ahead in a small unit may lose all of that again in a large one.

    It would not if regrets and clocks shrank when the unit grows, as Section 2 says.
    """
    regrets, clocks, lost, prior = np.zeros(2), np.zeros(2), np.zeros(2), np.full(2, 0.5)
    last = 1.0
    for t in range(2000):
        losses, unit = (np.array([0.0, 1.0]), 1.0) if t < 1000 else (np.array([1e3, 0.0]), 1e3)
        weights = prior * weight(regrets, clocks)
        played = weights / weights.sum() if weights.sum() > 0.0 else prior
        leads = played @ losses - losses
        regrets, clocks, lost = regrets + leads / unit, clocks + np.abs(leads) / unit, lost + leads
        shrink, last = (last / unit if mended else 1.0), unit
        regrets, clocks = shrink * regrets, shrink * clocks
    growth = 0.5 * 2000.0 if mended else 0.5 * (1.0 + np.log1p(clocks))
    limits = np.sqrt(3.0 * clocks * np.log((1.0 + growth) / prior))
    assert (regrets <= limits).all()
    if mended:
        assert (lost / 1e3 <= 1.0 + limits).all()
    else:
        assert lost[1] / 1e3 > 6.0 * limits[1]


def test_losses_that_are_known_to_be_convex() -> None:
    convex = {name for name in set(LOSSES) - {"pinball", "crps"} if LOSSES[name]().convex}
    assert convex >= {"square", "absolute", "l1", "huber", "expectile", "mape", "brier"}
    assert convex.isdisjoint({"smape", "log", "log-wealth", "zero-one", "zero-one-classes"})
    assert pinball(0.3).convex
    assert crps([0.1, 0.5]).convex
    rng = np.random.default_rng(1)
    for name in ("square", "absolute", "zero-one"):
        loss = two_levels.LOSS_OF[name]
        x = rng.integers(0, 3, size=(1000, 2)) - rng.integers(0, 3, size=(1000, 1))
        middle = loss(x.mean(axis=1)) <= loss(1.0 * x).mean(axis=1)
        assert middle.all() == LOSSES[name]().convex


def test_a_bound_before_the_game() -> None:
    hedger, square = Automatic(), LOSSES["square"]()
    assert not hedger.bound_ahead(LOSSES["zero-one"](), 100)
    assert "not known to be convex" in str(hedger.bound_ahead(LOSSES["log"](), 100))
    bounds = [hedger.bound_ahead(square, 10_000, lag).regret for lag in (1, 2, 5, 24)]
    assert bounds == sorted(bounds)
    wide = [hedger.bound_ahead(square, 10_000, 5, wide=m).regret for m in (0, 10, 100, 10_000)]
    assert wide == sorted(wide)
    assert wide[-1] == 10_000.0  # it says nothing any more
    assert hedger.bound_ahead(square, 10, 500).regret == 10.0
    assert math.isinf(hedger.bound_ahead(square, 10**6, 1, wide=10**6).potential)
    for wrong in ({"rounds": 0}, {"rounds": 5, "delay": -1}, {"rounds": 5, "wide": -1}):
        with pytest.raises(ValueError, match="must be at least"):
            hedger.bound_ahead(square, **wrong)
