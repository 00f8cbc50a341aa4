"""The best convex combination beside SciPy's solvers, and its gap beside other weights."""

import numpy as np
import pytest

from normalhedge.mixtures.best_convex import best_convex
from tests.mixtures.convex_oracle import (
    KINDS,
    LEVELS,
    OF_NUMBERS,
    ROUNDING,
    by_scipy,
    check,
    filled,
    panel,
)


@pytest.mark.parametrize("asleep", [0.0, 0.4])
@pytest.mark.parametrize(("rows", "n"), [(60, 4), (1, 3), (7, 9), (40, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_what_scipy_finds(kind: str, rows: int, n: int, asleep: float) -> None:
    for seed in range(3):
        data = panel(kind, rows, n, asleep=asleep, seed=seed)
        for way in ("mean", "median") if kind in OF_NUMBERS else ("mean",):
            found = best_convex(*data, LEVELS, kind, way)
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
    found = best_convex(alike, outcomes, items, LEVELS, kind)
    check(kind, (alike, outcomes, items), found)
    assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING
    plain = best_convex(*data, LEVELS, kind)
    missing = np.concatenate([forecasts, np.full_like(forecasts[:5], np.nan), forecasts[:1]])
    late = np.concatenate([outcomes, outcomes[:5], [np.nan]])
    found = best_convex(missing, late, np.arange(56, dtype=np.int32), LEVELS, kind)
    assert found.loss == pytest.approx(plain.loss)  # rows without forecasts or outcomes
    never = np.concatenate([forecasts, np.full_like(forecasts[:, :, :1], np.nan)], axis=2)
    found = best_convex(never, outcomes, items, LEVELS, kind)
    assert found.loss <= plain.loss * (1 + 1e-9)  # it says what even weights say
    nobody = best_convex(never[:, :, 3:].copy(), outcomes, items, LEVELS, kind)
    assert np.isnan(nobody.loss)
    if kind in OF_NUMBERS:
        for wild in (1e6, 1e30, 1e99):
            off = forecasts.copy()
            off[7, 0, 1] = wild
            found = best_convex(off, outcomes, items, LEVELS, kind)
            check(kind, (off, outcomes, items), found)
            assert found.gap <= 0.1 * found.loss


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_sampled_has_a_gap_of_all_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = panel(kind, 4000, 3)
    exact = best_convex(*data, LEVELS, kind)
    monkeypatch.setattr("normalhedge.mixtures.best_convex.SAMPLE", 4000)
    found = best_convex(*data, LEVELS, kind)
    check(kind, data, found)
    assert exact.loss * (1 - 1e-9) <= found.loss <= exact.loss * 1.01
    assert found.loss - found.gap <= exact.loss
    assert found.gap <= 0.02 * found.loss
