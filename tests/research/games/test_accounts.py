"""Regrets from the gains alone."""

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import Hedge, Squint, fold, read_round
from normalhedge.research.games import GoodAndBad, IndependentCoins, Trace, play
from normalhedge.research.games._accounts import Leads, Totals
from tests.test_own_hedgers import Own, Totals as OwnState

NATURE = GoodAndBad(20, 0.5, 0.1, 0.02)


@pytest.mark.parametrize("alpha", [0.0, 1e-4, 0.3, 0.999999])
def test_totals_are_a_recursion_over_blocks(alpha: float) -> None:
    gains = np.random.default_rng(0).uniform(-1.0, 1.0, (500, 3))
    totals, slow, now = Totals(3, alpha), [], np.zeros(3)
    for row in gains:
        now = (1.0 - alpha) * now + row
        slow.append(now)
    blocks = np.split(gains, [1, 7, 300])
    fast = np.concatenate([totals.add(block) for block in blocks])
    np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-11)
    leads, place = Leads(3, alpha, 0.6), 1  # two of three experts
    best, some = leads.add(gains, np.arange(0, 500, 9))
    assert best is not None
    assert some is not None
    np.testing.assert_allclose(best, np.max(slow, axis=1), atol=1e-11)
    np.testing.assert_allclose(some, np.sort(slow, axis=1)[::9, place], atol=1e-11)


def game(rounds: int) -> np.ndarray:
    seed = np.random.SeedSequence(0).spawn(1)[0]
    return np.concatenate(list(NATURE.gains(rounds, np.random.default_rng(seed))))


def test_one_discount_for_all() -> None:
    gains = game(300)
    hedgers = {"short": NormalHedge(0.1), "long": Squint()}
    trace = play(hedgers, NATURE, 300, discount=0.05, quantile=0.1)
    assert trace.discount == (0.05, 0.05)
    assert trace.labels == ("short", "long")
    for k, hedger in enumerate(hedgers.values()):
        earned, regrets, curve = hedger.run(gains).gains, np.zeros(20), []
        for row, gain in zip(gains, earned, strict=True):
            regrets = 0.95 * regrets + row - gain
            curve.append(np.sort(regrets)[[-1, -2]])  # the best expert; the best two of twenty
        np.testing.assert_allclose(trace.regret.mean[k], np.array(curve)[:, 0], atol=1e-11)
        assert trace.quantile_regret is not None
        np.testing.assert_allclose(trace.quantile_regret.mean[k], np.array(curve)[:, 1], atol=1e-11)
        assert trace.run_gain[k, 0] == pytest.approx(earned.mean())
        assert trace.final_regret[k, 0] == trace.regret.mean[k, -1]
    own = play(hedgers, NATURE, 300)
    assert own.discount == (0.1, 0.0)
    assert own.labels == ("short (discount 0.1)", "long (discount 0)")


class Plain(Own):
    """A hedger whose states have no regrets, and whose runs know none."""

    def run(self, gains, confidence=None, **options):  # type: ignore[no-untyped-def]
        return fold(self, gains, confidence, **options)


class Silent(Plain):
    """The same, and it does not know its own gains."""

    def run(self, gains, confidence=None, **options):  # type: ignore[no-untyped-def]
        run = super().run(gains, confidence, **options)  # type: ignore[no-untyped-call]
        return run._replace(gains=np.full(len(run.gains), np.nan))


def test_a_hedger_of_ones_own_has_regrets() -> None:
    def trace_of(hedger: object) -> Trace:
        return play({"it": hedger}, NATURE, 90, quantile=0.25)  # type: ignore[dict-item]

    plain, ours = trace_of(Plain()), trace_of(Hedge(0.1, 0.5))
    assert plain.discount == ours.discount == (0.1,)
    for name in ("regret", "quantile_regret"):
        one, other = getattr(plain, name).mean, getattr(ours, name).mean
        np.testing.assert_allclose(one, other, atol=1e-9)
    np.testing.assert_allclose(plain.highest_regret, ours.highest_regret, atol=1e-9)
    with pytest.raises(
        ValueError, match=r"it: the gains of its run must be finite .* nan in round"
    ):
        trace_of(Silent())


def test_late_outcomes_keep_their_own_account() -> None:
    hedger = NormalHedge(0.05, delay=2)
    trace = play(hedger, NATURE, 60, every=6, quantile=0.2)
    gains = game(60)
    slow = [hedger.run(gains[:t]).state.quantile_regret(0.2) for t in range(6, 61, 6)]
    assert trace.quantile_regret is not None
    np.testing.assert_allclose(trace.quantile_regret.mean[0], slow, atol=1e-12)


def test_names_and_single_hedgers() -> None:
    nature = IndependentCoins(3)
    one = play(NormalHedge(memory=10), nature, 20)
    text = play("normal-hedge:memory=10", nature, 20)
    listed = play(["normal-hedge:memory=10"], nature, 20)
    assert text.hedgers == listed.hedgers == ("normal-hedge:memory=10",)
    for other in (text, listed):
        np.testing.assert_array_equal(one.regret.mean, other.regret.mean)
    for wrong in (3, NormalHedge, [NormalHedge], {"it": object()}):
        with pytest.raises(TypeError, match="a hedger must be a text such as 'normal-hedge:memory"):
            play(wrong, nature, 20)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="did you mean normal-hedge"):
        play(["normalhedge"], nature, 20)
    with pytest.raises(TypeError, match="a nature must have experts and gains"):
        play(NormalHedge(memory=10), IndependentCoins, 20)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="discount must be in"):
        play(NormalHedge(memory=10), nature, 20, discount=1.0)


def test_a_frame() -> None:
    frame = play({"it": NormalHedge(0.1)}, NATURE, 40, 2, every=10).to_frame()
    assert frame["round"].tolist() == [10, 20, 30, 40]
    assert set(frame["discount"]) == {0.1}


def test_read_round_is_what_step_accepts() -> None:
    gains, awake = read_round([0.5, np.nan], [1.0, 0.0], 2)
    assert (gains.tolist(), awake.tolist()) == ([0.5, 0.0], [1.0, 0.0])
    state = OwnState(np.full(2, 0.5), np.zeros(2))
    for bad in ([0.5], [0.5, 1.5], [np.nan, 0.0]):
        with pytest.raises(ValueError, match="gains"):
            read_round(bad, None, len(state.weights))
    with pytest.raises(ValueError, match=r"confidence must be numbers in \[0, 1\]"):
        read_round([0.0, 0.0], [0.5, -0.5], 2)
