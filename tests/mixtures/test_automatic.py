"""The automatic mixture: an oracle of the whole rule, its components and its settings."""

import math
from collections import deque
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.mixtures.rules import Automatic, levels_of
from tests.automatic_oracle import Oracle, Round
from tests.mixtures.automatic_examples import NAMES, experts


def test_ways_that_tie_for_long_tie_still() -> None:
    mixture = Mixture(history=0)
    for y in (1.0, -2.0, 0.5):
        mixture.update(mixture.predict({"a": 0.9 * y, "b": 2.0 * y, "c": -y}).ticket, y)
    for _ in range(76_000):  # the usual difference has no digits left then
        mixture.update(mixture.predict({"a": 1.0, "b": 1.0, "c": 1.0}).ticket, 0.0)
    weights = levels_of(mixture.live).ways[0, :14]
    priors = [one.prior for one in Automatic().components(mixture.settings.loss)]
    np.testing.assert_allclose(weights / weights.sum(), priors, rtol=1e-6)


SETTINGS: dict[str, dict[str, Any]] = {
    "one item": {},
    "outcomes are late": {"lag": 3},
    "without the guard": {"guard": False},
    "often absurd": {"wild": 0.3},
    "newcomers": {"late": 2, "lag": 2},
    "confidences": {"unsure": True},
    "two experts": {"n": 2, "wild": 0.05},
    "one expert": {"n": 1},
    "short memory": {"memory": 10.0},
    "three items": {"items": 3},
    "three items, late, newcomers": {"items": 3, "lag": 4, "late": 1},
    "items that begin later": {"items": 3, "begins": (0, 20, 60)},
    "items that begin later, late": {"items": 3, "begins": (0, 20, 60), "lag": 5},
    "ragged items": {"items": 3, "rhythms": (1, 3, 4)},
    "ragged items, late": {"items": 3, "rhythms": (1, 2, 5), "lag": 3},
    "items that never meet": {"items": 3, "rhythms": (-1, -1, -1)},
    "two items, confidences": {"items": 2, "unsure": True, "wild": 0.1},
}


def compare_with_oracle(
    loss: str,
    seed: int,
    *,
    items: int = 1,
    n: int = 5,
    wild: float = 0.02,
    lag: int = 0,
    late: int = 0,
    begins: tuple[int, ...] = (0, 0, 0),
    rhythms: tuple[int, ...] = (1, 1, 1),
    unsure: bool = False,
    memory: float = 100.0,
    guard: bool = True,
) -> None:
    """Play a game with sleepers; all that is said must be what the oracle says."""
    forecasts, y = experts(130, seed, items=items, n=n, wild=wild)
    forecasts[40:43] = np.nan  # everybody sleeps
    rng = np.random.default_rng([seed, 1])
    y[rng.random(y.shape) < (0.1 if items > 1 else 0.0)] = np.nan
    mixture = Mixture(Automatic(memory, guard=guard, inside=True), loss)
    oracle = Oracle(n - late, loss, memory=memory, guard=guard)
    names = [f"e{i}" for i in range(n)]
    mixture.join(names[: n - late])
    waiting: deque[tuple[int, Round, np.ndarray]] = deque()
    for t in range(len(y)):
        if t == 50 and late:
            oracle.join(late)
        who = names if t >= 50 else names[: n - late]
        now = [i for i in range(items) if t >= begins[i] and t % rhythms[i] == 0]
        now = [t % items] if rhythms[0] < 0 else now
        rows = forecasts[t, now, : len(who)]
        told = {"e0": 0.3, "e1": 0.0} if unsure and t % 4 == 1 else None
        rated = None if told is None else np.array([0.3, 0.0, *np.ones(n - 2)])
        made = mixture.predict(said_by(who, rows, now, alone=items == 1), told)
        slow = oracle.predict(now, rows, rated)
        size = np.abs(rows).max(initial=1.0, where=~np.isnan(rows))
        found = mixture.pending[made.ticket].values
        np.testing.assert_allclose(found, slow.values, rtol=1e-9, atol=1e-9 * size)
        waiting.append((made.ticket, slow, y[t, now]))
        if len(waiting) > lag:
            ticket, slow, outcomes = waiting.popleft()
            if not np.isnan(outcomes).all():
                mixture.update(ticket, outcome_of(outcomes, slow.items, alone=items == 1))
                oracle.update(slow, outcomes)


def said_by(who: list[str], rows: np.ndarray, items: list[int], *, alone: bool) -> dict[str, Any]:
    if alone:
        return dict(zip(who, rows[0].tolist(), strict=True))
    return {
        name: {f"i{item}": float(row[k]) for item, row in zip(items, rows, strict=True)}
        for k, name in enumerate(who)
    }


def outcome_of(outcomes: np.ndarray, items: list[int], *, alone: bool) -> Any:
    if alone:
        return float(outcomes[0])
    pairs = zip(items, outcomes.tolist(), strict=True)
    return {f"i{item}": y for item, y in pairs if not math.isnan(y)}


@pytest.mark.parametrize("loss", ["square", "absolute", "pinball:level=0.9"])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
def test_it_is_the_oracle(loss: str, setting: dict[str, Any]) -> None:
    compare_with_oracle(loss, seed=0, **setting)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["square", "absolute", "pinball:level=0.9"])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
def test_it_is_the_oracle_in_many_games(loss: str, setting: dict[str, Any]) -> None:
    for seed in range(1, 16):
        compare_with_oracle(loss, seed=seed, **setting)


def test_the_blend_is_the_mean_of_what_is_said_below_it() -> None:
    forecasts, y = experts(60, 4, items=2)
    mixture = Mixture("auto:inside=true")
    for rows, outcomes in zip(forecasts, y, strict=True):
        ways, choice, insured = (np.array(part) for part in levels_of(mixture.live)[:3])
        made = mixture.predict(dict(zip(NAMES, rows.T, strict=True)))
        if mixture.rounds > 1:
            for said, own in zip(mixture.pending[made.ticket].values, ways[1:], strict=True):
                if np.isnan(said).all():
                    continue
                np.testing.assert_allclose(said[1:3], [ways[0] @ said[4:], own @ said[4:]])
                assert said[3] == pytest.approx(choice[0] @ said[1:3])
                assert said[0] == pytest.approx(insured[0] @ said[3:])
        mixture.update(made.ticket, outcomes)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"memory": 0.5}, "memory must be"),
        ({"memory": math.inf}, "memory must be"),
        ({"memory": "long"}, "memory must be a number"),
        ({"guard": 1}, "guard must be true or false"),
    ],
)
def test_bad_settings_are_a_sentence(settings: dict[str, Any], word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=word):
        Automatic(**settings)


def test_priors_sum_to_one_and_trust_the_plain() -> None:
    for loss in ("square", "absolute", "pinball", "log", "l1", "zero-one", "zero-one-classes"):
        parts = Automatic().components(Mixture(loss=loss).settings.loss)
        assert sum(one.prior for one in parts) == pytest.approx(1.0)
        assert sum(one.prior for one in parts if one.hedger is None) >= 0.5 - 1e-12
        assert len({one.name for one in parts}) == len(parts)
        plain = [one.hedger is None for one in parts]
        assert plain == sorted(plain, reverse=True)
