"""HedgedTracker: laws, late and absurd observations, bad input."""

import pickle
from typing import Any

import numpy as np
import pytest

from normalhedge.experiments.paper.pulse import move
from normalhedge.hedgers import NormalHedge
from normalhedge.latent import HedgedTracker
from normalhedge.latent.tracking.dynamics import WARM
from tests.latent.tracking.examples import jitter, own


def walk(seed: int, rounds: int = 80, columns: int = 2) -> np.ndarray:
    """Velocities that wander, noise of 1, and a tenth missing."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(0.1 * rng.normal(size=(rounds, columns)), axis=0)
    seen = np.cumsum(steps, axis=0) + rng.normal(size=(rounds, columns))
    seen[rng.random(rounds) < 0.1] = np.nan
    return seen


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


@pytest.mark.parametrize("absurd", [1e6, -1e6, 1e49])
def test_an_absurd_observation_is_passed_over(absurd: float) -> None:
    seen = walk(8)
    without = HedgedTracker().run(seen)
    for place in (2, 8, 60):
        seen[place] = absurd
    went = HedgedTracker().run(seen)
    assert np.abs(went.positions - without.positions)[12:].max() < 3.0
    assert np.isfinite(went.low[3:]).all()


def test_an_honest_jump_is_followed_after_a_few_observations() -> None:
    rng = np.random.default_rng(9)
    for size in (30.0, 1e3, 1e6):
        seen = rng.normal(size=100)
        seen[60:] += size
        went = HedgedTracker().run(seen).positions[:, 0]
        assert abs(went[61]) < 3.0
        assert abs(went[62] - size) < 3.0


def test_noise_that_grows_is_noticed() -> None:
    rng = np.random.default_rng(10)
    tracker = HedgedTracker()
    tracker.run(np.concatenate([rng.normal(size=200), 30.0 * rng.normal(size=200)]))
    said = tracker.predict(of="observation")
    assert 40.0 < said.high[0] - said.low[0] < 250.0


def test_intervals_cover() -> None:
    inside = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = np.cumsum(0.3 * rng.normal(size=300))
        went = HedgedTracker().run(truth + rng.normal(size=300))
        inside.append((went.low[50:, 0] <= truth[50:]) & (truth[50:] <= went.high[50:, 0]))
    assert 0.85 < np.mean(inside) < 0.95


def test_farther_ahead_is_wider_and_observations_are_wider_than_positions() -> None:
    for tracker in HedgedTracker(), own():
        tracker.run(walk(11, columns=1))
        wide = [float((p := tracker.predict(h)).high[0] - p.low[0]) for h in (0, 1, 5, 20)]
        assert wide == sorted(wide)
        seen = tracker.predict(of="observation")
        assert seen.high[0] - seen.low[0] > wide[1]
        narrow = tracker.predict(level=0.5)
        assert narrow.high[0] - narrow.low[0] < wide[1]


def test_constant_series_and_few_observations_are_harmless() -> None:
    tracker = HedgedTracker()
    assert np.isnan(tracker.predict().position).all()
    assert np.isnan(tracker.observe(None)).all()
    assert tracker.observe(5.0) == pytest.approx([5.0])
    assert tracker.predict().low.tolist() == [-np.inf]
    for _ in range(300):
        assert tracker.observe(5.0) == pytest.approx([5.0])
    for _ in range(5):
        now = tracker.observe(6.0)
    assert now == pytest.approx([6.0])
    zeros = HedgedTracker()
    assert np.isfinite(zeros.run(np.zeros(100)).positions).all()


def test_a_column_may_be_silent_for_long() -> None:
    seen = np.column_stack([walk(12, columns=1), np.full(80, np.nan)])
    seen[60:, 1] = 3.0 + np.random.default_rng(0).normal(size=20)
    went = HedgedTracker().run(seen)
    assert went.positions[-1, 1] == pytest.approx(3.0, abs=2.0)
    assert np.isfinite(went.positions[WARM:, 0]).all()


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("rounds", [20, 200, 600])
def test_a_clean_line_goes_on(noise: float, rounds: int) -> None:
    tracker = HedgedTracker()
    tracker.run(np.arange(float(rounds)) + noise * np.random.default_rng(0).normal(size=rounds))
    said = tracker.predict(5)
    assert said.position == pytest.approx([rounds + 4.0], abs=1e-2)
    assert 0.0 < said.high[0] - said.low[0] < 0.1


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-3, 0.01, 0.03, 0.1])
def test_a_change_of_velocity_is_followed_whatever_the_noise(noise: float) -> None:
    truth = np.concatenate([np.zeros(100), np.arange(1.0, 51.0), np.arange(49.0, -1.0, -1.0)])
    seen = truth + noise * np.random.default_rng(1).normal(size=200)
    went = HedgedTracker().run(seen)
    far = np.abs(went.positions[:, 0] - truth)
    assert far[105:150].max() < 0.05 + 4.0 * noise
    assert far[155:].max() < 0.05 + 4.0 * noise
    inside = (went.low[:, 0] <= truth) & (truth <= went.high[:, 0])
    assert inside[100:].mean() > 0.75


@pytest.mark.parametrize("step", [0.02, 0.05])
def test_rounded_readings_leave_room_for_the_position(step: float) -> None:
    for seed in range(2):
        truth = np.cumsum(step * np.random.default_rng(seed).normal(size=300))
        seen = np.round(truth, 1)
        of_position, of_reading = (
            HedgedTracker().run(seen),
            HedgedTracker().run(seen, of="observation"),
        )
        for went, what in (of_position, truth), (of_reading, seen):
            inside = (went.low[:, 0] <= what) & (what <= went.high[:, 0])
            assert inside[50:].mean() > 0.87
        assert (of_position.high - of_position.low)[50:].mean() < 0.25
        assert np.sqrt(np.square(of_position.positions[50:, 0] - truth[50:]).mean()) < 0.035


def test_the_position_is_inside_of_its_interval() -> None:
    for noise in (0.0, 1e-3, 1.0):
        tracker = HedgedTracker()
        tracker.run(np.arange(200.0) + noise * np.random.default_rng(0).normal(size=200))
        for level in (0.01, 0.5, 0.9):
            for steps in (0, 1, 5, 50):
                said = tracker.predict(steps, level)
                assert said.low[0] <= said.position[0] <= said.high[0]
        ahead = tracker.predict().position
        assert tracker.observe(None) == pytest.approx(ahead)
        assert tracker.predict(0).position == pytest.approx(ahead)


def test_paths_are_inside_of_their_interval() -> None:
    tracker = own()
    tracker.run(walk(17, columns=1))
    for level in (0.01, 0.5):
        for steps in (0, 1, 20):
            said = tracker.predict(steps, level)
            assert (said.low <= said.position).all()
            assert (said.position <= said.high).all()


def test_a_column_without_observations_has_no_position() -> None:
    tracker = HedgedTracker()
    went = tracker.run([[1.0, None], [2.0, None]])
    assert np.isnan(went.positions[:, 1]).all()
    assert np.isfinite(went.positions[:, 0]).all()
    assert np.isnan(tracker.predict().position).tolist() == [False, True]
    assert tracker.observe([3.0, 7.0])[1] == pytest.approx(7.0)
    for t in range(70):  # longer than the beginning is kept
        now = tracker.observe([4.0 + t, None])
    assert now[1] == pytest.approx(7.0)


def test_far_origins_and_small_units() -> None:
    rng = np.random.default_rng(3)
    seen = np.cumsum(rng.normal(size=100)) + rng.normal(size=100)
    plain = HedgedTracker().run(seen)
    for unit in (1e-120, 1e-90, 1e40):
        other = HedgedTracker().run(seen * unit)
        for one, two in zip(plain, other, strict=True):
            np.testing.assert_allclose(one, two / unit, rtol=1e-6)
    far = HedgedTracker().run(seen + 1e12)
    np.testing.assert_allclose(plain.positions, far.positions - 1e12, atol=0.01)
    np.testing.assert_allclose(plain.low[2:], far.low[2:] - 1e12, atol=0.01)
    seen[0] = 1e9  # absurd at once: the origin is not there
    went = HedgedTracker().run(seen)
    assert np.abs(went.positions - plain.positions)[20:].max() < 1.0


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
        (lambda: tracker.predict(-1), "steps must be 0 or more"),
        (lambda: tracker.predict(10**9), "steps must be at most 100000"),
        (lambda: tracker.observe(1.0, round=10**9), "round must be at most 100020"),
        (lambda: tracker.predict(1.5), "steps must be a whole number"),  # type: ignore[arg-type]
        (lambda: tracker.predict(level=1.0), "level must be strictly between 0 and 1"),
        (lambda: tracker.predict(of="x"), "of must be 'position' or 'observation'"),  # type: ignore[arg-type]
        (lambda: tracker.observe(1.0, round=3), "round 3 is too long ago: only the last 5 of 20"),
        (lambda: tracker.observe(1.0, round=-1), "round must be 0 or more"),
        (lambda: tracker.observe(1.0, round=18), "round 18 already has an observation"),
        (lambda: tracker.run(np.zeros((2, 2, 2))), "table must be T x k"),
        (lambda: tracker.run(np.zeros((2, 3))), "observation must have 1 numbers"),
        (lambda: tracker.run([[1.0], [2.0, 3.0]]), "table must have the same number of columns"),
        (lambda: tracker.run(["a"]), "table must be numbers or None"),
        (lambda: HedgedTracker(window=0), "window must be at least 1"),
        (lambda: own(seed=-1), "rng must be 0 or more"),
        (lambda: own().predict(of="observation"), "needs a first observation"),
        (lambda: own().observe([1.0, 2.0, 3.0]), "does not match paths with 2"),
        (lambda: HedgedTracker(np.ones((3, 1)), lambda p: p[:2], jitter).observe(1.0), "move must"),
    ):
        with pytest.raises((TypeError, ValueError), match=sentence):
            call()
    assert tracker.rounds == 20
