import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalhedge import Hedge, Mixture, NormalHedge
from normalhedge._sealed import sealed
from normalhedge.mixtures import Loss, pinball
from normalhedge.mixtures.automatic import Automatic, levels_of
from normalhedge.mixtures.combining import combine
from normalhedge.mixtures.growth import ARRAYS
from tests import mixture_oracle
from tests.mixture_oracle import Oracle
from tests.rules import SINGLE, either

NAMES = ["gam", "ar", "naive", "wild"]


def experts(
    rounds: int, rng: np.random.Generator, rows: int = 1, *, asleep: float = 0.2
) -> tuple[np.ndarray, np.ndarray]:
    """Return forecasts, rounds x rows x 4, of which some are NaN, and outcomes."""
    y = rng.normal(size=(rounds, rows)).cumsum(axis=0)
    noise = rng.normal(size=(rounds, rows, 4)) * np.array([0.3, 0.6, 1.0, 3.0])
    forecasts = y[..., np.newaxis] + noise + np.array([0.1, -0.3, 0.0, 1.0])
    forecasts[rng.random(forecasts.shape) < asleep] = np.nan
    return forecasts, y


def none(row: np.ndarray) -> list[float | None]:
    return [None if math.isnan(x) else float(x) for x in row]


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("loss", list(mixture_oracle.LOSSES))
@pytest.mark.parametrize(
    ("combine", "gradient"), [("mean", False), ("mean", True), ("median", False)]
)
@pytest.mark.parametrize("even", [0.0, 0.25])
def test_a_mixture_is_the_oracle(
    rows: int, loss: str, combine: str, gradient: bool, even: float
) -> None:
    hedger = NormalHedge(alpha=0.1, c=0.5)
    mixture = Mixture(hedger, loss, combine=combine, gradient=gradient, even=even)
    oracle = Oracle(4, 0.1, 0.5, loss, combine, gradient=gradient, even=even)
    forecasts, y = experts(120, np.random.default_rng(rows), rows)
    forecasts[40:45] = np.nan  # everybody sleeps
    mixture.join(NAMES)
    for round_, outcomes in zip(forecasts, y.tolist(), strict=True):
        said = {name: round_[:, i].tolist() for i, name in enumerate(NAMES)}
        if rows == 1:
            said = {name: value[0] for name, value in said.items()}
        made = mixture.predict(said)
        slow = oracle.predict([none(row) for row in round_])
        values = [made.value] if rows == 1 else [None if math.isnan(v) else v for v in made.value]
        assert [v is None for v in values] == [v is None for v in slow]
        np.testing.assert_allclose(
            np.array(values, dtype=float), np.array(slow, dtype=float), rtol=1e-9, atol=1e-9
        )
        mixture.update(made.ticket, outcomes[0] if rows == 1 else outcomes)
        oracle.update([none(row) for row in round_], slow, outcomes)
        np.testing.assert_allclose(mixture.regrets[0], oracle.regrets, rtol=1e-8, atol=1e-9)
    assert {range_.size for range_ in oracle.ranges.values()} == set(mixture.ranges[:, 0].tolist())


forecast = st.none() | st.floats(-1e6, 1e6) | st.just(math.nan) | st.just(math.inf)


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from("abcd"), forecast, min_size=1), st.floats(-1e6, 1e6)
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["square", "absolute", "pinball:level=0.2", "zero-one"]),
    st.sampled_from([{}, {"hedger": SINGLE}, {"combine": "mean"}, {"combine": "median"}]),
)
@settings(max_examples=200)
def test_a_prediction_is_inside_the_hull(
    rounds: list[tuple[dict[str, float | None], float]], loss: str, options: dict[str, Any]
) -> None:
    mixture = Mixture(loss=loss, **options)
    for said, outcome in rounds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            made = mixture.predict(said)
        heard = [x for x in said.values() if x is not None and math.isfinite(x)]
        if not heard:
            assert made.value is None
        else:
            assert min(heard) <= made.value <= max(heard)
            assert math.isclose(sum(made.weights.values()), 1.0, rel_tol=1e-9)
        mixture.update(made.ticket, outcome)
        for name in ARRAYS:
            assert np.isfinite(getattr(mixture.games, name)).all()


@either
@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("power", [-60, -30, 30, 60])
def test_the_scale_changes_nothing(loss: str, power: int, hedger: str | None) -> None:
    forecasts, y = experts(150, np.random.default_rng(5))
    runs = []
    for scale in (1.0, 2.0**power):
        mixture = Mixture(hedger, loss)
        values = []
        for row, outcome in zip(forecasts[:, 0] * scale, y[:, 0] * scale, strict=True):
            made = mixture.predict(dict(zip(NAMES, row.tolist(), strict=True)))
            values.append(None if made.value is None else made.value / scale)
            mixture.update(made.ticket, float(outcome))
        runs.append(values)
    assert runs[0] == runs[1]  # a power of two: to the bit


def follow(loss: str, outcomes: np.ndarray, errors: np.ndarray, **options: Any) -> list[float]:
    """Return the weight of the first expert in each round, for experts with these errors."""
    mixture = Mixture(SINGLE, loss, **options)
    weights = []
    for y, error in zip(outcomes.tolist(), errors.tolist(), strict=True):
        made = mixture.predict({f"e{i}": y + e for i, e in enumerate(error)})
        weights.append(made.weights["e0"])
        mixture.update(made.ticket, y)
    return weights


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_it_learns_at_any_scale(loss: str, scale: float) -> None:
    errors = np.random.default_rng(1).normal(size=(100, 3)) * [0.1, 1.0, 1.0] * scale
    weights = follow(loss, np.zeros(100), errors, gradient=False)
    assert min(weights[30:]) > 0.9


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("who", ["an expert", "everybody"])
@pytest.mark.parametrize("when", [0, 60])
def test_one_wild_value_does_not_freeze_learning(loss: str, who: str, when: int) -> None:
    rng = np.random.default_rng(2)
    errors = rng.normal(size=(400, 4)) * [0.1, 1.0, 1.0, 1.0]
    errors[when, slice(1, 2) if who == "an expert" else slice(None)] += 1e6 * rng.normal()
    # From round 200 on another expert is the good one: it must be found.
    errors[200:, [0, 2]] = errors[200:, [2, 0]]
    weights = np.array(follow(loss, np.zeros(400), errors, gradient=False))
    assert weights[300:].mean() < 0.05
    if when:
        assert weights[120:200].mean() > 0.9


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "absolute"},
        {"hedger": SINGLE},
        {"gradient": False},
        {"hedger": SINGLE, "loss": "absolute"},
        {"loss": "absolute", "combine": "mean"},
    ],
)
@pytest.mark.parametrize("bad", [3.0, 1e3, 1e7])
def test_an_expert_that_is_always_wild_is_left_alone(options: dict[str, Any], bad: float) -> None:
    rng = np.random.default_rng(12)
    mixture = Mixture(**options)
    errors = []
    for t in range(1500):
        scale = 1e4 if t < 100 else 1.0  # and the rest become calmer, too
        y = scale * rng.normal()
        said = {f"e{i}": y + scale * rng.normal() * 0.1 * (i + 1) for i in range(3)}
        made = mixture.predict({**said, "bad": bad * 1e4})
        mixture.update(made.ticket, y)
        errors.append(made.value - y)
    assert np.square(errors[1000:]).mean() < 0.02


@pytest.mark.parametrize("options", [{}, {"include": ("mean",)}])
def test_the_same_rounds_give_the_same_bits(options: dict[str, Any]) -> None:
    def run(seed: int) -> list[float | None]:
        rng = np.random.default_rng(seed)
        mixture, values = Mixture(**options), []
        for _ in range(100):
            y = float(rng.normal())
            said = {
                f"e{i}": None if rng.random() < 0.4 else float(y + rng.normal() * (1 + i))
                for i in range(5)
            }
            made = mixture.predict(said)
            values.append(made.value)
            mixture.update(made.ticket, y)
        return values

    assert [run(seed) for seed in range(60)] == [run(seed) for seed in range(60)]


def test_those_not_heard_are_not_in_the_plain_mean() -> None:
    mixture = Mixture(include="mean")
    mixture.join(["a", "b"])
    assert mixture.predict({"a": 1.0, "b": 9.0}, confidence={"b": 0.0}).value == 1.0
    nobody = mixture.predict({"a": 1.0, "b": 9.0}, confidence={"a": 0.0, "b": 0.0})
    assert nobody.value is None


@either
def test_words_are_no_numbers_at_any_time(hedger: str | None) -> None:
    mixture = Mixture(hedger)
    for _ in range(2):
        with pytest.raises(TypeError, match="must be numbers"):
            mixture.predict({"a": "1", "b": 2.0})
        mixture.predict({"a": 1.0, "b": 2.0})


def test_a_growing_scale_rescales_what_was_learned() -> None:
    errors = np.random.default_rng(3).normal(size=(60, 3)) * [0.1, 1.0, 1.0]
    errors[40:] *= 1e9
    weights = follow("absolute", np.zeros(60), errors)
    assert min(weights[20:]) > 0.8  # the order of the experts is never forgotten


def test_the_gradient_trick_finds_a_combination() -> None:
    rng = np.random.default_rng(4)
    y = rng.normal(size=600)
    losses = {}
    for gradient in (False, True):
        mixture = Mixture(SINGLE, gradient=gradient)
        errors = []
        for outcome in y.tolist():  # the truth is always midway
            made = mixture.predict({"low": outcome - 1.0, "high": outcome + 1.0})
            errors.append(made.value - outcome)
            mixture.update(made.ticket, outcome)
        losses[gradient] = float(np.square(errors[100:]).mean())
    assert losses[True] < 0.05
    assert losses[False] > 0.2 or losses[False] >= losses[True]


@either
def test_names_join_sleep_and_are_heard_again(hedger: str | None) -> None:
    mixture = Mixture(hedger, "absolute")
    for _ in range(30):
        made = mixture.predict({"a": 1.0, "b": 2.0})
        mixture.update(made.ticket, 1.0)
    made = mixture.predict({"b": 2.0, "c": 5.0})
    assert mixture.names == ["a", "b", "c"]
    assert made.weights["a"] == 0.0
    mixture.update(made.ticket, 1.0)
    made = mixture.predict({"c": 9.0, "a": 1.0})  # in another order, too
    assert made.weights["a"] > 0.9
    assert made.value == pytest.approx(1.0, abs=0.5 if hedger is None else 0.0)
    summary = {row.name: row for row in mixture.summary().experts}
    assert summary["a"].since == 0
    assert summary["b"].since is None
    assert summary["c"].last_seen == 31


@either
def test_confidence(hedger: str | None) -> None:
    mixture = Mixture(hedger)
    made = mixture.predict({"a": 1.0, "b": 2.0}, confidence={"b": 0.5})
    assert made.weights == {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)}
    mixture.update(made.ticket, 1.0)
    assert mixture.predict({"a": 1.0, "b": 2.0}, confidence={"a": 0.0}).value == 2.0
    with pytest.raises(ValueError, match="confidence of 'a' must be in"):
        mixture.predict({"a": 1.0, "b": 2.0}, confidence={"a": 1.5})
    with pytest.raises(ValueError, match="'z', which is not an expert"):
        mixture.predict({"a": 1.0, "b": 2.0}, confidence={"z": 0.5})


@either
def test_outcomes_in_any_order(hedger: str | None) -> None:
    mixture = Mixture(hedger, "absolute")
    tickets = [mixture.predict({"a": 0.0, "b": 1.0}).ticket for _ in range(10)]
    for ticket in reversed(tickets[1:]):
        mixture.update(ticket, 0.0)
    assert list(mixture.pending) == tickets[:1]
    good, bad = mixture.state().weights
    assert good > bad
    if hedger == SINGLE:
        assert (good, bad) == (1.0, 0.0)
    mixture.update(tickets[0], 0.0)
    assert not mixture.pending


@either
def test_tickets_are_used_once(hedger: str | None) -> None:
    mixture = Mixture(hedger)
    ticket = mixture.predict({"a": 0.0, "b": 1.0}).ticket
    mixture.update(ticket, 0.0)
    before = [getattr(mixture.games, name).copy() for name in ARRAYS]
    with pytest.raises(KeyError, match="ticket 0 was used already, or has expired"):
        mixture.update(ticket, 0.0)
    with pytest.raises(KeyError, match="ticket 7 was never given out"):
        mixture.update(7, 0.0)
    with pytest.raises(KeyError, match="ticket 'x' was never given out"):
        mixture.update("x", 0.0)  # type: ignore[arg-type]
    for name, array in zip(ARRAYS, before, strict=True):
        np.testing.assert_array_equal(getattr(mixture.games, name), array)


@either
def test_tickets_expire_by_count_and_by_age(hedger: str | None) -> None:
    few = Mixture(hedger, max_pending=3)
    tickets = [few.predict({"a": 0.0, "b": 1.0}).ticket for _ in range(10)]
    assert list(few.pending) == tickets[-3:]
    assert few.expired == 7
    young = Mixture(hedger, max_age=2)
    first = young.predict({"a": 0.0, "b": 1.0}).ticket
    for _ in range(20):
        young.update(young.predict({"a": 0.0, "b": 1.0}).ticket, 0.0)
    assert not young.pending
    with pytest.raises(KeyError, match="expired"):
        young.update(first, 0.0)


@either
def test_memory_stays_bounded(hedger: str | None) -> None:
    mixture = Mixture(hedger, max_pending=50, history=20)
    sizes = set()
    for k in range(500):
        mixture.predict({"a": 0.0, "b": 1.0})
        if k > 100:
            sizes.add((len(mixture.pending), len(mixture.history), mixture.games.expert_sums.size))
    assert sizes == {(50, 0, 12)}


@either
def test_infinite_forecasts_sleep_and_are_told_once(hedger: str | None) -> None:
    mixture = Mixture(hedger)
    with pytest.warns(RuntimeWarning, match="infinite forecasts count as missing"):
        assert mixture.predict({"a": 1.0, "b": math.inf}).value == 1.0
    assert mixture.predict({"a": 2.0, "b": -math.inf}).value == 2.0  # warnings are errors here


@either
def test_vectors_with_shared_and_with_own_weights(hedger: str | None) -> None:
    forecasts, y = experts(80, np.random.default_rng(6), rows=2)
    shared, own = Mixture(hedger), Mixture(hedger, shared=False)
    alone = [Mixture(hedger), Mixture(hedger)]
    for mixture in (shared, own, *alone):
        mixture.join(NAMES)
    for round_, outcome in zip(forecasts, y, strict=True):
        said = {name: round_[:, i] for i, name in enumerate(NAMES)}
        for mixture in (shared, own):
            made = mixture.predict(said)
            mixture.update(made.ticket, outcome)
        for k, mixture in enumerate(alone):
            single = mixture.predict({name: value[k] for name, value in said.items()})
            mixture.update(single.ticket, float(outcome[k]))
            expected = math.nan if single.value is None else single.value
            assert made.value[k] == expected or math.isnan(made.value[k])
    assert (own.weights == np.concatenate([m.weights for m in alone])).all()
    # By default, there is a game for each item beside the one that they share.
    assert shared.weights.shape == (1 if hedger == SINGLE else 3, 4)


@either
def test_mappings_and_partly_known_outcomes(hedger: str | None) -> None:
    mixture = Mixture(hedger, "absolute")
    made = mixture.predict({"a": {"DE": 1.0, "FR": 2.0}, "b": {"FR": 4.0, "IT": 5.0}})
    assert made.value == {"DE": 1.0, "FR": 3.0, "IT": 5.0}
    assert made.weights["b"] == {"DE": 0.0, "FR": 0.5, "IT": 1.0}
    with pytest.raises(ValueError, match="'ES', which was not forecast"):
        mixture.update(made.ticket, {"ES": 1.0})
    mixture.update(made.ticket, {"FR": 2.0})
    good, bad = mixture.state().weights
    assert good > bad
    assert mixture.items == ["DE", "FR", "IT"]


@either
@pytest.mark.parametrize("loss", ["l1", "log", "zero-one-classes"])
def test_class_probabilities(loss: str, hedger: str | None) -> None:
    mixture = Mixture(hedger, loss)
    for _ in range(40):
        made = mixture.predict({"good": [0.7, 0.2, 0.1], "bad": [0.1, 0.2, 0.7]})
        assert math.isclose(made.value.sum(), 1.0)
        mixture.update(made.ticket, 0)
    value = mixture.predict({"good": [0.7, 0.2, 0.1], "bad": [0.1, 0.2, 0.7]}).value
    # The plain mean already names the right class: by default, nothing more is learned then.
    assert value[0] > (0.65 if hedger == SINGLE or loss != "zero-one-classes" else 0.4)
    many = mixture.predict({"good": {"DE": [0.5, 0.5, 0.0]}, "bad": {"DE": [0.0, 0.5, 0.5]}})
    assert set(many.value) == {"DE"}


def test_the_log_loss_is_clipped() -> None:
    mixture = Mixture(loss="log", gradient=False)
    made = mixture.predict({"sure": [0.0, 1.0], "fair": [0.5, 0.5]})
    mixture.update(made.ticket, 0)
    losses = {row.name: row.loss for row in mixture.summary().experts}
    assert losses["sure"] == pytest.approx(math.log(1e6))


@either
def test_votes(hedger: str | None) -> None:
    mixture = Mixture(hedger, "zero-one")
    assert mixture.predict({"a": 3, "b": 3, "c": 7}).value == 3.0
    for _ in range(1 if hedger == SINGLE else 10):
        made = mixture.predict({"a": 1, "b": 2, "c": 2})
        mixture.update(made.ticket, 1)
    assert mixture.predict({"a": 9, "b": 4, "c": 4}).value == 9.0


@pytest.mark.parametrize("options", [{}, {"gradient": False}, {"gradient": True}])
def test_a_loss_of_your_own(options: dict[str, Any]) -> None:
    own = Loss("mine", function=lambda x, y: (x - y) ** 2, slope=lambda x, y: 2 * (x - y))
    pair = Mixture(loss=own, **options), Mixture(loss="square", **options)
    forecasts, y = experts(60, np.random.default_rng(7))
    for row, outcome in zip(forecasts[:, 0], y[:, 0], strict=True):
        values = []
        for mixture in pair:
            made = mixture.predict(dict(zip(NAMES, row.tolist(), strict=True)))
            mixture.update(made.ticket, float(outcome))
            values.append(made.value)
        assert values[0] == values[1]
    assert (pair[0].games.expert_sums == pair[1].games.expert_sums).all()
    plain = Mixture(SINGLE, lambda x, y: np.abs(x - y))
    assert not plain.recipe.gradient


@either
def test_pinball_of_several_levels(hedger: str | None) -> None:
    mixture = Mixture(hedger, pinball([0.1, 0.9]), shared=False)
    rng = np.random.default_rng(8)
    for y in rng.normal(size=400).tolist():
        made = mixture.predict({"wide": [-1.28, 1.28], "narrow": [-0.1, 0.1], "off": [0.5, 0.9]})
        mixture.update(made.ticket, [y, y])
    sums = dict(zip(mixture.names, mixture.games.expert_sums[2], strict=True))
    assert min(sums, key=lambda name: sums[name]) == "wide"


def test_the_plain_mean_and_median_as_experts() -> None:
    mixture = Mixture(loss="absolute", include=("mean", "median"))
    made = mixture.predict({"a": 0.0, "b": 1.0, "c": 8.0, "d": None})
    assert mixture.names[:2] == ["(mean)", "(median)"]
    assert mixture.pending[made.ticket].forecasts[0, 0, :2].tolist() == [3.0, 1.0]


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0, 1)), min_size=1, max_size=80))
def test_the_weighted_median(pairs: list[tuple[float, float]]) -> None:
    values, weights = (np.array(part) for part in zip(*pairs, strict=True))
    if weights.sum() < 1e-3:
        weights = np.ones_like(weights)
    found = combine(values, weights, "median")
    below, above = weights[values < found].sum(), weights[values > found].sum()
    half = weights.sum() / 2 * (1 + 1e-9)
    assert below <= half
    assert above <= half
    alike = np.ones_like(weights)
    assert combine(values, alike, "median") == pytest.approx(np.median(values))


def test_means_and_votes_by_hand() -> None:
    x, q = np.array([5.0, 5.0, 1e300]), np.array([0.5, 0.5, 0.0])
    assert combine(x, q) == 5.0
    assert combine([2.0, 1.0, 2.0], [0.3, 0.4, 0.3], "vote") == 2.0


def test_a_summary_tells_the_story() -> None:
    mixture = Mixture(Hedge(alpha=0.05, eta=0.5), loss="absolute")
    rng = np.random.default_rng(10)
    for k in range(60):
        said: dict[str, float | None] = {
            "good": 0.1 * rng.normal(),
            "bad": rng.normal(),
            "late": None,
        }
        if k > 50:
            said["late"] = 0.5
        mixture.update(mixture.predict(said).ticket, 0.0)
    summary = mixture.summary()
    assert summary.best is not None
    assert summary.best.name == "good"
    assert summary.blend < summary.uniform
    assert summary.convex <= summary.convex_blend
    assert summary.regret <= summary.bound.regret
    text = str(summary)
    for word in (
        "good",
        "late",
        "never above",
        "best convex combination",
        "above uniform since",
        "60",
    ):
        assert word in text
    page = summary._repr_html_()
    assert page.count("<table>") == 3
    assert "good" in page
    assert str(Mixture().summary()).startswith("auto (14 ways of combining, guard on)")
    assert str(Mixture(SINGLE).summary()).startswith("NormalHedge")


def busy() -> Mixture:
    """Return a mixture with a bit of everything in it."""
    mixture = Mixture(
        "normal-hedge:alpha=0.1,c=2", "pinball:level=0.3", include="median", max_age=99
    )
    rng = np.random.default_rng(11)
    for k in range(40):
        said = {name: rng.normal() if rng.random() < 0.8 else None for name in NAMES}
        made = mixture.predict(said, confidence={"gam": 0.5} if k % 7 == 0 and k else None)
        if k % 5:
            mixture.update(made.ticket, rng.normal())
    return mixture


def test_a_state_comes_back_to_the_bit(tmp_path: Path) -> None:
    one = busy()
    one.save(tmp_path / "state.json")
    two = Mixture.load(tmp_path / "state.json")
    two.save(tmp_path / "again.json")
    assert (tmp_path / "state.json").read_text() == (tmp_path / "again.json").read_text()
    assert one.recipe == two.recipe
    for name in ARRAYS:
        assert (getattr(one.games, name) == getattr(two.games, name)).all()
    for mixture in (one, two):
        for ticket in list(mixture.pending):
            mixture.update(ticket, 0.25)
    said = dict.fromkeys(NAMES, 1.0) | {"new": 3.0}
    assert one.predict(said).value == two.predict(said).value
    assert (one.weights == two.weights).all()


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    found = json.loads(path.read_text())
    del found["checksum"]
    edit(found)
    path.write_text(sealed(found))


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (lambda f: f.update(version=4), "has version 4"),
        (lambda f: f.update(version="1"), "has version '1'"),
        (lambda f: f.update(format="?"), "does not hold a mixture"),
        (lambda f: f.pop("ledgers"), "'ledgers' is missing"),
        (lambda f: f["ledgers"][0].pop(), "ledgers must have shape"),
        (lambda f: f["ledgers"][0][0].__setitem__(0, 1e200), "ledgers must lie in"),
        (lambda f: f["weights"][0].__setitem__(0, -1.0), "weights must lie in"),
        (lambda f: f["weights"][0].__setitem__(0, 0.9999), "weights must sum to one"),
        (lambda f: f["ranges"][0].__setitem__(0, None), "ranges must lie in"),
        (lambda f: f["names"].__setitem__(1, f["names"][0]), "different words"),
        (lambda f: f["recipe"]["hedger"].update(alpha=7), "alpha"),
        (lambda f: f["recipe"]["hedger"].update(kind="X"), "its hedger is none of"),
        (lambda f: f["recipe"]["loss"].update(name="mine"), "is none of absolute"),
        (lambda f: f["recipe"]["loss"].update(own=True), "pass it as loss"),
        (lambda f: f.update(history=10**30), "cannot be read"),
        (lambda f: f.update(rounds=10**30), "rounds must be a whole number"),
        (lambda f: f.update(last_times=[[0, None]]), "a time must be"),
        (lambda f: f["pending"][0].update(keys=["a", "b"]), "does not fit its keys"),
        (lambda f: f["pending"][0].update(values=[[None]]), "has no prediction"),
        (lambda f: f.update(rounds=-5), "rounds must be a whole number"),
        (lambda f: f["pending"][0].update(ticket=10**6), "ticket must be below"),
        (lambda f: f["pending"][0]["items"].append(0), "does not fit its forecasts"),
        (lambda f: f["marks"][0][0].__setitem__(0, 10**6), "marks must lie in"),
    ],
)
def test_a_state_that_was_tampered_with_is_refused(
    tmp_path: Path, edit: Callable[[dict[str, Any]], object], word: str
) -> None:
    path = tmp_path / "state.json"
    busy().save(path)
    change(path, edit)
    with pytest.raises(ValueError, match=word):
        Mixture.load(path)


def test_a_state_that_is_cut_or_missing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with pytest.raises(ValueError, match="there is no file"):
        Mixture.load(path)
    busy().save(path)
    text = path.read_text()
    for end in (0, 1, len(text) // 2, len(text) - 1):
        path.write_text(text[:end])
        with pytest.raises(ValueError, match="is not a whole JSON file"):
            Mixture.load(path)


def test_a_loss_of_your_own_is_given_again(tmp_path: Path) -> None:
    def mine(x: np.ndarray, y: float) -> np.ndarray:
        return np.abs(x - y) ** 1.5

    Mixture(loss=mine).save(tmp_path / "state.json")
    with pytest.raises(ValueError, match="pass it as loss"):
        Mixture.load(tmp_path / "state.json")
    assert Mixture.load(tmp_path / "state.json", loss=mine).recipe.loss.function is mine


def test_what_is_used_by_default() -> None:
    assert Mixture().recipe.hedger == Mixture("auto").recipe.hedger == Automatic()
    assert Mixture(SINGLE).recipe.hedger == NormalHedge(memory=20)
    options: list[dict[str, Any]] = [
        {"combine": "mean"},
        {"gradient": False},
        {"gradient": True},
        {"even": 0.1},
        {"include": "mean"},
        {"include": ["mean"]},
        {"include": iter(["mean"])},
        {"include": ("mean", "median")},
    ]
    for one in options:
        assert Mixture(**one).recipe.hedger == NormalHedge(memory=20)
    for one in options[:6]:
        with pytest.raises(ValueError, match=f"{next(iter(one))} belongs to a single rule"):
            Mixture("auto", **one)
    assert Mixture(include=[]).recipe.hedger == Automatic()
    assert Mixture("auto:memory=30,guard=false").recipe.hedger == Automatic(30, guard=False)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"hedger": 3}, "hedger must be"),
        ({"hedger": "normal-hegde"}, "did you mean normal-hedge"),
        ({"loss": "squared"}, "did you mean square"),
        ({"loss": 3}, "loss must be"),
        ({"loss": "pinball:level=2"}, "level must be"),
        ({"combine": "mode"}, "unknown way to combine 'mode'"),
        ({"combine": "median", "loss": "l1"}, "combine must be 'mean'"),
        ({"combine": "median", "gradient": True}, "gradient needs combine='mean'"),
        ({"loss": lambda x, y: x - y, "gradient": True}, "a loss with a slope"),
        ({"even": 2.0}, "even must be"),
        ({"loss": Loss("x", of_classes=True, function=lambda x, _: x)}, "not of classes"),
        ({"include": "mode"}, "unknown plain combination"),
        ({"include": "median", "loss": "l1"}, "median of class probabilities"),
        ({"max_pending": 0}, "max_pending must be"),
        ({"max_age": -1}, "max_age must be"),
    ],
)
def test_bad_settings_are_a_sentence(options: dict[str, Any], word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=word):
        Mixture(**options)


@either
@pytest.mark.parametrize(
    ("loss", "said", "word"),
    [
        ("square", {}, "must name at least one expert"),
        ("square", [1.0, 2.0], "must be a mapping"),
        ("square", {"a": "x"}, "must be numbers"),
        ("square", {"a": 1.0, "b": [1.0, 2.0]}, "all be of one form"),
        ("square", {"a": [1.0], "b": [1.0, 2.0]}, "all be of one form"),
        ("square", {"a": [[1.0]]}, "must be a number or a sequence"),
        ("square", {1: 2.0}, "names of experts must be strings"),
        ("l1", {"a": [0.5, 0.6]}, "sum to one"),
        ("l1", {"a": [1.5, -0.5]}, "sum to one"),
        ("l1", {"a": 0.5}, "must be class probabilities"),
        ("l1", {"a": [0.5, 0.5], "b": [0.2, 0.3, 0.5]}, "must have 3 class probabilities"),
    ],
)
def test_bad_forecasts_are_a_sentence(loss: str, said: Any, word: str, hedger: str | None) -> None:
    mixture = Mixture(hedger, loss)
    with pytest.raises((ValueError, TypeError), match=word):
        mixture.predict(said)
    assert mixture.names == []
    assert mixture.rounds == 0


@either
def test_a_refused_round_leaves_the_mixture_as_it_was(hedger: str | None) -> None:
    mixture = Mixture(hedger)
    for said, confidence in (
        ({"a": 1.0, 2: 3.0}, None),
        ({"a": 1.0, "b": 3.0}, {"a": 2.0}),
        ({"a": 1.0, "b": 3.0}, {"z": 1.0}),
        ({"a": 1.0, "b": 3.0}, [1.0]),
    ):
        with pytest.raises((ValueError, TypeError)):
            mixture.predict(said, confidence)  # type: ignore[arg-type]
        assert (mixture.names, mixture.items, mixture.rounds) == ([], [], 0)
    assert mixture.predict({"a": 1.0, "b": 3.0}, {"b": 0.0}).value == 1.0
    separate = Mixture(hedger, shared=False)
    separate.predict({"a": {"DE": 1.0}})
    assert separate.state("DE").weights.tolist() == [1.0]
    with pytest.raises(ValueError, match="item must be one of DE, got 'x'"):
        separate.state("x")


@either
@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (math.nan, "must be known"),
        (None, "must be known"),
        (math.inf, "must be finite"),
        ("1", "must be a number"),
        ([1.0], "must be a number"),
        (True, "must be a number"),
    ],
)
def test_bad_outcomes_are_a_sentence(outcome: Any, word: str, hedger: str | None) -> None:
    mixture = Mixture(hedger)
    ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
    with pytest.raises((ValueError, TypeError), match=word):
        mixture.update(ticket, outcome)
    mixture.update(ticket, 1.0)  # it is still there
    classes = Mixture(hedger, "l1")
    ticket = classes.predict({"a": [0.5, 0.5]}).ticket
    with pytest.raises(ValueError, match=r"must be a class in 0\.\.1"):
        classes.update(ticket, 2)


def test_ways_that_tie_for_long_tie_still() -> None:
    mixture = Mixture(history=0)
    for y in (1.0, -2.0, 0.5):
        mixture.update(mixture.predict({"a": 0.9 * y, "b": 2.0 * y, "c": -y}).ticket, y)
    for _ in range(76_000):  # the usual difference has no digits left then
        mixture.update(mixture.predict({"a": 1.0, "b": 1.0, "c": 1.0}).ticket, 0.0)
    weights = levels_of(mixture.games).ways[0, :14]
    priors = [one.prior for one in Automatic().components(mixture.recipe.loss)]
    np.testing.assert_allclose(weights / weights.sum(), priors, rtol=1e-6)


def test_a_round_of_one_item_that_is_settled_after_the_second_came() -> None:
    mixture, rng = Mixture(), np.random.default_rng(0)
    scales = {"a": 1.0, "b": 2.0, "c": 3.0}

    def forecasts(*items: str) -> dict[str, dict[str, float]]:
        return {k: {item: s * rng.normal() for item in items} for k, s in scales.items()}

    waiting = mixture.predict(forecasts("x"))
    for _ in range(20):
        mixture.update(mixture.predict(forecasts("x", "y")).ticket, {"x": 0.0, "y": 0.0})
    mixture.update(waiting.ticket, {"x": 0.0})
    assert levels_of(mixture.games).ways[0].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("said", [{"a": {}}, {"a": {}, "b": None}, {"a": {}, "b": {}}])
def test_a_round_without_items_is_refused(said: dict[str, Any]) -> None:
    mixture = Mixture()
    mixture.predict({"a": {"x": 1.0}})
    with pytest.raises(ValueError, match="at least one item"):
        mixture.predict(said)
    assert mixture.rounds == 1
    mixture.predict({"a": {}, "b": {"x": 2.0}})
