"""Contexts of a live mixture: the oracle, laws, files, journals, streams and bad input."""

import json
import pickle
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge._core import STATE_FIELDS
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.files._schema import read_mixture, write_mixture
from normalhedge.mixtures.losses import crps
from normalhedge.mixtures.streams import MixtureFile, Stream
from tests.context_oracle import ContextOracle, Row
from tests.corrections_oracle import MEMBERS

BASE, COMMON, FIRST = 4, 6, 5 + MEMBERS
"""The places of the base, of the common correction and of the contexts among the values."""

Rounds = list[tuple[dict[str, Any], dict[str, Any], Any]]
"""Forecasts, contexts and outcomes."""


def hours(days: int = 20, experts: int = 3, seed: int = 0, noise: float = 4.0) -> Rounds:
    """Return rounds in which one expert is good at each hour of a day of six hours."""
    rng = np.random.default_rng(seed)
    best = [hour % experts for hour in range(6)]
    rounds: Rounds = []
    for t in range(6 * days):
        y = float(rng.normal(0.0, 5.0))
        forecasts = y + rng.normal(0.0, noise, experts)
        forecasts[best[t % 6]] = y + rng.normal(0.0, 1.0)
        named = {f"m{i}": float(x) for i, x in enumerate(forecasts)}
        rounds.append((named, {"hour": t % 6, "wet": bool(rng.random() < 0.5)}, y))
    return rounds


def play(mixture: Mixture, rounds: Rounds, lag: int = 0) -> Floats:
    """Return the blends of rounds whose outcomes come so many rounds later."""
    waiting, values = deque[tuple[int, Any]](), []
    for forecasts, context, outcome in rounds:
        prediction = mixture.predict(forecasts, context=context or None)
        values.append(np.array(prediction.value))
        waiting.append((prediction.ticket, outcome))
        if len(waiting) > lag:
            mixture.update(*waiting.popleft())
    return np.array(values)


def same(one: Mixture, two: Mixture) -> None:
    """Assert that two mixtures are equal to the bit."""
    assert (one.names, one.items, one.live.cells) == (two.names, two.items, two.live.cells)
    assert list(one.pending) == list(two.pending)
    for name in STATE_FIELDS:
        np.testing.assert_array_equal(getattr(one.live, name), getattr(two.live, name))


def spoken(mixture: Mixture) -> Floats:
    """Return the values of all settled rows."""
    return np.concatenate([settled.round.values for settled in mixture.history])


@pytest.mark.parametrize("lag", [0, 3])
def test_corrections_of_contexts_are_the_ones_of_the_oracle(lag: int) -> None:
    rounds = hours(days=12)
    for k in range(0, len(rounds), 7):  # an expert sleeps, a context is missing
        rounds[k][0]["m1"] = None
        rounds[k][1]["wet"] = None
    mixture, oracle = Mixture(history=1000), ContextOracle(1)
    play(mixture, rounds, lag)
    waiting = deque[tuple[Row, float]]()
    farthest = 0.0
    for (forecasts, context, y), values in zip(rounds, spoken(mixture), strict=False):
        experts = np.array([np.nan if x is None else x for x in forecasts.values()])
        row = Row(0, experts, values[BASE], values[COMMON], list(context.values()))
        [expected] = oracle.predict([row])
        np.testing.assert_allclose(values[FIRST : FIRST + len(expected)], expected, rtol=1e-9)
        farthest = max(farthest, np.abs(np.array(expected) - values[COMMON]).max())
        waiting.append((row, y))
        if len(waiting) > lag:
            settled, outcome = waiting.popleft()
            oracle.learn([settled], [outcome], lag)
    assert farthest > 0.5


def test_items_of_a_round_teach_their_cells_together() -> None:
    rng = np.random.default_rng(1)
    mixture, oracle = Mixture("auto:guard=false", history=1000), ContextOracle(2)
    rounds: Rounds = []
    for t in range(60):
        y = rng.normal(0.0, 5.0, 2)
        forecasts = {f"m{i}": (y + rng.normal(i, 1 + (t + i) % 3, 2)).tolist() for i in range(3)}
        outcome = [float(y[0]), None if t % 9 == 0 else float(y[1])]
        rounds.append((forecasts, {"place": ["a", "b"], "day": t % 3}, outcome))
    play(mixture, rounds)
    for (forecasts, context, outcome), settled in zip(rounds, mixture.history, strict=True):
        values = settled.round.values
        rows = [
            Row(k, np.array([x[k] for x in forecasts.values()]), values[k, BASE],
                values[k, COMMON], [context["place"][k], context["day"]])
            for k in range(2)
        ]  # fmt: skip
        np.testing.assert_allclose(values[:, FIRST : FIRST + 2], oracle.predict(rows), rtol=1e-9)
        oracle.learn(rows, [np.nan if y is None else y for y in outcome], 0)


def test_the_best_expert_of_each_hour_is_found() -> None:
    rounds = hours(days=300)
    outcomes = np.array([y for *_, y in rounds])
    late = slice(len(rounds) // 2, None)
    with_hour = play(Mixture(), [(x, {"hour": c["hour"]}, y) for x, c, y in rounds])
    without = play(Mixture(), [(x, {}, y) for x, _, y in rounds])
    losses = [np.mean(np.square(blends - outcomes)[late]) for blends in (with_hour, without)]
    assert losses[0] < 1.15
    assert losses[1] > 2.5


def test_a_useless_context_costs_little() -> None:
    rng = np.random.default_rng(3)
    rounds: Rounds = []
    for t in range(2000):
        y = float(rng.normal(0.0, 5.0))
        forecasts = {f"m{i}": y + float(rng.normal(0.0, 1.0 + i)) for i in range(4)}
        rounds.append((forecasts, {"coin": int(rng.integers(8)), "day": t % 7}, y))
    outcomes = np.array([y for *_, y in rounds])
    losses = [
        np.mean(np.square(play(Mixture(), [(x, c if used else {}, y) for x, c, y in rounds])
                          - outcomes))
        for used in (True, False)
    ]  # fmt: skip
    assert losses[0] < 1.01 * losses[1]


def test_an_unknown_value_has_the_common_forecast() -> None:
    mixture = Mixture()
    play(mixture, [(x, {"hour": c["hour"]}, y) for x, c, y in hours()])
    forecasts = hours(1)[0][0]
    contexts: list[dict[str, Any] | None] = [{"hour": "never"}, {"hour": None}, None, {}]
    values = {mixture.peek(forecasts, context=context).value for context in contexts}
    assert len(values) == 1
    assert mixture.peek(forecasts, context={"hour": 2}).value not in values


def test_names_of_values_and_their_order_make_no_difference() -> None:
    rounds = hours()
    names = {0: "zero", 1: "one", 2: True, 3: "a", 4: 17.0, 5: "5"}
    renamed: Rounds = [
        (x, {"wet": str(c["wet"]), "time": names[c["hour"]]}, y) for x, c, y in rounds
    ]
    np.testing.assert_allclose(play(Mixture(), rounds), play(Mixture(), renamed), rtol=1e-9)


def test_types_of_a_value_are_one_value() -> None:
    mixture = Mixture()
    value: Any
    for value in (7, 7.0, "7", np.int32(7), np.float64(7.0)):
        mixture.predict({"a": 1.0}, context={"hour": value})
    for value in (True, np.bool_(1), "true"):
        mixture.predict({"a": 1.0}, context={"hour": value})
    assert mixture.live.cells == ["hour=7", "hour=true"]


def test_a_missing_context_is_not_a_context_yet() -> None:
    one, two = Mixture(), Mixture()
    for mixture, first in ((one, {"b": "x"}), (two, {"a": None, "b": "x"})):
        mixture.predict({"m": 1.0}, context=first)
        mixture.predict({"m": 1.0}, context={"a": 1, "b": "x"})
    same(one, two)
    assert one.live.cells == ["b=x", "a=1"]


def test_copies_pickles_and_files_hold_contexts(tmp_path: Path) -> None:
    rounds = hours()
    mixture = Mixture(history=50)
    play(mixture, rounds[:70], lag=4)
    mixture.save(tmp_path / "m.json")
    others = [
        mixture.copy(),
        pickle.loads(pickle.dumps(mixture)),
        Mixture.load(tmp_path / "m.json"),
    ]
    expected = play(mixture, rounds[70:])
    for other in others:
        np.testing.assert_array_equal(play(other, rounds[70:]), expected)
        same(other, mixture)


def test_a_corrected_outcome_is_the_same_as_the_right_one_at_once() -> None:
    rounds = hours(days=10)
    wrong = [(x, c, 30.0 if t == 40 else y) for t, (x, c, y) in enumerate(rounds)]
    one, two = Mixture(history=60), Mixture(history=60)
    play(one, rounds)
    play(two, wrong)
    two.correct(40, rounds[40][2])
    forecasts, context, _ = hours(1)[3]
    assert one.live.cells == two.live.cells
    assert one.peek(forecasts, context=context).value == two.peek(forecasts, context=context).value


def test_a_stream_takes_contexts_and_its_journal_repeats_them(tmp_path: Path) -> None:
    rounds, mixture, live = hours(days=3), Mixture(), Mixture()
    expected = play(live, rounds)
    path = tmp_path / "m.json"
    file = MixtureFile(path)
    file.begin(mixture)
    answers = []
    stream = Stream(mixture, lambda operation: file.append([operation]))
    for number, (forecasts, context, y) in enumerate(rounds):
        line = json.dumps({"forecasts": forecasts, "context": context}).encode()
        answers.append(stream.answer(2 * number + 1, line, whole=True))
        line = json.dumps({"ticket": number, "outcome": y}).encode()
        stream.answer(2 * number + 2, line, whole=True)
    assert [answer["prediction"] for answer in answers if answer] == expected.tolist()
    same(mixture, live)
    loaded = MixtureFile(path).load()
    assert loaded is not None
    same(loaded, live)


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"a=b": 1}, "no '='"),
        ({"": 1}, "1 to 100 characters"),
        ({"x" * 101: 1}, "1 to 100 characters"),
        ({3: 1}, "must be strings"),
        ({"a": "x" * 101}, "at most 100 characters"),
        ({"a": 1.5}, "must be a category"),
        ({"a": float("inf")}, "must be a category"),
        ({"a": 10**5000}, "below 2\\^63"),
        ({"a": 1e300}, "below 2\\^63"),
        ({"a": object()}, "must be text, a whole number"),
        ({"a": [1, 2]}, "must be text, a whole number"),
        ({"a": {"b": 1}}, "must be text, a whole number"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "at most 3 contexts"),
        (["a"], "must be a mapping"),
    ],
)
def test_a_bad_context_changes_nothing(context: Any, words: str) -> None:
    mixture = Mixture()
    play(mixture, hours(2))
    before = mixture.copy()
    with pytest.raises((TypeError, ValueError), match=words):
        mixture.predict({"m0": 1.0, "new": 2.0}, context=context)
    same(mixture, before)


def test_a_bad_context_of_items_is_refused() -> None:
    mixture, forecasts = Mixture(), {"m": {"x": 1.0, "y": 2.0}}
    with pytest.raises(ValueError, match="'z' that has no forecast"):
        mixture.predict(forecasts, context={"a": {"z": 1}})
    with pytest.raises(ValueError, match="for each of 2 items, got 3"):
        mixture.predict(forecasts, context={"a": [1, 2, 3]})
    mixture.predict(forecasts, context={"a": {"y": 1}})
    [pending] = mixture.pending.values()
    assert pending.cells is not None
    assert pending.cells[:, 0].tolist() == [-1, 0]


@pytest.mark.parametrize(
    "options",
    [{"hedger": "normal-hedge"}, {"loss": crps((0.1, 0.5, 0.9))}, {"shared": False},
     {"hedger": "auto:inside=true"}, {"loss": "log-wealth"}],
)  # fmt: skip
def test_contexts_need_the_default_and_numbers(options: dict[str, Any]) -> None:
    mixture = Mixture(**options)
    forecasts = {
        "m": [1.0, 2.0, 3.0] if "loss" in options and options["loss"] != "log-wealth" else 1.0
    }
    with pytest.raises(ValueError, match="context needs the hedger"):
        mixture.predict(forecasts, context={"hour": 1})
    assert not mixture.names


def test_many_values_have_sixty_four_cells() -> None:
    mixture = Mixture()
    for k in range(200):
        mixture.update(mixture.predict({"a": 1.0, "b": 2.0}, context={"id": k}).ticket, 1.5)
    items = {str(k): float(k) for k in range(1000)}
    mixture.predict({"a": items}, context={"id": {key: f"v{key}" for key in items}})
    assert len(mixture.live.cells) == 64


def test_the_summary_says_how_far_contexts_move_the_blend() -> None:
    rounds = hours(days=60)
    mixture = Mixture()
    assert mixture.summary().by_context == ""
    play(mixture, rounds)
    summary = mixture.summary()
    hour, wet = summary.contexts
    assert (hour.name, hour.values, wet.name, wet.values) == ("hour", 6, "wet", 2)
    assert hour.weight > 0.5 > wet.weight
    values = spoken(mixture)[-100:]
    moves = np.abs(values[:, FIRST] - values[:, COMMON]).mean()
    assert hour.moved == pytest.approx(hour.weight * moves)
    assert summary.by_context in str(summary)
    assert "depend on the hour (6 values)" in summary.by_context


@pytest.mark.parametrize(
    "cells",
    [
        ["a=1", "b=1", "c=1", "d=1"],
        ["a=1", "a=1"],
        ["a"],
        ["=1"],
        [f"a={k}" for k in range(65)],
        "a=1",
    ],
)
def test_a_file_with_other_cells_is_refused(cells: Any) -> None:
    mixture = Mixture()
    play(mixture, hours(2))
    content = write_mixture(mixture)
    content["cells"] = cells
    with pytest.raises((ValueError, TypeError), match=r"cells|context"):
        read_mixture(content, None)


def test_numbers_of_contexts_in_a_file_may_be_anything() -> None:
    mixture = Mixture()
    play(mixture, hours(2))
    forecasts, context, _ = hours(3)[-1]
    totals = mixture.live.totals
    field, first, end = mixture.live.parts["contexts"]
    assert field == "totals"
    assert totals[0, first:end].tolist() == [2.0, 8.0]
    for wrong in (0.0, -1e300, 1e300):
        other = mixture.copy()
        totals[:, first:end] = wrong
        other.live.assign(other.live.version, {"totals": totals})
        assert np.isfinite(np.array(other.predict(forecasts, context=context).value))


def test_known_contexts_take_the_fast_path_to_the_bit() -> None:
    rng, fast, slow = np.random.default_rng(3), Mixture(), Mixture()
    kinds = ["sun", "rain", "a=b", "7"]
    for t in range(120):
        y = float(rng.normal())
        said = {"a": y + float(rng.normal()), "b": y + 2.0 * float(rng.normal())}
        context: dict[str, Any] = {"weather": kinds[t % 4], "hour": t % 3}
        if t % 7 == 0:
            del context["hour"]
        known = len(fast._live.cells) == len(kinds) + 3  # then their order no longer matters
        one = fast.predict(said, context=dict(reversed(context.items())) if known else context)
        two = slow.predict(said, {"a": 1.0}, context=context)  # with confidences: never fast
        assert one.value == two.value
        fast.update(one.ticket, y)
        slow.update(two.ticket, y)
    assert fast._live.cells == slow._live.cells
    with pytest.raises(ValueError, match="no '='"):
        fast.predict({"a": 1.0, "b": 1.0}, context={"weather=a": "b"})
    with pytest.raises(ValueError, match="must be a category"):
        fast.predict({"a": 1.0, "b": 1.0}, context={"hour": 0.5})
