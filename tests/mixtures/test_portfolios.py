"""Portfolios: price relatives and the log-wealth loss, and weights before the round."""

import math
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import portfolios
from normalhedge import Mixture, NormalHedge, blend
from normalhedge.hedgers import FixedShare
from normalhedge.mixtures.losses import LOSSES, LogWealth
from tests.mixture_oracle import Oracle

NAMES = ("a", "b", "c", "d")


def market(days: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(0.0005, 0.02, (days, 4)))


def said(row: np.ndarray) -> dict[str, float]:
    return dict(zip(NAMES, row.tolist(), strict=True))


def test_wealth_is_what_the_losses_add_up_to() -> None:
    mixture, wealth = Mixture(loss="log-wealth"), 1.0
    for row in market(200):
        made = mixture.predict(said(row))
        assert made.value == pytest.approx(sum(made.weights[k] * x for k, x in said(row).items()))
        wealth *= made.value
        mixture.update(made.ticket, 1.0)
    summary = mixture.summary()
    assert summary.blend * 200 == pytest.approx(-math.log(wealth))
    assert summary.uniform * 200 == pytest.approx(-np.log(market(200).mean(axis=1)).sum())
    assert summary.convex <= summary.uniform
    assert summary.convex_gap <= 1e-8


@pytest.mark.parametrize("gradient", [None, False])
@pytest.mark.parametrize("benchmark", [None, "c"])
def test_it_is_what_the_equations_say(benchmark: str | None, gradient: bool | None) -> None:
    mixture = Mixture(NormalHedge(memory=20), "log-wealth", gradient=gradient)
    oracle = Oracle(4, 0.05, 1.0, "square", "mean", gradient=gradient is not False)
    oracle.judge.loss = lambda x, y: -math.log(max(x / y, 1e-6))
    oracle.judge.slope = lambda x, y: -1.0 / max(x, 1e-6 * y)
    oracle.judge.monotone = True
    for row in market(120):
        y = 1.0 if benchmark is None else said(row)[benchmark]
        made, slow = mixture.predict(said(row)), oracle.predict([row.tolist()])
        assert made.value == pytest.approx(slow[0], rel=1e-12)
        mixture.update(made.ticket, y)
        oracle.update([row.tolist()], slow, [y])
        np.testing.assert_allclose(mixture.regrets[0], oracle.regrets, rtol=1e-9, atol=1e-10)


def test_a_benchmark_changes_what_is_lost_and_not_what_is_bought() -> None:
    """Where experts are judged by the gradient, -1/x times their distance."""
    alone, beside = Mixture(loss="log-wealth"), Mixture(loss="log-wealth")
    lost = []
    for row in market(100):
        for mixture, y in ((alone, 1.0), (beside, float(row.mean()))):
            mixture.update(mixture.predict(said(row)).ticket, y)
        lost.append(math.log(row.mean()))
    np.testing.assert_allclose(alone.weights, beside.weights, rtol=1e-12)
    ahead = beside.summary().blend - alone.summary().blend
    assert ahead == pytest.approx(np.mean(lost))


@pytest.mark.parametrize("ruin", [0.0, -3.0, 1e-9])
def test_a_ruin_costs_what_the_floor_does(ruin: float) -> None:
    mixture = Mixture("normal-hedge", loss="log-wealth")
    for _ in range(3):
        mixture.update(mixture.predict({"a": ruin, "b": 1.1}).ticket, 1.0)
    losses = {row.name: row.loss for row in mixture.summary().experts}
    assert losses["a"] == pytest.approx(-math.log(1e-6))
    assert losses["b"] == pytest.approx(-math.log(1.1))
    assert mixture.next_weights()["b"] == 1.0


def test_what_cannot_be_bought_is_refused() -> None:
    for way in ("median", "vote"):
        with pytest.raises(ValueError, match=f"got '{way}': only a mean of price relatives"):
            Mixture(loss="log-wealth", combine=way)
    with pytest.raises(ValueError, match="include must not name the median: only a mean"):
        Mixture(loss="log-wealth", include="median")
    Mixture(loss="log-wealth", include="mean")
    table = pa.table({"y": [1.0, 0.0], "a": [1.0, 1.0], "b": [1.0, 1.0]})
    with pytest.raises(ValueError, match=r"column y must have price relatives, .* 0.0 in row 2"):
        blend(table, "y", loss="log-wealth")


@pytest.mark.parametrize("outcome", [0.0, -1.0, 0, -0.0])
def test_outcomes_are_positive(outcome: float) -> None:
    mixture = Mixture(loss="log-wealth")
    for _ in range(2):  # the first round grows the mixture; the second goes the quick way
        ticket = mixture.predict({"a": 1.0, "b": 1.1}).ticket
        before = pickle.dumps(mixture)
        with pytest.raises(ValueError, match="outcome must be a price relative, more than 0"):
            mixture.update(ticket, outcome)
        assert pickle.dumps(mixture) == before
        mixture.update(ticket, 1.0)
    several = mixture.predict({"a": [1.0, 1.2], "b": [1.1, 1.0]})
    with pytest.raises(ValueError, match="more than 0"):
        mixture.update(several.ticket, [1.0, outcome])
    mixture.update(several.ticket, [1.0, None])


def test_a_table_and_a_file_are_the_same(tmp_path: Path) -> None:
    days = market(80)
    columns = dict(zip(NAMES, days.T, strict=True))
    made = blend(pa.table({"y": np.ones(80), **columns}), "y", loss="log-wealth")
    mixture, values = Mixture(loss="log-wealth"), []
    for day, row in enumerate(days):
        if day == 40:
            mixture.save(tmp_path / "state.json")
            mixture = Mixture.load(tmp_path / "state.json")
        prediction = mixture.predict(said(row))
        values.append(prediction.value)
        mixture.update(prediction.ticket, 1.0)
    np.testing.assert_allclose(made.frame["blend"].to_numpy(), values, rtol=1e-12)


OPTIONS: dict[str, dict[str, Any]] = {
    "by default": {},
    "even": {"even": 0.3},
    "with the mean": {"include": "mean"},
    "fixed share": {"hedger": FixedShare(0.3, 0.1)},
    "square": {"loss": "square"},
    "median": {"loss": "absolute"},
    "levels": {"loss": LOSSES["pinball"]([0.2, 0.8])},
    "classes": {"loss": "log"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_weights_are_known_before_the_round(options: dict[str, Any]) -> None:
    mixture = Mixture(**({"loss": "log-wealth"} | options))
    several = len(mixture.settings.loss.levels) > 1
    rng = np.random.default_rng(3)
    for row in market(60, seed=1):
        awake = [name for name in NAMES if rng.random() < 0.7] or ["a"]
        before = pickle.dumps(mixture)
        weights = mixture.next_weights(awake)
        assert pickle.dumps(mixture) == before
        relatives: dict[str, Any] = {k: x for k, x in said(row).items() if k in awake}
        if several:
            relatives = {k: [x, x + 0.1] for k, x in relatives.items()}
        if mixture.settings.loss.of_classes:
            relatives = {k: [x / 2, 1 - x / 2] for k, x in relatives.items()}
        made = mixture.predict(relatives)
        assert weights == dict(zip(made.names, made.distribution[0].tolist(), strict=True))
        outcome: Any = [1.0, 1.0] if several else 1.0
        mixture.update(made.ticket, outcome)
    assert set(mixture.next_weights()) == set(mixture.names)
    assert sum(mixture.next_weights().values()) == pytest.approx(1.0)


def test_weights_of_nobody_and_of_items_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one expert"):
        Mixture(loss="log-wealth").next_weights()
    assert Mixture(loss="log-wealth").next_weights(["x", "y"]) == {"x": 0.5, "y": 0.5}
    with pytest.raises(ValueError, match="weights of its own"):
        Mixture(loss="log-wealth", shared=False).next_weights(["x"])


@pytest.fixture(scope="module")
def stocks() -> np.ndarray:
    days = portfolios.relatives()
    if days is None:
        pytest.skip("nyse_o comes with universal-portfolios")
    return days


def test_published_wealths(stocks: np.ndarray) -> None:
    assert stocks.shape == (5651, 36)
    assert np.prod(stocks.mean(axis=1)) == pytest.approx(27.075, abs=0.001)
    assert stocks.prod(axis=0).max() == pytest.approx(54.14, abs=0.01)
    assert portfolios.exponentiated_gradient(stocks) == pytest.approx(27.095, abs=0.001)
    least, most = portfolios.best_rebalanced(stocks)
    assert least == pytest.approx(250.60, abs=0.005)
    assert least <= most <= least * (1 + 1e-6)


def test_hedge_at_a_fixed_rate_is_exponentiated_gradient(stocks: np.ndarray) -> None:
    """Where the range is known and so wide that its squares do not count."""
    width = 2.0**20

    @dataclass(frozen=True)
    class Wide(LogWealth):
        """The loss with a known range."""

        width = 2.0**20

    loss = Wide()
    hedger = FixedShare(eta=0.05 * 1.5 * width / 2, share=1e-300)
    days = stocks[:1500]
    ours = portfolios.wealth(days, hedger=hedger, loss=loss)
    assert ours == pytest.approx(portfolios.exponentiated_gradient(days), rel=1e-5)
