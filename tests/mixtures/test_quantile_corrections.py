"""Corrections of quantile forecasts: what they promise, and what they cost."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.live.sealed_file import sealed
from normalhedge.mixtures import crps
from normalhedge.mixtures.rules import Automatic, part_of
from tests.mixtures.quantile_examples import MANY
from tests.mixtures.saved_examples import version_4

FOLLOWED, BASE, SHARED = 3, 4, slice(5, 7)
"""The places of the forecast that is followed, of its base and of the shared corrections."""

NORMAL = np.array([NormalDist().inv_cdf(level) for level in MANY])


def normal_experts(
    rounds: int, *, bias: float = 0.0, width: float = 1.0, items: int = 1, n: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    """Return quantiles, rounds x items x levels x n, of errors with deviation one; and outcomes.

    ``bias`` and ``width`` are shared by the experts; they are calibrated with 0 and 1.
    """
    rng = np.random.default_rng(4)
    middle = 50.0 + rng.normal(size=(rounds, items, 1, 1)) * 5.0
    y = middle + rng.normal(size=(rounds, items, 1, 1))
    apart = 0.1 * rng.normal(size=(rounds, items, 1, n))
    said = middle + bias + apart + width * NORMAL[:, np.newaxis]
    return said, y[:, :, 0, 0]


def play(
    forecasts: np.ndarray, y: np.ndarray, rule: str = "auto", lag: int = 0
) -> tuple[np.ndarray, Mixture]:
    """Return all values, rounds x items x values x levels, and the mixture."""
    mixture, tickets, values = Mixture(rule, crps(MANY)), list[int](), []
    for t, rows in enumerate(forecasts):
        single = len(rows) == 1
        made = mixture.predict({f"e{k}": rows[0, :, k] if single else rows[..., k]
                                for k in range(rows.shape[2])})  # fmt: skip
        found = mixture.pending[made.ticket].values
        rest = found[:, len(MANY) :].reshape(len(rows), len(MANY), -1).swapaxes(1, 2)
        values.append(np.concatenate([found[:, np.newaxis, : len(MANY)], rest], axis=1))
        tickets.append(made.ticket)
        if t >= lag:
            mixture.update(tickets[t - lag], float(y[t - lag, 0]) if single else y[t - lag])
    most = max(one.shape[1] for one in values)
    padded = [
        np.pad(one, ((0, 0), (0, most - one.shape[1]), (0, 0)), constant_values=np.nan)
        for one in values
    ]
    return np.array(padded), mixture


def losses(quantiles: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the loss of each row."""
    errors, levels = y[..., np.newaxis] - quantiles, np.array(MANY)
    return np.asarray(2.0 * np.maximum(levels * errors, (levels - 1.0) * errors).mean(axis=-1))


@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize("lag", [0, 4])
@pytest.mark.parametrize(("bias", "width"), [(0.0, 0.4), (0.0, 2.5), (1.2, 1.0), (-1.0, 0.5)])
def test_a_shared_bias_and_a_wrong_spread_are_corrected(
    bias: float, width: float, lag: int, items: int
) -> None:
    forecasts, y = normal_experts(400, bias=bias, width=width, items=items)
    ideal, _ = normal_experts(400, items=items)
    values, _ = play(forecasts, y, lag=lag)
    known = slice(200, None)
    blend = losses(values[known, :, 0], y[known]).mean()
    wrong = losses(np.median(forecasts[known], axis=3), y[known]).mean()
    right = losses(np.median(ideal[known], axis=3), y[known]).mean()
    assert blend - right < 0.4 * (wrong - right)


def test_a_level_that_is_missed_moves() -> None:
    """The upper quantiles alone are too low."""
    forecasts, y = normal_experts(600)
    forecasts[:, :, -2:] = forecasts[:, :, -3:-2] + 0.05
    values, _ = play(forecasts, y)
    blend = values[300:, 0, 0]
    missed = (y[300:] > blend[:, -2:]).mean(axis=0)
    before = (y[300:] > np.median(forecasts[300:, 0, -2:], axis=2)).mean(axis=0)
    assert (before > 0.2).all()
    np.testing.assert_allclose(missed, [0.1, 0.05], atol=0.06)


@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize("lag", [0, 4])
def test_calibrated_experts_lose_at_most_a_hundredth(lag: int, items: int) -> None:
    forecasts, y = normal_experts(300, items=items)
    values, _ = play(forecasts, y, lag=lag)
    assert losses(values[:, :, 0], y).mean() <= 1.01 * losses(values[:, :, BASE], y).mean()
    inside, _ = play(forecasts, y, "auto:inside=true", lag)
    assert losses(values[:, :, 0], y).mean() <= 1.01 * losses(inside[:, :, 0], y).mean()


@pytest.mark.parametrize("hedger", ["auto", "auto:guard=false"])
def test_quantiles_of_amounts_are_never_negative(hedger: str) -> None:
    rng = np.random.default_rng(6)
    y = np.maximum(rng.normal(0.0, 1.0, (300, 1)), 0.0)  # rain: often none
    forecasts = np.abs(rng.normal(2.0, 0.2, (300, 1, 1, 4))) * np.linspace(0.1, 2.0, 7)[:, None]
    values, _ = play(forecasts, y, hedger)
    assert values[:, :, 0].min() >= 0.0
    assert (
        losses(values[100:, :, 0], y[100:]).mean() < losses(values[100:, :, BASE], y[100:]).mean()
    )
    down, _ = play(forecasts - 1.0, y - 1.0, hedger)
    assert down[:, :, 0].min() < 0.0
    below, _ = play(np.abs(forecasts), y - 2.0, hedger)
    assert below[20:, :, 0].min() < 0.0  # outcomes alone show that there is no floor


HOSTILE: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "identical": lambda rng: np.repeat(rng.normal(size=(150, 1, 7, 1)), 4, axis=3),
    "without spread": lambda rng: np.repeat(rng.normal(size=(150, 1, 1, 4)), 7, axis=2),
    "constant": lambda _: np.full((150, 1, 7, 4), 7.0),
    "enormous": lambda rng: (
        rng.normal(size=(150, 1, 7, 4)) * 10.0 ** rng.integers(-90, 90, 150)[:, None, None, None]
    ),
    "zero": lambda _: np.zeros((150, 1, 7, 4)),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_forecasts_stay_finite_sorted_and_harmless(kind: str) -> None:
    rng = np.random.default_rng(7)
    forecasts, y = HOSTILE[kind](rng), rng.normal(size=(150, 1))
    values, mixture = play(forecasts, y)
    blend = values[:, 0, 0]
    assert np.isfinite(blend).all()
    assert (np.diff(blend, axis=1) >= 0.0).all()
    assert np.isfinite(mixture.bound().regret)
    for name in ("totals", "ranges", "ledgers"):
        assert np.isfinite(getattr(mixture.live, name)).all()
    base = values[:, 0, BASE]
    assert losses(blend, y[:, 0]).sum() < 1.05 * losses(base, y[:, 0]).sum()


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_corrections_of_quantiles_have_no_unit(unit: float) -> None:
    forecasts, y = normal_experts(150, bias=1.0, width=0.5, items=2)
    plain, _ = play(forecasts, y, lag=1)
    scaled, _ = play(unit * forecasts, unit * y, lag=1)
    np.testing.assert_array_equal(scaled, unit * plain)


def test_the_order_of_the_experts_does_not_matter() -> None:
    forecasts, y = normal_experts(150, bias=1.0, width=0.5, items=2)
    one, _ = play(forecasts, y)
    other, _ = play(forecasts[..., [2, 0, 3, 1]], y)
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("lag", [0, 5])
def test_the_bound_covers_corrections_of_quantiles(lag: int) -> None:
    """A time of one bias follows a time of another, so that no correction is always the best."""
    forecasts, y = normal_experts(300, bias=1.0, width=0.5)
    forecasts[150:] -= 2.0
    values, mixture = play(forecasts, y, lag=lag)
    settled = slice(0, 300 - lag)
    found = losses(values[settled, 0], y[settled])
    regrets = (found[:, :1] - found).sum(axis=0)[FOLLOWED:]
    bounds = Automatic().bounds(mixture.settings.loss, mixture.live)[0]
    present = ~np.isnan(regrets)  # nothing is of an item alone
    assert present[: SHARED.stop - FOLLOWED].all()
    assert (regrets <= bounds[: len(regrets)])[present].all()
    counted = part_of(mixture.live, "insured_losses")[0, : len(regrets)]
    np.testing.assert_allclose(counted[present], regrets[present], atol=1e-9)
    assert mixture.bound().regret >= np.nanmax(regrets)


def test_inside_is_within_the_forecasts() -> None:
    forecasts, y = normal_experts(100, bias=1.0, width=0.5)
    values, mixture = play(forecasts, y, "auto:inside=true")
    blend = values[:, 0, 0]
    assert (forecasts[:, 0].min(axis=2) <= blend).all()
    assert (blend <= forecasts[:, 0].max(axis=2)).all()
    assert "corrections moved" not in str(mixture.summary())
    moved = play(forecasts, y)[1].summary()
    assert "corrections moved the last forecasts by -" in str(moved)


def test_a_file_of_version_5_goes_on_inside(tmp_path: Path) -> None:
    forecasts, y = normal_experts(40, bias=1.0)
    _, mixture = play(forecasts, y, "auto:inside=true", lag=3)
    path = tmp_path / "state.json"
    mixture.save(path)
    content = version_4(json.loads(path.read_text())) | {"version": 5}
    content["recipe"]["hedger"]["inside"] = False
    path.write_text(sealed(content))
    again = Mixture.load(path)
    assert again.settings == mixture.settings
    said = {f"e{k}": forecasts[0, 0, :, k] for k in range(4)}
    for ticket in list(mixture.pending):
        for one in (mixture, again):
            one.update(ticket, 51.0)
    np.testing.assert_array_equal(again.predict(said).value, mixture.predict(said).value)
