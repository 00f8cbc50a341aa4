"""`Mixture.bound` keeps its word in the loss that the user computes, whatever attacks it."""

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from normalhedge import Mixture, NormalHedge, checks
from normalhedge.guarantees import default_c
from normalhedge.hedgers import HEDGERS
from normalhedge.mixtures import Loss

RULES = [
    *(name for name in HEDGERS if name not in {"hedge-derived", "hedge-simulated"}),
    *(f"{name}:alpha=0" for name in HEDGERS if not name.startswith(("normal-hedge", "hedge"))),
    "normal-hedge:memory=100",
    "normal-hedge:memory=1000,c=4",
    "normal-hedge:delay=3",
    "hedge-decreasing:alpha=0",
    "normal-hedge-2009:alpha=0",
    "dorm:alpha=0,delay=3",
    "ada-hedge-d:alpha=0,delay=10",
    "auto:guard=false",
]
"""All hedgers, those that can do without forgetting also without, and the default."""

KINDS: list[tuple[str, str, bool | None]] = [
    ("square", "mean", False),
    ("square", "mean", True),
    ("square", "median", None),
    ("absolute", "mean", False),
    ("absolute", "mean", True),
    ("absolute", "median", None),
    ("pinball:level=0.8", "median", None),
    ("pinball:level=0.8", "mean", True),
    ("log", "mean", False),
    ("log", "mean", True),
    ("l1", "mean", False),
    ("l1", "mean", True),
    ("zero-one", "vote", None),
    ("zero-one-classes", "mean", None),
    ("log-wealth", "mean", False),
    ("log-wealth", "mean", True),
    ("crps:levels=0.1/0.5/0.9", "mean", False),
    ("crps:levels=0.1/0.5/0.9", "mean", True),
]
"""Losses, combinations, and whether with the gradient trick."""

LAGS, EXPERTS = (0, 1, 3, 10), (2, 3, 10)


class Case(NamedTuple):
    """A mixture and an attack on it."""

    rule: str
    loss: str
    combine: str
    gradient: bool | None
    lag: int
    experts: int
    nature: str


def cases() -> Iterator[Case]:
    """Yield every hedger x loss x combination x lag x number of experts x nature."""
    for rule, (loss, combine, gradient), lag in itertools.product(RULES, KINDS, LAGS):
        blocks = (f"blocks {length}" for length in range(1, 4 * (lag + 1) + 1))
        for nature, experts in itertools.product([*checks.NATURES, *blocks], EXPERTS):
            yield Case(rule, loss, combine, gradient, lag, experts, nature)


def mixture_of(case: Case) -> Mixture | None:
    """Return the mixture of a case; None if there is no such mixture."""
    if case.rule.startswith("auto"):
        plain = case.combine == "vote" or (case.combine == "mean" and not case.gradient)
        return Mixture(case.rule, case.loss) if plain else None
    by_count = {"hedge": "hedge-fixed:eta=0.3,alpha=0.05", "hedge-fixed": "hedge-fixed:eta=0.1"}
    rule = by_count.get(case.rule, case.rule)
    try:
        return Mixture(rule, case.loss, combine=case.combine, gradient=case.gradient)
    except (ValueError, TypeError):  # the gradient trick is of no use to it, or it wants a number
        return None


def nature_of(case: Case) -> checks.Nature:
    kind, _, length = case.nature.partition(" ")
    return checks.blocks(int(length)) if length else checks.NATURES[kind]


def attack(chosen: list[Case], rounds: int) -> int:
    """Attack mixtures; return how many had a finite bound at some time."""
    finite = 0
    for case in chosen:
        mixture = mixture_of(case)
        if mixture is not None:
            reached = checks.check_bound(
                mixture, nature_of(case), experts=case.experts, lag=case.lag, rounds=rounds
            )
            finite += reached > 0.0
    return finite


@pytest.mark.parametrize("part", range(4))
def test_no_regret_exceeds_its_bound(part: int) -> None:
    """A sample of all cases; the slow test has the rest."""
    chosen = random.Random(part).sample(list(cases()), 220)
    assert attack(chosen, 90) > 30


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_no_regret_exceeds_its_bound_in_any_case(rule: str) -> None:
    attack([case for case in cases() if case.rule == rule], 70)


PROVED = [kind for kind in KINDS if kind[1] == "mean" and kind[0] != "zero-one-classes"]


@pytest.mark.parametrize(("loss", "combine", "gradient"), PROVED)
@pytest.mark.parametrize("rule", ["normal-hedge:memory=100", "ada-hedge:alpha=0"])
def test_theorem_k(rule: str, loss: str, combine: str, gradient: bool) -> None:
    """The measured part of a bound is at most twice the range, and none if the range is known."""
    natures = {**checks.NATURES, "blocks": checks.blocks(5)}
    for lag, (nature, experts) in itertools.product((0, 3), itertools.product(natures, EXPERTS)):
        if lag and rule != "normal-hedge:memory=100":
            continue
        mixture = Mixture(rule, loss, combine=combine, gradient=gradient)
        checks.check_bound(mixture, natures[nature], experts=experts, lag=lag, rounds=150)
        bound = mixture.bound()
        assert math.isfinite(bound.regret)
        assert bound.measured <= 2.0 * mixture.ranges[0, 0]
        if loss == "l1":
            assert bound.measured <= 1e-9


def test_the_right_expert_is_found_where_large_losses_are_rare() -> None:
    """Intermittent demand: most days nothing is sold, and then twenty."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(3000) < 0.85, 0.0, rng.poisson(20.0, 3000))
    best = np.square(3.2 - y).mean()
    for rule in (
        "normal-hedge:memory=100",
        "normal-hedge",
        "ada-hedge:alpha=0",
        "hedge-decreasing",
    ):
        for gradient in (False, True):
            mixture = Mixture(rule, gradient=gradient)
            for outcome in y.tolist():
                made = mixture.predict({"low": 0.5, "high": 3.2})
                mixture.update(made.ticket, outcome)
            assert mixture.summary().blend < 1.03 * best
            assert mixture.next_weights()["high"] > 0.5


def test_the_bound_of_a_median_knows_that_it_is_one() -> None:
    mixture = Mixture(NormalHedge(alpha=0.001), loss="absolute")
    checks.check_bound(mixture, checks.NATURES["alternate"], rounds=4000)
    bound = mixture.bound()
    assert bound.regret > 480.0  # it really is behind by that much
    assert "combining by the median" in bound.source
    assert bound.unit == "in absolute loss, discounted at 0.001 a round"


@pytest.mark.parametrize(("lag", "limit"), [(0, 25.0), (1, 35.0), (3, 60.0), (10, 110.0)])
def test_late_outcomes_are_allowed_for(lag: int, limit: float) -> None:
    """Blocks of 2 (lag + 1) rounds; the hedger that does not know of the delay has 17 to 172."""
    mixture = Mixture(NormalHedge(alpha=0.001), "absolute", combine="mean", gradient=False)
    nature, reached = checks.blocks(2 * (lag + 1)), 0.0
    checks.check_bound(mixture, nature, lag=lag, rounds=3000)
    reached = float(mixture.loss_regrets.max())
    assert 0.1 < reached < limit
    assert mixture.bound().potential < 2.0
    c = mixture.settings.c_for(lag)
    assert c == default_c(lag)


def test_a_longer_delay_than_ever_is_survived() -> None:
    mixture = Mixture(NormalHedge(alpha=0.01), "absolute", combine="mean", gradient=False)
    waiting: list[tuple[int, float, float]] = []
    regrets, rng = np.zeros(2), np.random.default_rng(0)
    for t in range(900):
        lag = 0 if t < 200 else 2 if t < 500 else 10
        y = float(t // 8 % 2)
        made = mixture.predict({"a": 0.0, "b": 1.0})
        waiting.append((made.ticket, made.value, y))
        while len(waiting) > lag:
            place = int(rng.integers(len(waiting))) if t > 700 else 0  # at last in any order
            ticket, value, outcome = waiting.pop(place)
            mixture.update(ticket, outcome)
            losses = np.abs(np.array([0.0, 1.0]) - outcome)
            regrets = 0.99 * regrets + abs(value - outcome) - losses
            np.testing.assert_allclose(mixture.loss_regrets[0], regrets, atol=1e-9)
            assert regrets.max() <= mixture.bound().regret + 1e-9
    assert mixture.live.delays[0, 0] >= 10.0
    assert mixture.live.delays[0, 2] == 1.0
    again = Mixture("normal-hedge:memory=100,delay=10", "absolute", combine="mean", gradient=False)
    assert again.settings.patience[:2] == (default_c(10), 10)


@pytest.mark.parametrize("delay", [-1, 2.5, "3", True, None])
def test_a_delay_that_is_none_is_refused_by_name(delay: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="delay"):
        NormalHedge(memory=20, delay=delay)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"combine": "mean", "gradient": False, "even": 0.3}, "even weights"),
        ({"combine": "median"}, "the median"),
    ],
)
def test_theorem_e_is_for_the_mean_of_the_weights_that_were_played(
    options: dict[str, Any], word: str
) -> None:
    mixture = Mixture("normal-hedge:memory=100", "absolute", **options)
    checks.check_bound(mixture, checks.blocks(4), lag=1, rounds=20)
    assert str(mixture.bound()) == f"no theorem covers {word} where outcomes are late"


def test_late_outcomes_of_a_loss_that_is_not_convex() -> None:
    """The blend lies between two experts, and loses more than both: theorem E does not allow it."""
    own = Loss("mine", function=lambda x, y: np.minimum(8.0 * np.abs(x - y), 1.0))
    mixture = Mixture("normal-hedge:memory=100", own)
    checks.check_bound(mixture, checks.blocks(2), lag=1, rounds=600)
    bound = mixture.bound()
    assert mixture.loss_regrets.max() > 45.0
    assert "clipped or not convex: average potential now" in bound.source
    assert bound.potential > NormalHedge(memory=100, delay=1).bound(2).potential


def test_a_bound_of_experts_that_come_go_and_inherit() -> None:
    mixture = Mixture(NormalHedge(memory=50), "absolute", combine="mean", gradient=False)
    regrets: dict[str, float] = {}
    for t in range(400):
        names = [name for k, name in enumerate("abcd") if t >= 50 * k]
        if t == 250:
            mixture.leave("b")
        names = [name for name in names if name != "b" or t < 250]
        said = {name: float(ord(name) % 3) for name in names if (t + ord(name)) % 4}
        made = mixture.predict(said)
        y = float(t // 10 % 3)
        mixture.update(made.ticket, y)
        regrets = {name: 0.98 * value for name, value in regrets.items() if name in names}
        for name, x in said.items():
            regrets[name] = regrets.get(name, 0.0) + abs(made.value - y) - abs(x - y)
        assert max(regrets.values()) <= mixture.bound().regret + 1e-9
    found = dict(zip(mixture.names, mixture.loss_regrets[0].tolist(), strict=True))
    assert found == pytest.approx(regrets)
    left = mixture.bound().regret
    assert left == pytest.approx(
        0.5 * mixture.ranges[0, 0] * NormalHedge(memory=50).bound(4).regret
        + mixture.bound().measured
    )
    mixture.inherit("e", "a")
    assert "started from the record of another" in str(mixture.bound())


def test_items_that_share_weights() -> None:
    shared, known = Mixture("normal-hedge"), Mixture("normal-hedge", "l1")
    for t in range(40):
        made = shared.predict({"a": [1.0, 2.0], "b": [2.0, 900.0]})
        shared.update(made.ticket, [float(t % 3), 100.0 * (t % 2)])
        classes = {"x": [0.3, 0.7], "y": [0.6, 0.4]}
        said = {"a": classes, "b": {k: p[::-1] for k, p in classes.items()}}
        made = known.predict(said)
        known.update(made.ticket, {"x": t % 2, "y": t // 2 % 2})
    assert "items that share their weights" in str(shared.bound())
    assert "mean over the items" in known.bound().unit
    assert known.loss_regrets.max() <= known.bound().regret


def test_even_weights_and_losses_of_your_own_are_measured() -> None:
    own = Loss("mine", function=lambda x, y: np.abs(x - y) ** 1.5)
    for mixture in (
        Mixture("normal-hedge:memory=100", even=0.3, gradient=False),
        Mixture("normal-hedge:memory=100", own),
    ):
        checks.check_bound(mixture, checks.NATURES["contrary"], experts=3, rounds=300)
        assert math.isfinite(mixture.bound().regret)


def test_the_summary_has_the_regret_also_where_the_blend_is_ahead() -> None:
    """Two experts with opposite errors: their blend loses less than both."""
    mixture = Mixture("normal-hedge:memory=100")
    regrets = np.zeros(2)
    for t in range(50):
        errors = np.array([1.0, -1.0]) * (-1) ** t
        made = mixture.predict({"a": errors[0], "b": errors[1]})
        mixture.update(made.ticket, 0.0)
        regrets = 0.99 * regrets + made.value**2 - errors**2
    assert regrets.max() < -1.0
    assert mixture.summary().regret == pytest.approx(regrets.max())
    assert f"{regrets.max():.4g}, at most" in str(mixture.summary())
