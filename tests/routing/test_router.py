"""The router as an object: tickets, actions, corrections, files and refusals."""

import copy
import json
import math
import pickle
import random
import threading
from pathlib import Path
from typing import Any

import pytest

from normalhedge import NormalHedge, Router
from normalhedge.routing import Choice
from tests.routing.examples import MEANS, play, same

RULES = [
    "auto",
    "exp3-ix",
    "tsallis-inf",
    "maillard:memory=100",
    "normal-hedge:memory=100",
    "fixed-share:alpha=0.01",
]


@pytest.mark.parametrize("rule", [*RULES, NormalHedge(memory=50)])
def test_the_best_action_is_found(rule: Any) -> None:
    router = Router(MEANS, rule=rule)
    play(router, 1500)
    assert max(router.probabilities(), key=router.probabilities().__getitem__) == "c"
    assert router.rounds == 1500
    assert 0.5 < router.gain < 0.85


def test_a_replay_chooses_the_same() -> None:
    one, other, third = Router(MEANS, seed=4), Router(MEANS, seed=4), Router(MEANS, seed=5)
    chosen = play(one, 200)
    assert chosen == play(other, 200)
    assert chosen != play(third, 200)
    assert same(one, other)


def test_draws_follow_the_probabilities() -> None:
    router = Router(MEANS)
    play(router, 12)
    p = router.probabilities()
    counts = dict.fromkeys(MEANS, 0)
    for _ in range(20_000):
        counts[router.choose().action] += 1
    for name, count in counts.items():
        assert abs(count - 20_000 * p[name]) < 5.0 * math.sqrt(20_000 * p[name] * (1 - p[name]) + 1)


def test_gains_may_come_late_in_any_order_or_never() -> None:
    router, rng = Router(MEANS, max_pending=20), random.Random(1)
    waiting: list[Choice] = []
    for _ in range(2000):
        waiting.append(router.choose())
        rng.shuffle(waiting)
        if len(waiting) > 30:
            choice = waiting.pop()
            if choice.ticket in router.pending:
                router.reward(choice.ticket, float(rng.random() < MEANS[choice.action]))
    assert router.expired > 0
    assert router.probabilities()["c"] > 0.8
    assert not router.bound()
    assert "late" in str(router.bound())


@pytest.mark.parametrize("rule", RULES)
def test_a_correction_is_as_if_the_gain_had_been_right(rule: str) -> None:
    """The choices are the same; the weights are those of a router that was told the right gain."""
    wrong, right = Router(MEANS, rule=rule, history=20), Router(MEANS, rule=rule, history=20)
    for t in range(60):
        ours, theirs = wrong.choose(), right.choose(awake=None)
        if t < 45:
            assert ours.ticket == theirs.ticket
        gain = MEANS[ours.action]
        if t == 45:
            wrong.reward(ours.ticket, 0.0)
            right.reward(theirs.ticket, 1.0)
            wrong.correct(ours.ticket, 1.0)
            assert same(wrong, right)
        else:
            wrong.reward(ours.ticket, gain)
            right.reward(theirs.ticket, gain)
    assert same(wrong, right)


def test_a_later_correction_changes_what_was_learned_since() -> None:
    router = Router(MEANS, history=50)
    tickets = [router.choose() for _ in range(30)]
    for choice in tickets:
        router.reward(choice.ticket, 0.5)
    before = router.copy()
    router.correct(tickets[3].ticket, 0.9)
    assert not same(before, router)
    assert router.gain == pytest.approx(0.5 + 0.4 / 30)
    router.correct(tickets[3].ticket, 0.5)
    assert router.probabilities() == before.probabilities()


def test_actions_join_and_leave() -> None:
    router = Router(["a", "b"])
    play(router, 50)
    late = router.choose()
    router.join("c")
    assert router.actions == ("a", "b", "c")
    play(router, 400)
    assert router.probabilities()["c"] > 0.5
    router.leave(late.action)
    assert late.action not in router.actions
    router.reward(late.ticket, 1.0)  # it is known too late to teach anything, but it counts
    assert router.rounds == 451
    router.join(late.action)
    play(router, 20)
    assert sum(record.action == late.action for record in router.history) >= 1
    assert math.isclose(sum(router.probabilities().values()), 1.0)


def test_a_round_from_before_an_action_joined_does_not_judge_it() -> None:
    router = Router(["a", "b"], rule="exp3-ix", gains=(-1.0, 1.0))
    early = router.choose()
    router.join("c")
    router.reward(early.ticket, {"a": -1.0, "b": -1.0})
    assert list(router.probabilities().values()) == pytest.approx([1 / 3] * 3)


def test_contexts_have_weights_of_their_own() -> None:
    router, rng = Router(["day", "night"]), random.Random(0)
    for _ in range(3000):
        hour = rng.choice(["day", "night"])
        choice = router.choose(context=hour)
        router.reward(choice.ticket, 0.9 if choice.action == hour else 0.1)
    assert router.probabilities("day")["day"] > 0.95
    assert router.probabilities("night")["night"] > 0.95
    assert router.context_share("day") > 0.9
    assert router.probabilities("noon") == router.probabilities()
    assert router.contexts == ('"day"', '"night"') or set(router.contexts) == {'"day"', '"night"'}


def test_bounds_say_why_there_is_none() -> None:
    for rule in ("auto", "exp3-ix"):
        router = Router(["a", "b"], rule=rule)
        router.reward(router.choose().ticket, 0.5)
        assert router.bound()
        router.reward(router.choose(context="x").ticket, 0.5)
        assert str(router.bound()) == "no theorem covers contexts or a budget"
    slept = Router(["a", "b"], rule="exp3-ix")
    slept.reward(slept.choose(awake=["a"]).ticket, 0.5)
    slept.reward(slept.choose().ticket, 0.5)
    assert str(slept.bound()) == "no theorem covers actions that sleep, join or leave"


def test_contexts_that_do_not_matter_cost_little() -> None:
    rng = random.Random(0)
    plain, split = Router(MEANS), Router(MEANS)
    play(plain, 3000, 1)
    for _ in range(3000):
        choice = split.choose(context=rng.randrange(30))
        split.reward(choice.ticket, float(rng.random() < MEANS[choice.action]))
    assert split.gain > plain.gain - 0.06


def test_the_65th_context_has_the_common_weights() -> None:
    router = Router(MEANS)
    for k in range(70):
        router.reward(router.choose(context=k).ticket, 0.5)
    assert len(router.contexts) == 64
    assert router.context_share(69) == 0.0


@pytest.mark.parametrize("rule", RULES)
def test_files_continue_to_the_bit(rule: str, tmp_path: Path) -> None:
    router = Router(MEANS, rule=rule, history=30, shows={"a": ["b"]}, seed=2**64 - 1)
    for t in range(100):
        choice = router.choose(context=t % 3, awake=["a", "b"] if t % 5 == 0 else None)
        gains = {choice.action: 0.5, "b": 0.2} if choice.action == "a" else 0.4
        if t % 7:
            router.reward(choice.ticket, gains)
    router.join("d")
    router.leave("b")
    router.save(tmp_path / "router.json")
    again = Router.load(tmp_path / "router.json")
    assert same(router, again)
    assert again.settings.learner() == router.settings.learner()
    assert play(router, 50) == play(again, 50)
    ticket = router.history[-3].ticket
    router.correct(ticket, 0.1)
    again.correct(ticket, 0.1)
    assert same(router, again)


def test_routers_can_be_copied_and_pickled() -> None:
    router = Router(MEANS, seed=3)
    play(router, 50)
    for again in (copy.copy(router), copy.deepcopy(router), pickle.loads(pickle.dumps(router))):
        assert same(router, again)
        assert again.choose().action == router.copy().choose().action
        assert not same(router, again)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "router.json"
    play(router := Router(MEANS), 20)
    router.save(path)
    text = path.read_text()
    path.write_text(text.replace('"history": 1000', '"history": 1001'))
    with pytest.raises(ValueError, match="changed after it was written"):
        Router.load(path)
    path.write_text(text[:-20])
    with pytest.raises(ValueError, match="not a whole JSON file"):
        Router.load(path)
    path.write_text(json.dumps({"format": "normalhedge mixture"}))
    with pytest.raises(ValueError, match="does not hold a router"):
        Router.load(path)


def test_threads_may_share_a_router() -> None:
    router = Router(MEANS)

    def work() -> None:
        for _ in range(500):
            choice = router.choose()
            router.reward(choice.ticket, MEANS[choice.action])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert router.rounds == 2000
    assert not router.pending


CHOSEN = Router(["a", "b"]).choose().action
OTHER = "b" if CHOSEN == "a" else "a"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda r: r.reward(0, 1.5), ValueError, ["the gain of", "[0, 1]", "1.5"]),
        (lambda r: r.reward(0, math.nan), ValueError, ["the gain of", "nan"]),
        (lambda r: r.reward(0, "much"), TypeError, ["the gain of", "must be a number"]),
        (lambda r: r.reward(0, True), TypeError, ["must be a number"]),
        (lambda r: r.reward(0, {CHOSEN: 0.5, "z": 0.1}), ValueError, ["'z' was not offered"]),
        (lambda r: r.reward(0, {OTHER: 0.5}), ValueError, [f"must have '{CHOSEN}'"]),
        (lambda r: r.reward(0, {}), ValueError, ["must have"]),
        (lambda r: r.reward(7, 0.5), LookupError, ["there was no choice with ticket 7"]),
        (lambda r: r.reward(-1, 0.5), ValueError, ["ticket", "-1"]),
        (lambda r: r.reward("0", 0.5), TypeError, ["ticket must be a whole number"]),
        (lambda r: r.correct(0, 0.5), LookupError, ["still waits"]),
        (lambda r: r.correct(9, 0.5), LookupError, ["not in the history"]),
        (lambda r: r.choose(awake=[]), ValueError, ["awake must name at least one"]),
        (lambda r: r.choose(awake=["a", "q"]), ValueError, ["unknown action 'q'", "a, b"]),
        (lambda r: r.choose(awake="a"), TypeError, ["awake must be a list"]),
        (lambda r: r.choose(seen=["q"]), ValueError, ["unknown action 'q'"]),
        (lambda r: r.choose(context=1.5), TypeError, ["context must be text", "1.5"]),
        (lambda r: r.choose(context={"hour": [1]}), TypeError, ["context must be text"]),
        (lambda r: r.choose(context="x" * 300), ValueError, ["context must be short"]),
        (lambda r: r.join("a"), ValueError, ["'a' already"]),
        (lambda r: r.join(""), TypeError, ["not empty"]),
        (lambda r: r.join(3), TypeError, ["not empty, got 3"]),
        (lambda r: r.leave("q"), ValueError, ["unknown action 'q'"]),
    ],
)
def test_refusals_change_nothing(call: Any, error: type[Exception], words: list[str]) -> None:
    router = Router(["a", "b"])
    router.choose()
    before = router.copy()
    with pytest.raises(error) as caught:
        call(router)
    for word in words:
        assert word in str(caught.value)
    assert same(router, before)


def test_a_second_reward_is_refused() -> None:
    router = Router(["a", "b"])
    choice = router.choose()
    router.reward(choice.ticket, 0.5)
    before = router.copy()
    with pytest.raises(LookupError, match="has its gain already: correct"):
        router.reward(choice.ticket, 0.5)
    assert same(router, before)


def test_gains_that_were_not_announced_are_refused() -> None:
    router = Router(["a", "b", "c"], seed=1)
    choice = router.choose()
    other = next(name for name in "abc" if name != choice.action)
    with pytest.raises(ValueError, match="seen"):
        router.reward(choice.ticket, {choice.action: 0.5, other: 0.1})
    shown = router.choose(seen=[other])
    if shown.action != other:
        with pytest.raises(ValueError, match="must be a mapping"):
            router.reward(shown.ticket, 0.5)
    router.reward(shown.ticket, {shown.action: 0.5, other: 0.5})


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"actions": "ab"}, TypeError, ["actions must be a list"]),
        ({"actions": ["a", "a"]}, ValueError, ["'a' twice"]),
        ({"actions": ["a", ""]}, TypeError, ["not empty"]),
        ({"rule": "normal-hegde"}, ValueError, ["did you mean normal-hedge?"]),
        ({"rule": 3}, TypeError, ["rule must be", "3"]),
        ({"rule": "maillard:keenness=0"}, ValueError, ["keenness", "> 0"]),
        ({"gains": (1.0, 0.0)}, ValueError, ["a larger gain", "1 and 0"]),
        ({"gains": 1.0}, TypeError, ["the least and the largest gain"]),
        ({"budget": 1.0}, ValueError, ["costs and budget belong together"]),
        ({"budget": 1.0, "costs": {"a": 1.0}}, ValueError, ["'b' is missing"]),
        ({"budget": 1.0, "costs": {"a": 2.0, "b": 3.0}}, ValueError, ["cheapest action, 2 of 'a'"]),
        ({"budget": 1.0, "costs": {"a": -2.0, "b": 3.0}}, ValueError, ["the cost of a", ">= 0"]),
        ({"max_pending": 0}, ValueError, ["max_pending", "at least 1"]),
        ({"seed": -1}, ValueError, ["seed", "at least 0"]),
        ({"rule": NormalHedge(memory=100, delay=2)}, ValueError, ["without a delay"]),
    ],
)
def test_settings_are_checked(
    options: dict[str, Any], error: type[Exception], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        Router(**{"actions": ["a", "b"], **options})
    for word in words:
        assert word in str(caught.value)


def test_a_router_without_actions_says_so() -> None:
    with pytest.raises(ValueError, match="no actions to choose from: see join"):
        Router().choose()


def test_summary_and_explanation_tell_of_every_action() -> None:
    router = Router(MEANS)
    play(router, 300)
    text, html = str(router.summary()), router.summary()._repr_html_()
    for name in MEANS:
        assert name in text
        assert f"<td>{name}</td>" in html
    best = router.summary().actions[0]
    assert best.action == "c"
    assert best.value is not None
    assert best.value.low < 0.8 < best.value.high
    assert router.explain().changes[0].share_after != router.explain().changes[0].share_before
    assert "300 rounds" in text
    assert "Router: 3 actions (a, b, c), 300 rounds, 0 pending" in repr(router)
