"""The core computes what the oracles do, for every kind of feedback."""

from collections import deque
from typing import Any

import numpy as np
import pytest

from normalhedge import Router
from tests.routing.oracle import ORACLES, Seen, uniform

NAMES = ("a", "b", "c", "d")
SHOWS = {"a": ("b",), "c": ("a", "d")}


def sights(p: np.ndarray, seen: list[int], shows: bool) -> np.ndarray:
    """Return the probability that each gain is seen."""
    o = p.copy()
    if shows:
        for chooser, others in SHOWS.items():
            for other in others:
                o[NAMES.index(other)] += p[NAMES.index(chooser)]
    o[seen] = 1.0
    return np.where(o > 1.0 - 1e-12, 1.0, o)


@pytest.mark.parametrize("feedback", ["one", "all", "declared", "shown", "late", "asleep", "mixed"])
@pytest.mark.parametrize("rule", ORACLES)
def test_the_rule_is_its_oracle(rule: str, feedback: str) -> None:
    rng = np.random.default_rng(3)
    shows = feedback == "shown"
    router = Router(NAMES, rule=rule, gains=(-1.0, 1.0), seed=5, shows=SHOWS if shows else None)
    oracle: Any = ORACLES[rule](len(NAMES))
    waiting: deque[tuple[Any, Seen, dict[str, float]]] = deque()
    means = np.array([0.1, 0.5, -0.2, 0.3])
    for t in range(250):
        if t == 120:
            means = means[::-1].copy()
        awake = np.ones(4, dtype=bool)
        if feedback == "asleep":
            awake = rng.random(4) < 0.6
            awake[rng.integers(4)] = True
        names = [name for name, here in zip(NAMES, awake, strict=True) if here]
        gains = np.clip(means + 0.3 * rng.normal(size=4), -1.0, 1.0)
        declared = [1] if feedback == "declared" else []
        p = oracle.play(awake)
        choice = router.choose(
            awake=names if feedback == "asleep" else None,
            seen=[NAMES[i] for i in declared] or None,
        )
        np.testing.assert_allclose(choice.probabilities, p, rtol=1e-6, atol=1e-12)
        cumulated = np.cumsum(choice.probabilities)
        chosen = int(np.searchsorted(cumulated, uniform(5, choice.ticket), side="right"))
        assert choice.action == NAMES[chosen]
        assert choice.probability == choice.probabilities[chosen]
        full = feedback == "all" or (feedback == "mixed" and t % 3 == 0)
        present = set(np.flatnonzero(awake).tolist())
        known: set[int] = present if full else {chosen, *declared}
        if shows:
            known |= {NAMES.index(name) for name in SHOWS.get(NAMES[chosen], ())}
        o = np.ones(4) if full else sights(p, declared, shows)
        losses = np.where(np.isin(np.arange(4), list(known)), 0.5 * (1.0 - gains), np.nan)
        spread = max(sum(p[i] / o[i] for i in range(4) if p[i] > 0.0), 1.0)
        if feedback in {"one", "late", "asleep", "mixed"} and not full:
            spread = float(awake.sum())
        all_known = known == present and (full or bool((o[awake] >= 1.0).all()))
        pending = len(waiting)
        seen = Seen(losses, o, spread, pending, awake, all_known)
        waiting.append((choice, seen, {NAMES[i]: float(gains[i]) for i in known}))
        while len(waiting) > (7 if feedback == "late" else 0):
            settled, what, mapping = waiting.popleft()
            single = len(mapping) == 1
            router.reward(settled.ticket, mapping[settled.action] if single else mapping)
            oracle.learn(what)
    if rule == "auto":
        np.testing.assert_allclose(router._core.prices(0), oracle.prices(), rtol=1e-6)
        # the theorem of the default, for any feedback
        assert (oracle.regrets <= oracle.prices()).all()
