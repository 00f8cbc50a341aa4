"""Novelty and alarms: the test beside a slow one, its rate of false alarms, and its delay."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.latent import Regimes, infer
from normalhedge.latent.regimes._surprise import WIDTH, places_of

PATIENCE = 200.0


def run(places: Floats, patience: float = PATIENCE) -> tuple[Floats, Floats]:
    """Novelty and alarms of one column."""
    novelty, alarms = np.empty(len(places)), np.empty(len(places))
    _core.novelty_run(places[:, np.newaxis], patience, np.zeros((1, WIDTH)), novelty, alarms)
    return novelty, alarms


def slow(places: Floats, patience: float) -> tuple[Floats, list[int]]:
    """The same from its definition: every test is computed from all its observations."""
    kept, shrink, novelty, alarms = 500, 30.0, [], []
    surprises: list[float] = []
    last, product, square, since = 0.0, 0.0, 0.0, 0
    for t, u in enumerate(places):
        before = places[max(0, t - kept) : t]
        below = (before < u).sum() + 0.5 * (before == u).sum()
        z = float(stats.norm.ppf((below + 0.5) / (len(before) + 1.0)))
        if t >= 30:
            phi = min(max(product / (square + shrink), -0.95), 0.95)
            surprises.append((z - phi * last) / math.sqrt(1.0 - phi * phi))
        keep = 1.0 - 1.0 / kept
        product, square = keep * product + z * last, keep * square + last * last
        last = z
        sums = {t - age: _lead(np.array(surprises[-1 - age :])) for age in range(len(surprises))}
        total = sum(math.exp(lead) for start, lead in sums.items() if start >= since)
        odds = sum(
            math.exp(lead) / patience * (1.0 - 1.0 / patience) ** -(t + 1 - start)
            for start, lead in sums.items()
            if t + 1 - start <= 100
        )
        novelty.append(odds / (1.0 + odds))
        if total >= patience:
            alarms.append(t)
            since = t + 1
    return np.array(novelty), alarms


def _lead(e: Floats) -> float:
    """ln of the evidence for another mean and variance over N(0, 1), from sums."""
    n, k, a = len(e), 0.5, 2.0
    rate = a + 0.5 * (n * e.var() + k * n / (k + n) * e.mean() ** 2)
    evidence = math.lgamma(a + 0.5 * n) - math.lgamma(a) + a * math.log(a)
    evidence -= (a + 0.5 * n) * math.log(rate) - 0.5 * math.log(k / (k + n))
    return float(evidence + 0.5 * (e**2).sum())


def test_the_test_is_its_definition() -> None:
    rng = np.random.default_rng(1)
    places = np.concatenate([rng.random(60), rng.beta(4.0, 1.0, 25), rng.random(15)])
    novelty, alarms = run(places)
    expected, rung = slow(places, PATIENCE)
    # Forty sums are kept: before that the two are the same.
    np.testing.assert_allclose(novelty[:70], expected[:70], rtol=1e-6)
    assert alarms[:70].nonzero()[0].tolist() == [t for t in rung if t < 70]
    assert alarms[60:90].any()
    assert (novelty <= expected + 1e-9).all()


def test_rounds_one_by_one_are_the_same_to_the_bit() -> None:
    rng = np.random.default_rng(2)
    places = rng.random((700, 2))
    places[40:60] = np.nan
    places[600:] **= 4.0
    together, one = np.zeros((2, WIDTH)), np.zeros((2, WIDTH))
    novelty, alarms = np.empty(700), np.empty(700)
    _core.novelty_run(places, PATIENCE, together, novelty, alarms)
    for t in range(700):
        share, rung = np.empty(1), np.empty(1)
        _core.novelty_run(places[t : t + 1], PATIENCE, one, share, rung)
        assert (share[0], rung[0]) == (novelty[t], alarms[t])
    np.testing.assert_array_equal(one, together)
    assert alarms[600:].any()


def _steady(rng: np.random.Generator) -> Floats:
    return rng.random(5000)


def _heavy(rng: np.random.Generator) -> Floats:
    return np.asarray(stats.norm.cdf(rng.standard_cauchy(5000)))  # taken for normal


def _lasting(rng: np.random.Generator) -> Floats:
    noise, level = rng.normal(size=5000), np.zeros(5000)
    for t in range(1, 5000):
        level[t] = 0.5 * level[t - 1] + noise[t]
    return np.asarray(stats.norm.cdf(level))


def _counts(rng: np.random.Generator) -> Floats:
    return np.asarray(stats.poisson.cdf(rng.poisson(1.0, 5000), 1.0))


@pytest.mark.parametrize("draw", [_steady, _heavy, _lasting, _counts])
def test_false_alarms_are_as_rare_as_stated(draw: Callable[..., Floats]) -> None:
    rng = np.random.default_rng(3)
    number = sum(run(draw(rng))[1].sum() for _ in range(20))
    assert number <= 20 * 5000 / PATIENCE


def test_a_change_is_seen_soon() -> None:
    rng = np.random.default_rng(4)
    delays = []
    for _ in range(30):
        places = np.concatenate([rng.random(600), stats.norm.cdf(1.5 + rng.normal(size=200))])
        rung = run(places, 1000.0)[1][600:].nonzero()[0]
        delays.append(rung[0] if len(rung) else 200)
    assert np.median(delays) < 12


def test_places_are_shares_of_the_mixture() -> None:
    weights, means = np.array([[0.3, 0.7]]), np.array([[[0.0], [2.0]]])
    variances = np.array([[[1.0], [4.0]]])
    seen, known = np.array([[1.0]]), np.array([True])
    place = places_of(seen, known, weights, means, variances, steps=False)
    exact = 0.3 * stats.norm.cdf(1.0) + 0.7 * stats.norm.cdf(-0.5)
    np.testing.assert_allclose(place, [[exact]], rtol=1e-12)
    assert np.isnan(places_of(seen, ~known, weights, means, variances, steps=True)).all()
    nothing = np.full((1, 1), np.nan)
    assert np.isnan(places_of(nothing, known, weights, means, variances, steps=True)).all()


@pytest.fixture(scope="module")
def changed() -> Floats:
    rng = np.random.default_rng(5)
    calm = rng.normal(0.0, np.where(np.arange(700) // 70 % 2, 2.0, 0.6))
    return np.concatenate([calm, 9.0 + rng.normal(size=60)])


def test_the_new_is_noticed_and_the_known_is_not(changed: Floats) -> None:
    found = infer(changed.tolist())
    assert found.novelty.shape == (760,)
    assert np.isnan(found.novelty[0])
    known = (found.alarms >= 200) & (found.alarms < 700)  # both regimes have been seen twice
    assert not known.any()
    assert found.alarms[found.alarms >= 700][0] < 712
    assert found.novelty[300:700].mean() < 0.1
    assert found.novelty[712:720].min() > 0.5
    columns = found.columns()
    assert np.flatnonzero(columns["alarm"]).tolist() == found.alarms.tolist()
    assert columns["novelty"][715] == pytest.approx(found.novelty[715])


def test_live_rounds_and_files_agree_with_a_whole_series(changed: Floats, tmp_path: Path) -> None:
    seen = changed[450:]
    whole = Regimes(patience=500)
    path = whole.run(seen)
    live = Regimes(patience=500)
    rung = []
    for t, y in enumerate(seen):
        live.observe(y)
        assert live.alarm == path.alarms[t]
        if live.alarm:
            rung.append(t)
        if t == 270:
            live.save(tmp_path / "s.json")
            live = Regimes.load(tmp_path / "s.json")
            assert live.settings.patience == 500
    assert live.alarms == rung == np.flatnonzero(path.alarms).tolist()
    assert live.novelty == pytest.approx(float(path.novelty[-1]), rel=1e-6)


@pytest.mark.parametrize("patience", [0, 9, -5, 10**10])
def test_a_patience_out_of_range_is_refused(patience: int) -> None:
    with pytest.raises(ValueError, match="patience must be"):
        Regimes(patience=patience)
