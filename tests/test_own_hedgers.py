"""Hedgers that a user writes in plain NumPy, wherever the package takes a hedger."""

import copy
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend, checks
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import Hedge, Hedger, Run
from normalhedge.latent import ModelExperts, StateExperts, random_categorical_bank
from normalhedge.research.games import Contrary, GoodAndBad, play


class Totals(NamedTuple):
    weights: Floats
    gains: Floats


@dataclass(frozen=True)
class Own:
    """Hedge on discounted gains: what `Hedge` of the package is, written in twenty lines."""

    alpha: float = 0.1
    eta: float = 0.5

    def init(self, n: int) -> Totals:
        return Totals(np.full(n, 1.0 / n), np.zeros(n))

    def play(self, state: Totals, confidence: Any = None) -> Floats:
        played = state.weights * (1.0 if confidence is None else np.asarray(confidence, float))
        return np.asarray(played / played.sum() if played.any() else played)

    def step(self, state: Totals, gains: Any, confidence: Any = None) -> Totals:
        rated = np.ones(len(state.weights)) if confidence is None else np.asarray(confidence, float)
        told = np.where(rated > 0.0, np.asarray(gains, float), 0.0)
        if told.shape != rated.shape or not (np.abs(told) <= 1.0).all():
            raise ValueError("gains must be numbers in [-1, 1], one for each expert")
        if not ((rated >= 0.0) & (rated <= 1.0)).all():
            raise ValueError("confidences must be in [0, 1]")
        earned = self.play(state, rated) @ told
        totals = (1.0 - self.alpha) * state.gains + rated * (told - earned)
        weights = np.exp(self.eta * (totals - totals.max()))
        return Totals(weights / weights.sum(), totals)

    def run(
        self, gains: Any, confidence: Any = None, *, state: Any = None, keep_weights: bool = False
    ) -> Run[Totals]:
        table = np.asarray(gains, float)
        state = self.init(table.shape[1]) if state is None else state
        played, leads, earned = [], [], []
        for t, row in enumerate(table):
            rated = None if confidence is None else np.asarray(confidence, float)[t]
            played.append(self.play(state, rated))
            asleep = rated is not None and not rated.any()
            earned.append(np.nan if asleep else played[-1] @ np.nan_to_num(row))
            state = self.step(state, row, rated)
            leads.append(state.gains.max())
        nothing = np.full(len(table), np.nan)
        kept = np.array(played) if keep_weights else None
        return Run(state, np.array(earned), np.array(leads), nothing, kept)


class Joins(Own):
    """The same, and newcomers can join it."""

    def join(self, state: Totals, count: int) -> Totals:
        totals = np.append(state.gains, np.zeros(count))
        weights = np.exp(self.eta * (totals - totals.max()))
        return Totals(weights / weights.sum(), totals)


OWN, OURS = Own(), Hedge(0.1, 0.5)


def table(rows: int = 60, series: int = 1) -> Any:
    rng = np.random.default_rng(3)
    y = rng.normal(size=rows * series)
    columns = {f"m{k}": y + rng.normal(size=len(y)) * (1.0 + k) for k in range(3)}
    columns["m1"][::7] = np.nan
    return pa.table(
        {
            "id": np.repeat(np.arange(series), rows).astype(str),
            "t": np.tile(np.arange(rows), series),
            "y": y,
            **columns,
        }
    )


def test_it_is_a_hedger_and_keeps_the_laws() -> None:
    assert isinstance(OWN, Hedger)
    checks.check_hedger(OWN)


def test_in_games() -> None:
    nature = GoodAndBad(experts=8, gamma=0.5, f=0.25, alpha=0.1)
    trace = play({"own": OWN, "ours": OURS}, nature, 200, runs=2)
    np.testing.assert_allclose(trace.gain.mean[0], trace.gain.mean[1], atol=1e-12)
    aimed = play({"own": OWN}, Contrary(experts=4, target=OWN), 50)
    assert aimed.gain.mean.max() <= 1e-9


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("shared", [True, False])
def test_in_a_mixture_of_known_range(loss: str, shared: bool) -> None:
    """As the package's own, while the range of losses does not double."""
    rng = np.random.default_rng(1)
    one, two = (Mixture(hedger, loss, shared=shared) for hedger in (OWN, OURS))
    for t in range(40):
        said = {name: list(rng.uniform(-1.0, 1.0, 2)) for name in "abc"}
        if t == 0:
            said = {name: [float(k), -float(k)] for k, name in enumerate("abc")}
        if t % 5 == 2:
            said["b"] = [0.5, float("nan")]
        made = [mixture.predict(said) for mixture in (one, two)]
        np.testing.assert_allclose(made[0].value, made[1].value, atol=1e-12)
        np.testing.assert_allclose(made[0].distribution, made[1].distribution, atol=1e-12)
        outcome = [0.1, -0.2]
        for mixture, prediction in zip((one, two), made, strict=True):
            mixture.update(prediction.ticket, outcome)
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-12)
    np.testing.assert_allclose(one.live.ranges, two.live.ranges)
    assert type(one.state("0")).__name__ == "Totals"
    assert "nothing is known of Own" in str(one.bound())
    assert one.summary().blend == pytest.approx(two.summary().blend)


@pytest.mark.parametrize("pooled", [True, False])
def test_in_a_table(pooled: bool) -> None:
    data = table(series=3)
    found = blend(data, "y", by="id", time="t", lag=1, hedger=OWN, pooled=pooled, weights=True)
    rows = Mixture(OWN, shared=pooled)
    assert np.isfinite(found.frame["blend"].to_numpy()).all()
    assert found.mixture.rounds == 60
    again = blend(data, "y", by="id", time="t", lag=1, hedger=OWN, pooled=pooled)
    assert again.frame["blend"].to_pylist() == found.frame["blend"].to_pylist()
    assert rows.settings.hedger is OWN


def test_a_table_is_a_loop_over_a_mixture() -> None:
    data, mixture = table(), Mixture(OWN)
    expected = []
    for row in data.to_pylist():
        made = mixture.predict({name: row[name] for name in ("m0", "m1", "m2")})
        expected.append(made.value)
        mixture.update(made.ticket, row["y"])
    found = blend(data, "y", ["m0", "m1", "m2"], time="t", hedger=OWN)
    np.testing.assert_allclose(found.frame["blend"].to_numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(found.mixture.weights, mixture.weights, rtol=1e-12)


def test_newcomers() -> None:
    first, later = {"a": 0.0, "b": 1.0}, {"a": 0.0, "b": 1.0, "c": 0.5}
    for hedger, kept in ((Joins(), True), (Own(), False)):
        mixture = Mixture(hedger)
        for _ in range(5):
            mixture.update(mixture.predict(first).ticket, 0.0)
        before = mixture.weights[0].copy()
        if kept:
            mixture.predict(later)
            assert mixture.weights[0, 0] > mixture.weights[0, 2] > mixture.weights[0, 1]
            assert before[0] / before[1] == pytest.approx(
                mixture.weights[0, 0] / mixture.weights[0, 1]
            )
        else:
            with pytest.warns(RuntimeWarning, match="Own has no join: it begins anew with 3"):
                mixture.predict(later)
            np.testing.assert_allclose(mixture.weights, 1 / 3)


def test_copies_and_pickles_have_states_of_their_own(tmp_path: Any) -> None:
    mixture = Mixture(OWN)
    for _ in range(5):
        mixture.update(mixture.predict({"a": 0.0, "b": 1.0}).ticket, 0.0)
    for other in (copy.deepcopy(mixture), pickle.loads(pickle.dumps(mixture))):
        other.update(other.predict({"a": 0.0, "b": 1.0}).ticket, 1.0)
        assert other.weights[0, 0] < mixture.weights[0, 0]
        assert other.state().gains[0] < mixture.state().gains[0]
    with pytest.raises(ValueError, match="Own is one of your own and cannot be saved"):
        mixture.save(tmp_path / "state.json")


class Broken(Own):
    """A hedger that fails in the middle of a game."""

    def step(self, state: Totals, gains: Any, confidence: Any = None) -> Totals:
        if state.gains.any():
            raise ZeroDivisionError("broken")
        return super().step(state, gains, confidence)


class Short(Own):
    """A hedger that loses an expert."""

    def step(self, state: Totals, gains: Any, confidence: Any = None) -> Totals:
        after = super().step(state, gains, confidence)
        return Totals(after.weights[:-1], after.gains)


def test_those_that_fail_say_so() -> None:
    said = {"a": 0.0, "b": 1.0}
    mixture = Mixture(Broken())
    mixture.update(mixture.predict(said).ticket, 0.0)
    ticket = mixture.predict(said).ticket
    with pytest.raises(ZeroDivisionError, match="broken"):
        mixture.update(ticket, 0.0)
    assert ticket in mixture.pending
    mixture = Mixture(Short())
    with pytest.raises(ValueError, match="the weights of the hedger must be 2 numbers, got 1"):
        mixture.update(mixture.predict(said).ticket, 0.0)
    with pytest.raises(ZeroDivisionError, match="broken"):
        blend(table(), "y", hedger=Broken())


class Interrupted(NamedTuple):
    weights: Floats
    gains: Floats

    @property
    def regrets(self) -> Floats:
        raise TimeoutError("too slow")


class Interrupts(Own):
    """The same, and a signal handler raises when its state is read."""

    def step(self, state: Any, gains: Any, confidence: Any = None) -> Any:
        return Interrupted(*super().step(Totals(*state), gains, confidence))


def test_a_timeout_within_a_hedger_arrives() -> None:
    mixture = Mixture(Interrupts())
    ticket = mixture.predict({"a": 0.0, "b": 1.0}).ticket
    with pytest.raises(TimeoutError, match="too slow"):
        mixture.update(ticket, 0.0)
    assert ticket in mixture.pending


@pytest.mark.parametrize("wrong", [object(), Own, 3, lambda x: x])
def test_what_is_no_hedger(wrong: Any) -> None:
    with pytest.raises(TypeError, match="hedger must be a hedger, such as NormalHedge"):
        Mixture(wrong)


def test_over_hidden_states() -> None:
    rng = np.random.default_rng(2)
    bank = random_categorical_bank(5, 2, 2, rng)
    for kind in (StateExperts, ModelExperts):
        one, two = kind(bank, OWN), kind(bank, OURS)
        for symbol in rng.integers(2, size=30).tolist():
            np.testing.assert_allclose(one.predict(), two.predict(), atol=1e-12)
            one.observe(symbol)
            two.observe(symbol)


class Regrets(NamedTuple):
    weights: Floats
    regrets: Floats


class Knows(Own):
    """The same, with a state that says what its regrets are."""

    told: list[Regrets]

    def step(self, state: Any, gains: Any, confidence: Any = None) -> Any:
        after = Regrets(*super().step(Totals(*state), gains, confidence))
        self.told.append(after)
        return after


def test_regrets_that_a_state_knows_are_those_of_the_mixture() -> None:
    """Others get sums without a discount, as what a hedger forgets is not known."""
    hedger = Knows()
    object.__setattr__(hedger, "told", [])
    knows, plain = Mixture(hedger), Mixture(Own())
    rng = np.random.default_rng(0)
    for _ in range(8):
        forecasts = dict(zip("abc", rng.normal(size=3), strict=True))
        for mixture in (knows, plain):
            mixture.update(mixture.predict(forecasts).ticket, 0.0)
    np.testing.assert_array_equal(knows.regrets[0], hedger.told[-1].regrets)
    np.testing.assert_array_equal(knows.weights, plain.weights)
    assert np.abs(knows.regrets - plain.regrets).max() > 0.01
