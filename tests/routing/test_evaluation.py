"""What another policy would have earned."""

import math
from typing import Any

import numpy as np
import pytest

from normalhedge import Router
from normalhedge.routing import Record, evaluate
from normalhedge.routing._likelihood import likely_means

MEANS = {"a": 0.3, "b": 0.5, "c": 0.7}
NAMES = tuple(MEANS)


def log_of(rng: np.random.Generator, rounds: int, p: np.ndarray) -> list[Record]:
    """Return a log of a policy that does not learn."""
    chosen = rng.choice(3, size=rounds, p=p)
    draws = rng.random(rounds)
    return [
        Record(NAMES[i], float(p[i]), float(u < MEANS[NAMES[i]]))
        for i, u in zip(chosen, draws, strict=True)
    ]


def test_the_equations() -> None:
    rows = [("a", 0.5, 1.0), ("b", 0.25, 0.0), ("a", 0.5, 0.5), ("b", 0.25, 1.0)]
    log = [Record(*row) for row in rows]
    policy = {"a": 0.2, "b": 0.8}
    w = np.array([0.4, 3.2, 0.4, 3.2])
    g = np.array([1.0, 0.0, 0.5, 1.0])
    assert evaluate(log, policy, method="ips").estimate == pytest.approx((w * g).mean())
    snips = evaluate(log, policy, method="snips")
    assert snips.estimate == pytest.approx((w * g).sum() / w.sum())
    assert snips.effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    models = np.array([[0.0, 0.0], [1.0, 1.0], [0.75, 0.25], [2.0 / 3, 0.25]])
    common = [0.0, 1.0, 0.5, 0.5]
    models = np.array(
        [
            [0.0, 0.0],
            [(1.0 + common[1]) / 2, common[1]],
            [(1.0 + common[2]) / 2, common[2] / 2],
            [(1.5 + common[3]) / 3, common[3] / 2],
        ]
    )
    chosen = np.array([0, 1, 0, 1])
    terms = models @ [0.2, 0.8] + w * (g - models[np.arange(4), chosen])
    dr = evaluate(log, policy, method="dr", interval="normal")
    assert dr.estimate == pytest.approx(terms.mean())
    reach = 1.959963984540054 * terms.std(ddof=1) / 2.0
    assert (dr.low, dr.high) == pytest.approx((terms.mean() - reach, terms.mean() + reach))


@pytest.mark.parametrize("method", ["ips", "snips", "dr"])
@pytest.mark.parametrize("policy", ["c", {"a": 0.5, "b": 0.5}])
def test_intervals_cover(method: str, policy: Any) -> None:
    truth = MEANS["c"] if policy == "c" else 0.4
    rng, covered = np.random.default_rng(1), 0
    for _ in range(300):
        log = log_of(rng, 300, np.array([0.5, 0.3, 0.2]))
        value = evaluate(log, policy, method=method, interval="normal")
        covered += value.low <= truth <= value.high
    assert 0.92 <= covered / 300 <= 0.98


@pytest.mark.parametrize("policy", ["a", "b", "c", {"b": 0.5, "c": 0.5}])
def test_likelihood_intervals_cover_the_log_of_a_router_that_learns(policy: Any) -> None:
    play = {policy: 1.0} if isinstance(policy, str) else policy
    truth = sum(p * MEANS[name] for name, p in play.items())
    covered, normal = 0, 0
    for seed in range(100):
        router, draws = Router(NAMES, seed=seed), np.random.default_rng(seed).random(200)
        for u in draws.tolist():
            choice = router.choose()
            router.reward(choice.ticket, float(u < MEANS[choice.action]))
        value = evaluate(router.history, policy)
        covered += value.low <= truth <= value.high
        assert 0.0 <= value.low <= value.high <= 1.0
        value = evaluate(router.history, policy, interval="normal")
        normal += value.low <= truth <= value.high
    assert covered >= 90
    assert policy == "c" or covered > normal


def test_a_likelihood_interval_is_the_one_of_a_mean() -> None:
    """With even weights, R(v) - R is the empirical likelihood of the mean of gains, 0 or 1."""
    gains = np.repeat([0.0, 1.0], [30, 70])
    low, high = likely_means(np.ones(100), gains, 1.92)
    for v in (low, high):
        deviance = 70 * np.log(0.7 / v) + 30 * np.log(0.3 / (1.0 - v))
        assert deviance == pytest.approx(1.92, rel=1e-2)
    assert likely_means(np.zeros(5), np.ones(5), 1.92) == (0.0, 1.0)


def test_certain_intervals_cover_the_log_of_a_router_that_learns() -> None:
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        router = Router(NAMES, seed=seed)
        for _ in range(200):
            choice = router.choose()
            router.reward(choice.ticket, float(rng.random() < MEANS[choice.action]))
        for name, mean in MEANS.items():
            value = evaluate(router.history, name, method="ips", interval="certain")
            assert 0.0 <= value.low <= value.high <= 1.0
            missed += not value.low <= mean <= value.high
    assert missed <= 9  # of 180: 5 %


def test_certain_intervals_shrink() -> None:
    rng = np.random.default_rng(0)
    widths = []
    for rounds in (200, 2000, 20_000):
        value = evaluate(
            log_of(rng, rounds, np.full(3, 1 / 3)), "c", method="ips", interval="certain"
        )
        widths.append(value.high - value.low)
    assert widths[2] < 0.5 * widths[1] < 0.25 * widths[0] * 1.5


def test_policies_may_depend_on_contexts() -> None:
    log = [
        {"action": "a", "probability": 0.5, "gain": 1.0, "context": "x"},
        {"action": "b", "probability": 0.5, "gain": 0.0, "context": "x"},
        {"action": "b", "probability": 0.5, "gain": 1.0, "context": "y"},
        {"action": "a", "probability": 0.5, "gain": 0.0, "context": "y"},
    ]
    best = {"x": "a", "y": "b"}
    value = evaluate(log, lambda record: best[str(record.context)], method="snips")
    assert value.estimate == 1.0
    assert "100" not in str(value)
    assert "4 rounds" in str(value)


@pytest.mark.parametrize(
    ("log", "options", "error", "words"),
    [
        ([], {}, ValueError, "at least one round"),
        ([3], {}, TypeError, "records or mappings, got 3"),
        ([{"action": "a", "gain": 1.0}], {}, ValueError, "must have probability"),
        ([Record("a", 0.0, 1.0)], {}, ValueError, "the probability of a round"),
        ([Record("a", 0.5, math.nan)], {}, ValueError, "the gain of a round"),
        ([Record("a", 0.5, 2.0)], {}, ValueError, "gains must be in"),
        ([Record("a", 0.5, 1.0)], {"method": "magic"}, ValueError, "method must be one of"),
        ([Record("a", 0.5, 1.0)], {"interval": "wide"}, ValueError, "interval must be one of"),
        ([Record("a", 0.5, 1.0)], {"interval": "certain"}, ValueError, "needs method='ips'"),
        ([Record("a", 0.5, 1.0)], {"level": 1.0}, ValueError, "level"),
        ([Record("a", 0.5, 1.0)], {"policy": {"a": 0.5}}, ValueError, "sum to one, got 0.5"),
        ([Record("a", 0.5, 1.0)], {"policy": 3}, TypeError, "policy must be an action"),
    ],
)
def test_bad_input(log: Any, options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        evaluate(log, **{"policy": "a", **options})
