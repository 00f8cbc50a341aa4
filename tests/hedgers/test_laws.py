"""What holds of every hedger: the laws of `normalhedge.checks`, and more."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from normalhedge import checks
from normalhedge.hedgers import HEDGERS as NAMES, CompiledHedger, State, named
from tests.hedgers.examples import EVERYONE, FAMILY, ON_POTENTIALS, discounted, each


def _drawn() -> list[checks.Game]:
    """Return the games the laws are tried on, drawn once for all hedgers."""
    games: list[checks.Game] = []

    @settings(
        max_examples=50,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(checks.games())
    def collect(game: checks.Game) -> None:
        games.append(game)

    collect()
    return games


GAMES = _drawn()


@pytest.mark.parametrize("hedger", EVERYONE, ids=repr)
def test_laws(hedger: CompiledHedger) -> None:
    assert set(hedger.breaks) <= set(checks.LAWS)
    for name, body in checks.BODIES.items():
        if name not in hedger.breaks:
            for game in GAMES:
                body(hedger, game)


def test_laws_that_are_declared_broken_are_broken() -> None:
    rng = np.random.default_rng(0)
    long = checks.Game(rng.choice([-1.0, 1.0], (60, 4)), np.ones((60, 4)))
    for hedger in FAMILY.values():
        for name, reason in hedger.breaks.items():
            assert reason
            with pytest.raises(AssertionError):
                checks.BODIES[name](hedger, long)


@pytest.mark.parametrize("hedger", [*ON_POTENTIALS, *EVERYONE], ids=repr)
def test_run_and_in_place_are_step_to_the_bit(hedger: CompiledHedger) -> None:
    rng = np.random.default_rng(11)
    gains = rng.uniform(-1, 1, (40, 37))
    for confidence in (None, rng.random((40, 37)) * (rng.random((40, 37)) < 0.7)):
        state = own = hedger.init(37)
        own = pickle.loads(pickle.dumps(own))
        for t, row in enumerate(gains):
            now = None if confidence is None else confidence[t]
            state = hedger.step(state, row, now)
            own = hedger.step(own, row, now, in_place=True)
        run = hedger.run(gains, confidence)
        for other in (own, run.state, State.from_json(state.to_json())):
            for a, b in zip(state, other, strict=True):
                np.testing.assert_array_equal(a, b)


@each
def test_bad_input_leaves_the_state_as_it_was(hedger: CompiledHedger) -> None:
    state = hedger.run(np.eye(3)).state
    before = pickle.dumps(state)
    with pytest.raises(ValueError, match=r"gains\[1\] is 2.0"):
        hedger.step(state, [0.0, 2.0, 0.0], in_place=True)
    with pytest.raises(ValueError, match=r"confidence\[0\] is -1.0"):
        hedger.step(state, [0.0, 0.0, 0.0], [-1.0, 1.0, 1.0], in_place=True)
    with pytest.raises(ValueError, match=r"gains\[1, 2\] is nan"):
        hedger.run([[0.0, 0.0, 0.0], [0.0, 0.0, np.nan]], state=state)
    with pytest.raises(ValueError, match="columns"):
        hedger.run(np.zeros((2, 4)), state=state)
    with pytest.raises(TypeError, match="State"):
        hedger.step((1, 2), np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        hedger.leave(state, [0, 1, 2])
    with pytest.raises(ValueError, match="alpha"):
        discounted(hedger, 1.0)
    assert pickle.dumps(state) == before


def test_ties_beside_sleepers_leave_no_regret() -> None:
    gains = np.tile([0.3, 0.3, 0.3, np.nan], (50, 1))
    confidence = np.tile([0.7, 0.2, 1.0, 0.0], (50, 1))
    for hedger in ON_POTENTIALS:
        run = hedger.run(gains, confidence)
        np.testing.assert_array_equal(run.state.regrets, 0.0)
        np.testing.assert_array_equal(run.gains, 0.3)


@pytest.mark.parametrize("name", sorted(NAMES.keys() - {"hedge-fixed"}))
def test_gains_that_are_a_part_of_the_state(name: str) -> None:
    """In place as pure, whatever the gains and the confidences share their memory with."""
    hedger = named(name, 4, alpha=0.05)
    start = hedger.run(np.random.default_rng(5).uniform(-1.0, 1.0, (30, 4))).state
    for use in (
        lambda s: (s.weights, None),
        lambda s: (s.weights, s.weights),
        lambda s: (np.ones(4), s.weights),
        lambda s: (np.clip(s.ledger[-1], -1.0, 1.0), s.weights),
    ):
        one = State(start.weights.copy(), start.ledger.copy(), start.totals.copy(), *start[3:])
        pure = hedger.step(start, *use(start))
        own = hedger.step(one, *use(one), in_place=True)
        for a, b in zip(pure, own, strict=True):
            np.testing.assert_array_equal(a, b)
