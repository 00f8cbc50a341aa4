"""HedgedTracker: laws, late observations, bad input."""

import pickle
from typing import Any

import numpy as np
import pytest

from normalhedge.hedgers import NormalHedge
from normalhedge.latent import HedgedTracker
from normalhedge.research.paper._pulse import move
from tests.latent.tracking.examples import jitter, own, walk


def same(one: HedgedTracker, other: HedgedTracker) -> None:
    for first, second in zip(one.predict(3), other.predict(3), strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(one.weights, other.weights)
    assert one.rounds == other.rounds


def test_time_passes_without_observations_and_copies_are_counted() -> None:
    rng = np.random.default_rng(0)
    paths = np.column_stack([np.linspace(-2.0, 2.0, 50), np.ones(50)])
    tracker = HedgedTracker(
        paths,
        move,
        lambda p, r: p + r.normal(size=p.shape),
        lambda p, z: -np.tanh(np.abs(z - p[:, 0])),
        rng,
    )
    assert tracker.predict().position == pytest.approx([1.0, 1.0])
    assert tracker.observe(None) == pytest.approx([1.0, 1.0])
    for z in range(30):
        tracker.observe(float(z) + rng.normal())
    assert tracker.refilled > 0
    assert tracker.weights.sum() == pytest.approx(1.0)
    assert paths[0].tolist() == [-2.0, 1.0]  # the caller's array is left alone


def test_run_is_the_loop() -> None:
    for make, seen in (HedgedTracker, walk(0)), (own, walk(0, columns=1)):
        went, tracker = make().run(seen), make()
        assert np.isnan(went.expected[0]).all() or make is own
        for t, row in enumerate(seen):
            said = tracker.predict()
            if t or make is own:  # else nobody knows how many columns there will be
                np.testing.assert_array_equal(went.expected[t], said.position)
                np.testing.assert_array_equal(went.low[t], said.low)
                np.testing.assert_array_equal(went.high[t], said.high)
            np.testing.assert_array_equal(went.positions[t], tracker.observe(row))


def test_the_future_changes_nothing() -> None:
    seen = walk(1)
    other = seen.copy()
    other[50:] = 1e5
    for make, columns in (HedgedTracker, 2), (own, 1):
        one, two = make().run(seen[:, :columns]), make().run(other[:, :columns])
        np.testing.assert_array_equal(one.positions[:50], two.positions[:50])
        np.testing.assert_array_equal(one.expected[:51], two.expected[:51])


@pytest.mark.parametrize("make", [HedgedTracker, own])
@pytest.mark.parametrize("place", [0, 3, 59])
def test_late_is_as_good_as_in_time(make: Any, place: int) -> None:
    seen = walk(2, 60, columns=1)
    seen[place] = 4.0
    in_time, late = make(window=60), make(window=60)
    for t, row in enumerate(seen):
        expected = in_time.observe(row)
        late.observe(None if t == place else row)
    now = late.observe(seen[place], round=place)
    np.testing.assert_array_equal(now, expected)
    same(in_time, late)
    in_time.observe(1.0)
    late.observe(1.0)
    same(in_time, late)


def test_columns_may_come_one_by_one() -> None:
    seen = walk(3)
    in_time, late = HedgedTracker(), HedgedTracker()
    for t, row in enumerate(seen):
        in_time.observe(row)
        late.observe([row[0], None])
        late.observe([None, row[1]], round=t)
    same(in_time, late)


def test_rounds_ahead_let_time_pass() -> None:
    one, two = HedgedTracker(), HedgedTracker()
    for t in range(20):
        one.observe(float(t))
        two.observe(float(t))
    one.observe(25.0, round=24)
    for y in (None, np.nan, [None], [np.nan], 25.0):
        two.observe(y)
    same(one, two)
    assert one.rounds == 25


def test_units_do_not_matter() -> None:
    seen = walk(4)
    seen[50] = 1e4
    plain = HedgedTracker().run(seen)
    moved = HedgedTracker().run(seen * [1024.0, 0.125])
    for one, two in zip(plain, moved, strict=True):
        np.testing.assert_allclose(one * [1024.0, 0.125], two, rtol=1e-6)
    shifted = HedgedTracker().run(seen + np.array([1000.0, -50.0]))
    for one, two in zip(plain, shifted, strict=True):
        np.testing.assert_allclose(one + np.array([1000.0, -50.0]), two, rtol=1e-6, atol=1e-6)
    mirrored = HedgedTracker().run(-seen)
    np.testing.assert_allclose(plain.positions, -mirrored.positions, rtol=1e-9)
    np.testing.assert_allclose(plain.low, -mirrored.high, rtol=1e-4)


def test_columns_have_no_order() -> None:
    seen = walk(5)
    plain, swapped = HedgedTracker().run(seen), HedgedTracker().run(seen[:, ::-1])
    for one, two in zip(plain, swapped, strict=True):
        np.testing.assert_allclose(one, two[:, ::-1], rtol=1e-7)


def test_the_same_seed_draws_the_same() -> None:
    seen = walk(6, columns=1)
    one, two, three = own(1), own(1), own(2)
    for tracker in (one, two, three):
        tracker.run(seen)
    same(one, two)
    assert not np.array_equal(one.predict().position, three.predict().position)


def test_predicting_changes_nothing() -> None:
    seen = walk(7, columns=1)
    for make in (HedgedTracker, own):
        one, two = make(), make()
        for row in seen[:40]:
            one.observe(row)
            two.predict(5)
            two.observe(row)
        same(one, two)


def test_other_hedgers_weigh_filters_too() -> None:
    tracker = HedgedTracker(hedger=NormalHedge(alpha=0.1))
    went = tracker.run(np.arange(100.0) + np.random.default_rng(0).normal(size=100))
    assert went.positions[-1, 0] == pytest.approx(99.0, abs=3.0)


def test_trackers_are_pickled_copied_and_shown() -> None:
    tracker = HedgedTracker()
    assert repr(tracker) == "HedgedTracker(linear, no observation yet, 0 rounds)"
    tracker.run(walk(14))
    again, twin = pickle.loads(pickle.dumps(tracker)), tracker.copy()
    for other in (again, twin):
        other.observe([1.0, 2.0])
    tracker.observe([1.0, 2.0])
    same(tracker, again)
    same(tracker, twin)
    assert repr(tracker).startswith("HedgedTracker(linear, 2 columns, 81 rounds, now [")
    assert repr(own()) == "HedgedTracker(200 paths of 2 numbers, 0 rounds)"


@pytest.mark.parametrize(
    ("observation", "sentence"),
    [
        ("3", "observation must be numbers or None, got '3'"),
        (["a", 1.0], "observation must be numbers or None"),
        ([True, False], "observation must be numbers or None, got bool"),
        (True, "observation must be numbers or None, got True"),
        ([1.0, np.inf], "observation must be finite"),
        ([1.0], "observation must have 2 numbers"),
        ([[1.0, 2.0]], "observation must be a number for each column"),
        ([], "observation must be a number for each column"),
        ([1.0, object()], "observation must be numbers or None"),
    ],
)
def test_bad_observations_are_a_sentence_and_change_nothing(
    observation: Any, sentence: str
) -> None:
    tracker, twin = HedgedTracker(), HedgedTracker()
    for each in (tracker, twin):
        each.run(walk(15, 30))
    with pytest.raises((TypeError, ValueError), match=sentence):
        tracker.observe(observation)
    same(tracker, twin)


def test_a_late_observation_that_fails_changes_nothing() -> None:
    def gains(paths: np.ndarray, y: float) -> np.ndarray:
        if y == 13.0:
            raise RuntimeError("unlucky")
        return -np.tanh(np.abs(y - paths[:, 0]))

    one, two = own(gains=gains), own(gains=gains)
    for tracker in (one, two):
        for y in (1.0, None, 2.0, 3.0):
            tracker.observe(y)
    with pytest.raises(RuntimeError, match="unlucky"):
        one.observe(13.0, round=1)
    same(one, two)
    assert one.observe(2.5) == pytest.approx(two.observe(2.5))
    paths = own()
    with pytest.raises(ValueError, match="does not match"):
        paths.observe([1.0, 2.0, 3.0])
    paths.observe(1.0)
    assert paths.rounds == 1


def test_other_bad_input_is_a_sentence() -> None:
    tracker = HedgedTracker(window=5)
    tracker.run(np.arange(20.0))
    for call, sentence in (
        (lambda: tracker.predict(-1), "steps must be at least 0"),
        (lambda: tracker.predict(10**9), "steps must be at most 100000"),
        (lambda: tracker.observe(1.0, round=10**9), "round must be at most 100020"),
        (lambda: tracker.predict(1.5), "steps must be a whole number"),  # type: ignore[arg-type]
        (lambda: tracker.predict(level=1.0), "level must be strictly between 0 and 1"),
        (lambda: tracker.predict(of="x"), "of must be 'position' or 'observation'"),  # type: ignore[arg-type]
        (lambda: tracker.observe(1.0, round=3), "round 3 is too long ago: only the last 5 of 20"),
        (lambda: tracker.observe(1.0, round=-1), "round must be at least 0"),
        (lambda: tracker.observe(1.0, round=18), "round 18 already has an observation"),
        (lambda: tracker.run(np.zeros((2, 2, 2))), "table must be T x k"),
        (lambda: tracker.run(np.zeros((2, 3))), "observation must have 1 numbers"),
        (lambda: tracker.run([[1.0], [2.0, 3.0]]), "table must have the same number of columns"),
        (lambda: tracker.run(["a"]), "table must be numbers or None"),
        (lambda: HedgedTracker(window=0), "window must be at least 1"),
        (lambda: own(seed=-1), "rng must be at least 0"),
        (lambda: own().predict(of="observation"), "needs a first observation"),
        (lambda: own().observe([1.0, 2.0, 3.0]), "does not match paths with 2"),
        (lambda: HedgedTracker(np.ones((3, 1)), lambda p: p[:2], jitter).observe(1.0), "move must"),
    ):
        with pytest.raises((TypeError, ValueError), match=sentence):
            call()
    assert tracker.rounds == 20
