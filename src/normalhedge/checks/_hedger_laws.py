"""The laws that every hedger obeys, as checks for your own hedger."""

import json
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import Hedger

try:
    from hypothesis import HealthCheck, given, settings, strategies as st
    from hypothesis.extra import numpy as hnp
except ImportError as error:  # pragma: no cover
    raise ImportError(
        "normalhedge.checks needs hypothesis: pip install 'normalhedge[checks]'"
    ) from error

Law = Callable[[Hedger[Any]], None]

LAWS: dict[str, Law] = {}
"""Every law, by its name."""

BODIES: dict[str, Callable[[Hedger[Any], "Game"], None]] = {}
"""The function that checks a law on one game, by the name of the law, for your own games."""

TOLERANCE = 1e-9
"""How far sums in a different order may differ in these short games."""


class Game(NamedTuple):
    """Gains and confidences, one row for each round and one column for each expert."""

    gains: Floats
    confidence: Floats


@st.composite
def games(draw: st.DrawFn, max_experts: int = 6, max_rounds: int = 12) -> Game:
    """Draw a game, often with ties, sleeping experts, extreme gains or a single expert.

    Parameters
    ----------
    max_experts, max_rounds
        The largest number of experts and of rounds.
    """
    shape = (draw(st.integers(1, max_rounds)), draw(st.integers(1, max_experts)))
    # Multiples of 1/1000: where a regret is nothing but rounding, so are the weights.
    parts = st.integers(-1000, 1000)
    gain = st.one_of(st.sampled_from([-1.0, 0.0, 1.0]), parts.map(lambda k: k / 1000))
    confidence = st.one_of(st.sampled_from([0.0, 1.0]), parts.map(lambda k: abs(k) / 1000))
    return Game(
        draw(hnp.arrays(np.float64, shape, elements=gain)),
        draw(hnp.arrays(np.float64, shape, elements=confidence)),
    )


def check_hedger(hedger: Hedger[Any]) -> None:
    """Check every law on a hedger; raise an AssertionError that names the first broken law.

    The laws that the hedger declares in ``breaks`` are left out. ``breaks`` maps the name of a law
    to the reason why the hedger does not obey it.
    """
    declared = getattr(hedger, "breaks", {})
    if not set(declared) <= set(LAWS):
        raise AssertionError(f"{hedger!r} has unknown laws in breaks: {sorted(declared)}")
    for name, law in LAWS.items():
        if name in declared:
            continue
        try:
            law(hedger)
        except Exception as error:
            raise AssertionError(f"{hedger!r} breaks the law {name}: {error}") from error


def _law(body: Callable[[Hedger[Any], Game], None]) -> Law:
    """Register a law, which checks its body on many drawn games."""

    def law(hedger: Hedger[Any]) -> None:
        @settings(
            max_examples=60,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(games())
        def holds(game: Game) -> None:
            body(hedger, game)

        holds()

    law.__name__ = body.__name__
    law.__doc__ = body.__doc__
    LAWS[body.__name__] = law
    BODIES[body.__name__] = body
    return law


def _fold(hedger: Hedger[Any], game: Game, *, with_confidence: bool = True) -> list[Any]:
    """Return the states of a game; the first one is the state before the first round."""
    states = [hedger.init(game.gains.shape[1])]
    for gains, confidence in zip(*game, strict=True):
        states.append(hedger.step(states[-1], gains, confidence if with_confidence else None))
    return states


def _as_json(state: Any) -> str:
    return json.dumps(
        {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in state._asdict().items()}
    )


def _same(one: Any, other: Any, tolerance: float = 0.0) -> bool:
    """Tell whether two states agree in every field."""
    return type(one) is type(other) and all(
        np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        for a, b in zip(one, other, strict=True)
        if a is not None or b is not None
    )


@_law
def weights_are_a_distribution(hedger: Hedger[Any], game: Game) -> None:
    """Check that after every round the weights are finite, not negative, and sum to one."""
    for state in _fold(hedger, game):
        weights = state.weights
        assert weights.shape == (game.gains.shape[1],)
        assert np.all(np.isfinite(weights))
        assert np.all(weights >= 0.0)
        assert abs(weights.sum() - 1.0) <= TOLERANCE


@_law
def only_the_awake_are_played(hedger: Hedger[Any], game: Game) -> None:
    """Check that `play` returns a distribution over awake experts, or zeros if all are asleep."""
    for state, confidence in zip(_fold(hedger, game), game.confidence, strict=False):
        distribution = hedger.play(state, confidence)
        assert np.all(distribution >= 0.0)
        assert np.all(distribution[confidence == 0.0] == 0.0)
        assert abs(distribution.sum() - float(confidence.any())) <= TOLERANCE


@_law
def prediction_is_in_the_hull(hedger: Hedger[Any], game: Game) -> None:
    """Check that the gain of the hedger is no worse, and no better, than all awake experts."""
    run = hedger.run(*game)
    for gain, gains, confidence in zip(run.gains, *game, strict=True):
        awake = gains[confidence > 0.0]
        if awake.size:
            assert awake.min() - TOLERANCE <= gain <= awake.max() + TOLERANCE
        else:
            assert np.isnan(gain)


@_law
def step_changes_nothing_it_is_given(hedger: Hedger[Any], game: Game) -> None:
    """Check that `step` and `play` do not change the state, the gains or the confidences."""
    state = hedger.init(game.gains.shape[1])
    for gains, confidence in zip(*game, strict=True):
        before = pickle.dumps((state, gains, confidence))
        hedger.play(state, confidence)
        after = hedger.step(state, gains, confidence)
        assert pickle.dumps((state, gains, confidence)) == before
        state = after


@_law
def run_folds_step(hedger: Hedger[Any], game: Game) -> None:
    """Check that `run` agrees with calling `play` and `step` in each round."""
    for with_confidence in (False, True):
        states = _fold(hedger, game, with_confidence=with_confidence)
        confidence = game.confidence if with_confidence else None
        run = hedger.run(game.gains, confidence, keep_weights=True)
        assert run.weights is not None
        assert _same(run.state, states[-1], TOLERANCE)
        for t, state in enumerate(states[:-1]):
            distribution = hedger.play(state, game.confidence[t] if with_confidence else None)
            assert np.allclose(run.weights[t], distribution, rtol=TOLERANCE, atol=TOLERANCE)


@_law
def run_can_be_cut(hedger: Hedger[Any], game: Game) -> None:
    """Check that two runs, the second from the end of the first, agree with one long run."""
    half = len(game.gains) // 2
    if half:
        first = hedger.run(game.gains[:half], game.confidence[:half])
        second = hedger.run(game.gains[half:], game.confidence[half:], state=first.state)
        assert _same(second.state, hedger.run(*game).state, TOLERANCE)


def _close(one: Floats, other: Floats) -> bool:
    return bool(np.allclose(one, other, rtol=1e-6, atol=1e-6))


def _is_near_a_jump(hedger: Hedger[Any], game: Game) -> bool:
    """Tell whether gains that differ by rounding alone lead to other weights.

    Some weights jump where regrets pass zero. Two ways to compute a regret of zero may then end on
    either side, and no law of the weights can hold up to rounding.
    """
    experts = np.arange(game.gains.size).reshape(game.gains.shape)
    weights = hedger.run(*game).state.weights
    for size in (1e-15, -1e-15, 1e-13):
        nudged = np.clip(game.gains + size * np.sin(1.0 + experts), -1.0, 1.0)
        if not _close(weights, hedger.run(nudged, game.confidence).state.weights):
            return True
    return False


@_law
def order_does_not_matter(hedger: Hedger[Any], game: Game) -> None:
    """Check that permuting the experts permutes the weights."""
    order = np.argsort(np.sin(1.0 + np.arange(game.gains.shape[1])))
    permuted = Game(game.gains[:, order], game.confidence[:, order])
    state, other = _fold(hedger, game)[-1], _fold(hedger, permuted)[-1]
    assert _close(state.weights[order], other.weights) or _is_near_a_jump(hedger, game)


@_law
def only_differences_matter(hedger: Hedger[Any], game: Game) -> None:
    """Check that adding the same number to all gains of a round changes nothing."""
    gains = game.gains / 2.0
    shifted = gains + np.where(np.arange(len(gains)) % 2, 0.5, -0.25)[:, None]
    state = hedger.run(gains, game.confidence).state
    other = hedger.run(shifted, game.confidence).state
    assert _close(state.weights, other.weights) or _is_near_a_jump(
        hedger, Game(gains, game.confidence)
    )


@_law
def ties_keep_weights_uniform(hedger: Hedger[Any], game: Game) -> None:
    """Check that experts with equal gains and equal confidences have equal weights."""
    same = Game(*(np.repeat(values[:, :1], game.gains.shape[1], axis=1) for values in game))
    for state in _fold(hedger, same):
        assert np.allclose(state.weights, 1.0 / game.gains.shape[1])


@_law
def a_sleeper_changes_nothing(hedger: Hedger[Any], game: Game) -> None:
    """Check that an expert that is never awake does not change the distribution over the others."""
    for state, larger, confidence in zip(
        _fold(hedger, game)[:-1],
        _fold(hedger, _with_sleeper(game))[:-1],
        game.confidence,
        strict=True,
    ):
        if confidence.any():
            without = hedger.play(state, confidence)
            with_sleeper = hedger.play(larger, np.append(confidence, 0.0))
            assert np.allclose(without, with_sleeper[:-1], rtol=1e-6, atol=1e-6)


def _with_sleeper(game: Game) -> Game:
    rounds = len(game.gains)
    return Game(
        np.column_stack([game.gains, np.full(rounds, np.nan)]),
        np.column_stack([game.confidence, np.zeros(rounds)]),
    )


@_law
def states_survive_storage(hedger: Hedger[Any], game: Game) -> None:
    """Check that hedger and state survive pickle, and the state JSON, to the last bit."""
    state = _fold(hedger, game)[-1]
    assert pickle.loads(pickle.dumps(hedger)) == hedger
    assert _same(pickle.loads(pickle.dumps(state)), state)
    fields = json.loads(_as_json(state))
    back = type(state)(**{k: np.array(v) if isinstance(v, list) else v for k, v in fields.items()})
    assert _same(back, state)
    assert _same(hedger.step(back, game.gains[0]), hedger.step(state, game.gains[0]))


@_law
def newcomers_and_leavers(hedger: Hedger[Any], game: Game) -> None:
    """Check that experts which join and leave again do not change the weights of the others."""
    join, leave = getattr(hedger, "join", None), getattr(hedger, "leave", None)
    if join is None or leave is None:
        return
    state = _fold(hedger, game)[-1]
    n = game.gains.shape[1]
    joined = join(state, 2)
    assert joined.weights.shape == (n + 2,)
    assert abs(joined.weights.sum() - 1.0) <= TOLERANCE
    left = leave(joined, [n, n + 1])
    assert np.allclose(left.weights, state.weights, rtol=TOLERANCE, atol=TOLERANCE)


@_law
def bad_input_is_refused(hedger: Hedger[Any], game: Game) -> None:
    """Check that gains outside [-1, 1], confidences outside [0, 1] and NaN raise an error."""
    state = hedger.init(game.gains.shape[1])
    before = pickle.dumps(state)
    for bad in (np.nan, np.inf, -np.inf, 1.5, -1.0000001):
        gains = game.gains[0].copy()
        gains[-1] = bad
        _assert_refused(hedger, state, gains, None)
    for bad in (np.nan, np.inf, 1.5, -0.1):
        confidence = game.confidence[0].copy()
        confidence[-1] = bad
        _assert_refused(hedger, state, game.gains[0], confidence)
    _assert_refused(hedger, state, np.append(game.gains[0], 0.0), None)
    assert pickle.dumps(state) == before


def _assert_refused(
    hedger: Hedger[Any], state: Any, gains: Floats, confidence: Floats | None
) -> None:
    try:
        hedger.step(state, gains, confidence)
    except ValueError:
        return
    raise AssertionError(f"accepted gains={gains}, confidence={confidence}")
