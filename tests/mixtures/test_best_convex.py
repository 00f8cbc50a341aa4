"""The best convex combination beside SciPy's solvers, and its gap beside other weights."""

import numpy as np
import pytest

from normalhedge.mixtures.losses import Huber
from normalhedge.mixtures.summaries._best_convex import best_convex
from tests.mixtures.convex_oracle import (
    KINDS,
    OF_NUMBERS,
    ROUNDING,
    by_scipy,
    check,
    filled,
    loss_for,
    panel,
)


@pytest.mark.parametrize("asleep", [0.0, 0.4])
@pytest.mark.parametrize(("rows", "n"), [(60, 4), (1, 3), (7, 9), (40, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_what_scipy_finds(kind: str, rows: int, n: int, asleep: float) -> None:
    for seed in range(3):
        data = panel(kind, rows, n, asleep=asleep, seed=seed)
        for way in ("mean", "median") if kind in OF_NUMBERS else ("mean",):
            found = best_convex(loss_for(kind), *data, way)
            said, kept = filled(data[0], data[1], way)
            if not len(said):
                assert np.isnan(found.loss)
                continue
            check(kind, data, found, way)
            assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING
            best = by_scipy(kind, said, data[1][kept], data[2][kept])
            assert found.loss == pytest.approx(best, rel=2e-6, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_alike_asleep_or_wild_is_harmless(kind: str) -> None:
    data = forecasts, outcomes, items = panel(kind, 50, 3)
    alike = np.repeat(forecasts[:, :, :1], 6, axis=2)
    found = best_convex(loss_for(kind), alike, outcomes, items)
    check(kind, (alike, outcomes, items), found)
    assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING
    plain = best_convex(loss_for(kind), *data)
    missing = np.concatenate([forecasts, np.full_like(forecasts[:5], np.nan), forecasts[:1]])
    late = np.concatenate([outcomes, outcomes[:5], [np.nan]])
    found = best_convex(loss_for(kind), missing, late, np.arange(56, dtype=np.int32))
    assert found.loss == pytest.approx(plain.loss)  # rows without forecasts or outcomes
    never = np.concatenate([forecasts, np.full_like(forecasts[:, :, :1], np.nan)], axis=2)
    found = best_convex(loss_for(kind), never, outcomes, items)
    assert found.loss <= plain.loss * (1 + 1e-9)  # it says what even weights say
    nobody = best_convex(loss_for(kind), never[:, :, 3:].copy(), outcomes, items)
    assert np.isnan(nobody.loss)
    if kind in OF_NUMBERS:
        for wild in (1e6, 1e30, 1e99):
            off = forecasts.copy()
            off[7, 0, 1] = wild
            found = best_convex(loss_for(kind), off, outcomes, items)
            check(kind, (off, outcomes, items), found)
            assert found.gap <= 0.1 * found.loss


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_sampled_has_a_gap_of_all_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = panel(kind, 4000, 3)
    exact = best_convex(loss_for(kind), *data)
    monkeypatch.setattr("normalhedge.mixtures.summaries._best_convex.SAMPLE", 4000)
    found = best_convex(loss_for(kind), *data)
    check(kind, data, found)
    assert exact.loss * (1 - 1e-9) <= found.loss
    assert found.loss - found.gap <= exact.loss
    if kind != "mape":  # to which a few outcomes near 0 matter most
        assert found.loss <= exact.loss * 1.01
        assert found.gap <= 0.05 * found.loss


@pytest.mark.parametrize("scale", [1e8, 1e-8, 1e90, 1e-90])
@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_scales_do_not_matter(kind: str, scale: float) -> None:
    forecasts, outcomes, items = panel(kind, 100, 8, asleep=0.2)
    plain = best_convex(loss_for(kind), forecasts, outcomes, items)
    loss = Huber(scale) if kind == "huber" else loss_for(kind)
    found = best_convex(loss, forecasts * scale, outcomes * scale, items)
    by = {"absolute": scale, "pinball": scale, "mape": 1.0}.get(kind, scale**2)
    assert found.loss / by == pytest.approx(plain.loss, rel=1e-8)
    assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING


@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_losses_may_be_too_small_for_a_number(kind: str) -> None:
    forecasts, outcomes, items = panel(kind, 30, 4)
    found = best_convex(loss_for(kind), forecasts * 1e-300, outcomes * 1e-300, items)
    assert np.isfinite([found.loss, found.gap]).all()
    assert found.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_what_can_be_perfect_is(kind: str) -> None:
    forecasts, outcomes, items = panel(kind, 30, 4)
    exact = forecasts.copy()
    exact[:, 0, 2] = outcomes
    assert best_convex(loss_for(kind), exact, outcomes, items)[1:] == (0.0, 0.0)
    apart = forecasts.copy()
    apart[:, 0, 1] = 2 * outcomes - apart[:, 0, 0]
    assert best_convex(loss_for(kind), apart, outcomes, items).loss < 1e-9


def test_probabilities_of_zero_count_as_the_least_there_is() -> None:
    forecasts, outcomes, items = panel("log", 200, 6, asleep=0.2)
    forecasts[forecasts < 0.2] = 0.0
    found = best_convex(loss_for("log"), forecasts, outcomes, items)
    check("log", (forecasts, outcomes, items), found)
    assert found.gap <= 1e-5 * found.loss
