"""HedgedTracker on absurd, noisy, clean, rounded and far series."""

import numpy as np
import pytest

from normalhedge.latent import HedgedTracker
from normalhedge.latent.tracking._dynamics import WARM
from tests.latent.tracking.examples import own, walk


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
