"""The best convex combination beside SciPy's solvers, and its proof beside other weights."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize, nnls

from normalhedge import Mixture
from normalhedge._inputs import Floats
from normalhedge.mixtures import interior
from normalhedge.mixtures.best_convex import Convex, best_convex

LEVELS = np.array([0.9, 0.3])
OF_NUMBERS = ("square", "absolute", "pinball")
OF_LOGS = ("log", "log-wealth")
ROUNDING = 1e-9
"""Where some weights make no error at all: relative to those of the experts."""
KINDS = (*OF_NUMBERS, *OF_LOGS, "l1")


def panel(
    kind: str, rows: int, n: int, *, asleep: float = 0.0, seed: int = 0
) -> tuple[Floats, Floats, np.ndarray]:
    """Return forecasts whose errors have much in common, outcomes and items."""
    rng = np.random.default_rng(seed)
    items = np.arange(rows, dtype=np.int32)
    if kind in OF_NUMBERS:
        outcomes = rng.normal(5.0, 3.0, rows)
        errors = rng.normal(size=(rows, 1)) + rng.normal(0.0, 0.4, (rows, n)) + rng.normal(size=n)
        forecasts = (outcomes[:, np.newaxis] + errors)[:, np.newaxis]
    elif kind == "log-wealth":
        outcomes = np.exp(rng.normal(0.5, 0.1, rows))
        forecasts = np.exp(rng.normal(0.0, 0.3, (rows, 1, n)))
    else:
        outcomes = rng.integers(0, 3, rows).astype(float)
        sharp = rng.dirichlet(np.full(3, 0.7), (rows, n)).transpose(0, 2, 1)
        forecasts = 0.9 * sharp + 0.1 * np.eye(3)[outcomes.astype(int)][:, :, np.newaxis]
    sleeping = rng.random((rows, 1, n)) < asleep
    return np.ascontiguousarray(np.where(sleeping, np.nan, forecasts)), outcomes, items


def filled(forecasts: Floats, outcomes: Floats, way: str = "mean") -> tuple[Floats, np.ndarray]:
    """Return what counts of each row with somebody awake, and which rows these are."""
    said, kept = [], []
    for row, y in enumerate(outcomes):
        x = forecasts[row, int(y) if forecasts.shape[1] > 1 else 0]
        awake = np.isfinite(x)
        if awake.any() and not np.isnan(y):
            even = np.median(x[awake]) if way == "median" else x[awake].mean()
            said.append(np.where(awake, x, even))
            kept.append(row)
    return np.array(said), np.array(kept)


def losses(kind: str, v: Floats, outcomes: Floats, items: np.ndarray) -> Floats:
    """Return the loss of each row."""
    level: Floats = LEVELS[items % 2]
    far = v - outcomes
    if kind == "square":
        return far * far
    if kind == "absolute":
        return np.abs(far)
    if kind == "pinball":
        return level * -far + np.maximum(far, 0.0)
    given = v / outcomes if kind == "log-wealth" else v
    cost: Floats = 1 - v if kind == "l1" else -np.log(np.maximum(given, 1e-6))
    return cost


def by_scipy(kind: str, said: Floats, outcomes: Floats, items: np.ndarray) -> float:
    """Return the least mean loss: a linear program, or by sequential quadratic programs."""
    rows, n = said.shape
    if kind in {"absolute", "pinball", "l1"}:
        level = LEVELS[items % 2] if kind == "pinball" else np.full(rows, 0.5)
        scale = 2.0 if kind == "absolute" else 1.0
        if kind == "l1":
            cost, slack = -said.mean(axis=0), np.zeros((rows, 0))
            found = linprog(cost, A_eq=np.ones((1, n)), b_eq=[1.0])
            return float(found.fun) + 1.0
        slack = np.hstack([-np.eye(rows), np.eye(rows)])
        cost = np.concatenate([np.zeros(n), (1 - level) * scale / rows, level * scale / rows])
        whole = np.concatenate([np.ones(n), np.zeros(2 * rows)])
        found = linprog(
            cost, A_eq=np.vstack([np.hstack([said, slack]), whole]), b_eq=[*outcomes, 1.0]
        )
        return float(found.fun)

    def mean(w: Floats) -> float:
        return float(losses(kind, said @ w, outcomes, items).mean())

    only = {"type": "eq", "fun": lambda w: w.sum() - 1.0}
    least = np.inf
    for seed in range(3):
        start = np.random.default_rng(seed).dirichlet(np.ones(n))
        found = minimize(
            mean, start, bounds=[(0, 1)] * n, constraints=[only], method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        w = np.maximum(found.x, 0.0)
        least = min(least, mean(w / w.sum()))
    return least


def check(kind: str, data: Any, found: Convex, way: str = "mean") -> None:
    """Check that it is what it says, and that no other weights are better than it proves."""
    forecasts, outcomes, items = data
    said, kept = filled(forecasts, outcomes, way)
    told = outcomes[kept], items[kept]
    n = said.shape[1]
    assert found.weights.min() >= 0.0
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
    own = losses(kind, said @ found.weights, *told).mean()
    assert found.loss == pytest.approx(own, rel=1e-12, abs=1e-300)
    others = np.vstack([np.eye(n), np.random.default_rng(1).dirichlet(np.full(n, 0.3), 50)])
    for w in (*others, np.full(n, 1 / n)):
        assert losses(kind, said @ w, *told).mean() >= found.loss - found.gap - 1e-12 * abs(
            found.loss
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
def test_many_experts_that_are_alike(kind: str) -> None:
    """65 x 398: exponentiated gradients ended 1 to 3 % above the least loss of such a panel."""
    data = panel(kind, 398, 65, asleep=0.1)
    found = best_convex(*data, LEVELS, kind)
    check(kind, data, found)
    assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING
    said, kept = filled(data[0], data[1])
    if kind == "square":  # a row of large numbers has the weights sum to one
        large = np.full((1, 65), 1e5)
        w, _ = nnls(np.vstack([said - data[1][kept, np.newaxis], large]), [*np.zeros(398), 1e5])
        best = losses(kind, said @ (w / w.sum()), data[1][kept], data[2][kept]).mean()
    elif kind in OF_LOGS:
        return
    else:
        best = by_scipy(kind, said, data[1][kept], data[2][kept])
    assert found.loss == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("scale", [1e8, 1e-8, 1e90, 1e-90])
@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_scales_do_not_matter(kind: str, scale: float) -> None:
    forecasts, outcomes, items = panel(kind, 100, 8, asleep=0.2)
    plain = best_convex(forecasts, outcomes, items, LEVELS, kind)
    found = best_convex(forecasts * scale, outcomes * scale, items, LEVELS, kind)
    by = scale**2 if kind == "square" else scale
    assert found.loss / by == pytest.approx(plain.loss, rel=1e-8)
    assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING


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


@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_what_can_be_perfect_is(kind: str) -> None:
    forecasts, outcomes, items = panel(kind, 30, 4)
    exact = forecasts.copy()
    exact[:, 0, 2] = outcomes
    assert best_convex(exact, outcomes, items, LEVELS, kind)[1:] == (0.0, 0.0)
    apart = forecasts.copy()
    apart[:, 0, 1] = 2 * outcomes - apart[:, 0, 0]
    assert best_convex(apart, outcomes, items, LEVELS, kind).loss < 1e-9


def test_probabilities_of_zero_count_as_the_least_there_is() -> None:
    forecasts, outcomes, items = panel("log", 200, 6, asleep=0.2)
    forecasts[forecasts < 0.2] = 0.0
    found = best_convex(forecasts, outcomes, items, LEVELS, "log")
    check("log", (forecasts, outcomes, items), found)
    assert found.gap <= 1e-5 * found.loss


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


@pytest.mark.parametrize("kind", ["square", "absolute", "log"])
def test_fewer_rows_than_experts(kind: str) -> None:
    """Beyond FEW experts a step solves as many equations as there are rows."""
    data = panel(kind, 30, interior.FEW + 50, asleep=0.2)
    found = best_convex(*data, LEVELS, kind)
    check(kind, data, found)
    assert found.gap <= 1e-6 * abs(found.loss) + ROUNDING


def test_a_gap_is_told_where_it_matters() -> None:
    mixture = Mixture(loss="absolute")
    rng = np.random.default_rng(2)
    for _ in range(50):
        mixture.update(mixture.predict({"a": rng.normal(), "b": rng.normal()}).ticket, 0.0)
    summary = mixture.summary()
    assert summary.convex_gap <= 1e-6 * summary.convex
    assert "may be" not in str(summary)
    unsure = replace(summary, comparison=replace(summary.comparison, gap=0.01))
    assert "the least loss may be 0.01 smaller" in str(unsure)
