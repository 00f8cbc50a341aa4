"""Mixtures of every hedger of the package."""

import dataclasses
import io
import json
import pickle
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import Mixture, NormalHedge, blend
from normalhedge._sealed import sealed
from normalhedge.hedgers import HEDGERS, BatesGranger, FixedShare, Uniform, named
from normalhedge.mixtures import LOSSES
from normalhedge.mixtures.growth import ARRAYS
from normalhedge.mixtures.restored import KINDS
from normalhedge.mixtures.stream import Stream
from tests.test_blend import loop, values, wide, write
from tests.test_cli import call

EVERY: dict[str, Any] = {
    name: named(name + (":eta=0.4" if name == "hedge-fixed" else ""), n_experts=3, alpha=0.1)
    for name in HEDGERS
}
"""Every hedger, forgetting; one that does not forget is in `NEVER`."""

NEVER = {
    f"{name}, alpha=0": dataclasses.replace(hedger, alpha=0.0)
    for name, hedger in EVERY.items()
    if not hedger.has_potential
}

WIDTH = 8.0
"""A range that is known."""

KNOWN = dataclasses.replace(LOSSES["absolute"](), width=WIDTH)

each = pytest.mark.parametrize("hedger", EVERY.values(), ids=EVERY.keys())
all_of_them = pytest.mark.parametrize(
    "hedger", [*EVERY.values(), *NEVER.values()], ids=[*EVERY, *NEVER]
)


def gains_of(hedger: Any, forecasts: np.ndarray, outcome: float) -> np.ndarray:
    """Return the gains as the top of `src/core/mixture.hpp` has them, where the range is known."""
    losses = np.abs(forecasts - outcome)
    least = 0.0 if hedger.by_losses else np.nanmin(losses)
    return np.asarray(1.0 - 2.0 * np.minimum((losses - least) / WIDTH, 1.0))


@all_of_them
def test_a_mixture_is_a_loop_over_step(hedger: Any) -> None:
    rng = np.random.default_rng(4)
    mixture, names = Mixture(hedger, KNOWN), ["a", "b", "c"]
    state = hedger.init(3)
    waiting: deque[tuple[int, np.ndarray, np.ndarray, float]] = deque()
    for t in range(60):
        if t == 30:
            names = [*names, "d", "e"]
        said = rng.normal(size=len(names)) * np.arange(1, len(names) + 1)
        asleep = rng.random(len(names)) < (0.3 if t % 3 else 0.0)
        said[asleep] = np.nan
        rated = np.where(asleep, 0.0, 1.0)
        told = None
        if t % 5 == 1:
            rated[0] *= 0.25
            told = {"a": 0.25}
        made = mixture.predict(dict(zip(names, said, strict=True)), confidence=told)
        if t == 30:
            state = hedger.join(state, 2)
        np.testing.assert_allclose(made.distribution[0], hedger.play(state, rated), 1e-9, 1e-12)
        waiting.append((made.ticket, said, rated, rng.normal()))
        if len(waiting) > 2:  # outcomes are known two rounds later
            ticket, said, rated, outcome = waiting.popleft()
            mixture.update(ticket, outcome)
            late = len(state.weights) - len(said)
            said, rated = np.append(said, [np.nan] * late), np.append(rated, [0.0] * late)
            if not rated.any():
                said = np.zeros_like(said)
            state = hedger.step(state, gains_of(hedger, said, outcome), rated)
        now: Any = mixture.state()
        np.testing.assert_allclose(now.weights, state.weights, 1e-9, 1e-12)
        np.testing.assert_allclose(now.regrets, state.regrets, 1e-9, 1e-12)
        np.testing.assert_allclose(mixture.regrets[0], state.regrets, 1e-9, 1e-12)
    np.testing.assert_allclose(now.ledger, state.ledger, 1e-7, 1e-9)
    np.testing.assert_allclose(now.totals, state.totals, 1e-9, 1e-12)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_losses_of_several_things_are_averaged(power: float) -> None:
    hedger, rng = BatesGranger(alpha=0.1, power=power), np.random.default_rng(5)
    mixture, state = Mixture(hedger, KNOWN), hedger.init(3)
    assert not mixture.recipe.gradient
    for _ in range(50):
        said, outcome = rng.normal(size=(4, 3)) * [0.5, 1.0, 2.0], rng.normal(size=4)
        said[rng.random(said.shape) < 0.2] = np.nan
        said[0] = 0.5  # somebody is awake in one row
        outcome[1] = np.nan
        made = mixture.predict(dict(zip("abc", said.T, strict=True)))
        rated = [~np.isnan(row) for row in said]
        for row, awake in zip(made.distribution, rated, strict=True):
            np.testing.assert_allclose(row, hedger.play(state, 1.0 * awake), 1e-12)
        mixture.update(made.ticket, outcome)
        gains = 1.0 - 2.0 * np.abs(said - outcome[:, np.newaxis]) / WIDTH
        known = gains[~np.isnan(outcome)]
        covered = (~np.isnan(known)).mean(axis=0)
        state = hedger.step(state, np.nansum(known, axis=0) / (3.0 * covered), covered)
        np.testing.assert_allclose(mixture.weights[0], state.weights, 1e-12)


def test_inverse_losses_at_any_scale() -> None:
    """The range doubles on the way, and what was lost before counts half."""
    rng, runs = np.random.default_rng(6), []
    errors = rng.normal(size=(200, 3)) * [0.5, 1.0, 2.0] * 1.05 ** np.arange(200)[:, np.newaxis]
    for scale in (1.0, 2.0**-40, 2.0**60):
        mixture = Mixture("bates-granger:alpha=0", "absolute", combine="mean")
        for row in errors * scale:
            mixture.update(mixture.predict(dict(zip("abc", row, strict=True))).ticket, 0.0)
        runs.append(mixture.weights[0])
        assert mixture.ranges[0, 0] > 1e3 * scale
    np.testing.assert_array_equal(runs[1], runs[0])
    np.testing.assert_array_equal(runs[2], runs[0])
    losses = np.abs(errors).sum(axis=0)
    inverse = 1.0 / losses  # some are clipped
    np.testing.assert_allclose(runs[0], inverse / inverse.sum(), rtol=0.3)
    with pytest.raises(ValueError, match="gradient is of no use to BatesGranger"):
        Mixture("bates-granger", gradient=True)


@each
@pytest.mark.parametrize(("series", "pooled", "lag"), [(1, False, 2), (3, False, 0), (3, True, 1)])
def test_blend_is_a_loop_over_mixtures(hedger: Any, series: int, pooled: bool, lag: int) -> None:
    table = wide(40, series)
    by = () if series == 1 else "unique_id"
    experts = ["gam", "ar", "naive"]
    found = blend(pa.table(table), "y", experts, by, "ds", lag, pooled=pooled, hedger=hedger)
    np.testing.assert_array_equal(values(found), loop(table, lag, pooled=pooled, hedger=hedger))
    assert repr(hedger) in str(found.summary())


def busy(hedger: Any, *, shared: bool = True) -> Mixture:
    mixture, rng = Mixture(hedger, shared=shared), np.random.default_rng(7)
    for t in range(40):
        names = ["a", "b", "c", "d"][: 3 + (t > 20)]
        said = {name: rng.normal(size=2) * (2.0 if t > 30 else 1.0) for name in names}
        made = mixture.predict(said | ({"b": None} if t % 4 == 1 else {}))
        if t % 6:
            mixture.update(made.ticket, rng.normal(size=2))
    return mixture


@each
@pytest.mark.parametrize("way", ["file", "pickle"])
def test_a_mixture_comes_back_to_the_bit(tmp_path: Path, hedger: Any, way: str) -> None:
    one = busy(hedger, shared=way == "pickle")
    if way == "file":
        one.save(tmp_path / "state.json")
        two = Mixture.load(tmp_path / "state.json")
        two.save(tmp_path / "again.json")
        assert (tmp_path / "state.json").read_text() == (tmp_path / "again.json").read_text()
    else:
        two = pickle.loads(pickle.dumps(one))
    assert one.recipe == two.recipe
    assert one.bound() == two.bound()
    for mixture in (one, two):
        for ticket in list(mixture.pending):
            mixture.update(ticket, [0.25, 0.5])
    said = {name: [1.0, float(k)] for k, name in enumerate("abcdef")}
    for k in range(3):
        made = [mixture.predict(said) for mixture in (one, two)]
        np.testing.assert_array_equal(made[0].value, made[1].value)
        for mixture, prediction in zip((one, two), made, strict=True):
            mixture.update(prediction.ticket, [0.0, float(k)])
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one.games, name), getattr(two.games, name))


def test_every_hedger_can_be_read() -> None:
    assert {type(hedger).__name__ for hedger in EVERY.values()} == KINDS.keys() - {"Automatic"}


def change(path: Path, **changes: Any) -> None:
    path.write_text(sealed({**json.loads(path.read_text()), **changes}))


def test_a_file_whose_ledger_is_not_of_its_hedger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    busy(named("squint", alpha=0.1)).save(path)
    written = json.loads(path.read_text())
    del written["checksum"]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"commons": [[1.0]]}, "commons must have shape"),
        ({"ledgers": [written["ledgers"][0][:-1]]}, "ledgers must have shape"),
        ({"version": 1, "regrets": [[0.0] * 4]}, "'checksum' is not an entry of version 1"),
        ({"recipe": written["recipe"] | {"hedger": {"kind": "AdaHedge"}}}, "must have shape"),
        ({"recipe": written["recipe"] | {"hedger": {"kind": "MLPoly"}}}, "its weights are not"),
        ({"ledgers": [[*written["ledgers"][0][:-1], [-1e9] * 4]]}, "its weights are not"),
    ]
    for changes, word in cases:
        path.write_text(json.dumps(written))
        change(path, **changes)
        with pytest.raises(ValueError, match=word):
            Mixture.load(path)


def test_a_file_of_version_1_is_read() -> None:
    mixture = Mixture.load(Path(__file__).parent / "data" / "mixture-1.json")
    for ticket in list(mixture.pending):
        mixture.update(ticket, [0.25, 0.5])
    expected = [  # what the version before went on with
        [0.18051605636440354, 0.7097840478992649, 0.1096998957363317],
        [0.12033051151479088, 0.3277049106263739, 0.5519645778588352],
    ]
    np.testing.assert_allclose(mixture.weights, expected, rtol=1e-12)


# Ranges that double


def halved(hedger: Any, state: Any) -> Any:
    """Return the state were all gains so far half as large, as the core sees it."""
    arrays = state.weights.copy(), state.ledger.copy(), state.totals.copy()
    hedger._engine.halve(*arrays)
    return state._replace(weights=arrays[0], ledger=arrays[1], totals=arrays[2])


@all_of_them
def test_halving_the_past(hedger: Any) -> None:
    rng = np.random.default_rng(2)
    gains = rng.uniform(-1.0, 1.0, (80, 5))
    one = hedger.run(gains[:40]).state
    two = halved(hedger, one)
    np.testing.assert_array_equal(two.regrets, 0.5 * one.regrets)
    assert two.weights.min() >= 0.0
    assert two.weights.sum() == pytest.approx(1.0)
    if not hedger.free_of_scale or hedger.has_potential or "time" in hedger.total_names:
        return
    np.testing.assert_allclose(two.weights, one.weights, rtol=1e-9, atol=1e-12)
    for row in gains[40:]:
        one, two = hedger.step(one, row), hedger.step(two, 0.5 * row)
        np.testing.assert_allclose(two.weights, one.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("eta", [0.5, 2.0])
@pytest.mark.parametrize("name", ["hedge-fixed", "optimistic-hedge"])
def test_halving_the_past_is_doubling_the_rate(name: str, eta: float) -> None:
    gains = np.random.default_rng(2).uniform(-1.0, 1.0, (60, 5))
    hedger = dataclasses.replace(EVERY[name], eta=eta)
    double: Any = dataclasses.replace(hedger, eta=2.0 * eta)
    one = hedger.run(gains[:30]).state
    two = halved(double, one)  # the state knows nothing of the rate
    np.testing.assert_allclose(two.weights, one.weights, rtol=1e-9)
    for row in gains[30:]:
        one, two = hedger.step(one, row), double.step(two, 0.5 * row)
        np.testing.assert_allclose(two.weights, one.weights, rtol=1e-9)


def test_halving_the_past_of_those_that_remember_weights() -> None:
    gains = np.random.default_rng(2).uniform(-1.0, 1.0, (30, 5))
    hedger: Any = FixedShare(2.0, 1e-300)  # that is Hedge
    one, two = hedger.run(gains).state, FixedShare(1.0, 1e-300).run(gains).state
    np.testing.assert_allclose(halved(hedger, one).weights, two.weights, rtol=1e-9)


@pytest.mark.parametrize("hedger", NEVER.values(), ids=NEVER.keys())
def test_rows_grow_as_their_exponents_say(hedger: Any) -> None:
    """Two rounds of tiny gains, and of half of them, from the start."""
    gains = np.array([[1e-4, -2e-4, 3e-5], [2e-4, -1e-4, 8e-5]])
    start = hedger.init(3)
    first, totals = start.ledger, start.totals
    halved = 1.0 - 0.5 * (1.0 - gains) if hedger.by_losses else 0.5 * gains
    whole, half = (hedger.run(sized).state for sized in (gains, halved))
    names = hedger.row_names + hedger.total_names
    degrees = [hedger.scaling_exponents.get(name, 1) for name in names]
    assert set(hedger.scaling_exponents) <= {*names, "weights"}
    own = len(first) - len(hedger.row_names)
    pairs = [
        *zip(whole.ledger[own:] - first[own:], half.ledger[own:] - first[own:], strict=True),
        *zip(whole.totals - totals, half.totals - totals, strict=True),
    ]
    for (large, small), degree in zip(pairs, degrees, strict=True):
        np.testing.assert_allclose(small, 0.5**degree * large, rtol=2e-3, atol=1e-13)


@each
def test_ranges_double_on_the_way(hedger: Any) -> None:
    rng = np.random.default_rng(0)
    mixture, heard, doubled = Mixture(hedger, "absolute"), np.zeros(3), 0
    for t in range(80):
        made = mixture.predict(
            {name: rng.normal() * 4.0**k * 1.3**t for k, name in enumerate("abc")}
        )
        heard += made.distribution[0]
        before = (mixture.ranges[0, 0], mixture.regrets[0].copy())
        mixture.update(made.ticket, 0.0)
        if before[0] and mixture.ranges[0, 0] == 2.0 * before[0]:
            rise = mixture.regrets[0] - (1.0 - hedger.alpha) * 0.5 * before[1]
            assert np.abs(rise).max() <= 2.0 + 1e-12
            doubled += 1
        assert mixture.weights.sum() == pytest.approx(1.0)
    assert doubled >= 3
    assert heard[0] > heard[2] or hedger == Uniform(alpha=0.1)


# What is promised


def test_bounds_of_mixtures_say_what_is_known() -> None:
    def played(hedger: Any, *, late: bool = False, **options: Any) -> str:
        mixture = Mixture(hedger, **options)
        for t in range(10):
            names = "abc" if t > 5 and late else "ab"
            made = mixture.predict({name: float(k + t) for k, name in enumerate(names)})
            mixture.update(made.ticket, 0.0)
        bound = mixture.bound()
        assert not bound or mixture.summary().regret <= bound.regret
        return str(bound)

    assert "de Rooij et al. 2014, AdaHedge" in played("ada-hedge")
    assert "AdaHedge where experts join later" in played("ada-hedge", late=True)
    assert "Blackwell" in played("regret-matching", late=True)
    assert "Squint with a discount" in played("squint")
    assert "the range of losses is learned" in played("squint:alpha=0")
    assert "improper prior" in played("squint:alpha=0", loss=KNOWN)
    assert "improper prior" in played("squint:alpha=0", loss=KNOWN, late=True)
    assert "regret <= " in played("normal-hedge", late=True)


def test_a_report_of_a_state() -> None:
    mixture = busy(named("regret-matching", alpha=0.1))
    hedger: Any = mixture.recipe.hedger
    text = str(hedger.report(mixture.state()))
    assert "RegretMatching(alpha=0.1)" in text
    assert "never above" in text
    assert "average potential" not in text
    assert "or it was not kept" in text  # a mixture does not know its last gain
    assert "no theorem" in str(EVERY["squint"].report(EVERY["squint"].init(3)))


# Names


def test_names_tuned_by_the_number_of_experts() -> None:
    table = wide(30)
    result = blend(pa.table(table), "y", ["gam", "ar", "naive"], hedger="hedge", include="mean")
    assert result.mixture.recipe.hedger == named("hedge", 4, alpha=0.05)
    long = pd.DataFrame(table).melt(
        ["ds", "unique_id", "y"], var_name="model", value_name="forecast"
    )
    for models in (long, long.astype({"model": "category"})):
        again = blend(models, "y", by="unique_id", hedger="fixed-share", include=iter(["mean"]))
        assert again.mixture.recipe.hedger == named("fixed-share", 4, alpha=0.05)
        assert again.mixture.names == ["(mean)", *dict.fromkeys(long.model)]
    with pytest.raises(ValueError, match="hedge needs n_experts, as in hedge:n_experts="):
        Mixture("hedge")
    with pytest.raises(ValueError, match="hedge-fixed needs eta"):
        blend(pa.table(table), "y", hedger="hedge-fixed")
    assert Mixture("normal-hedge:memory=50").recipe.hedger == NormalHedge(memory=50)
    assert Mixture("squint:alpha=0").recipe.hedger == named("squint", alpha=0.0)


@pytest.mark.parametrize("name", ["squint", "hedge-fixed:eta=0.3", "ml-prod:alpha=0"])
def test_a_stream_by_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    said = [{"forecasts": {"a": 1.0 * t, "b": 2.0, "c": 0.5}} for t in range(6)]
    settled: list[dict[str, Any]] = [{}, *({"ticket": t, "outcome": 1.0} for t in range(5))]
    lines = [json.dumps(one | other) for one, other in zip(said, settled, strict=True)]
    expected = list(Stream(Mixture(name)).answers(lines))
    state, found = tmp_path / "state.json", []
    for part in (lines[:3], lines[3:]):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(part)))
        code, out, _ = call(capsys, "blend", "-", "--hedger", name, "--state", str(state))
        assert code == 0
        found += [json.loads(line)["prediction"] for line in out.splitlines()]
    assert found == [answer["prediction"] for answer in expected]


def test_the_command_continues_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    frame = pd.DataFrame(wide(60))
    data, state = write(tmp_path / "data.csv", frame), tmp_path / "state.json"
    words = [str(data), "--target", "y", "--state", str(state), "--hedger"]
    for name in ("optimistic-hedge", "hedge:memory=30", "squint"):
        code, _, errors = call(capsys, "blend", *words, name)
        if name == "hedge:memory=30":
            assert code == 2
            assert "unknown setting of hedge, 'memory'" in errors
            continue
        if name == "squint":
            assert code == 2
            assert "was made with another hedger" in errors
            continue
        more = frame.assign(ds=frame.ds + 60, late=1.0)  # one expert more: tuned by three it stays
        code, _, _ = call(
            capsys, "blend", str(write(tmp_path / "more.csv", more)), *words[1:], name
        )
        assert code == 0
        code, out, _ = call(capsys, "blend", *words, name, "--memory", "20")
        assert code == 0
        assert "OptimisticHedge" in out
    for name, sentence in [
        ("sqint", "did you mean squint"),
        ("squint:eta=1", "unknown setting of squint, 'eta'"),
        ("hedge-fixed", "hedge-fixed needs eta"),
        ("squint:alpha=2", "alpha must be"),
    ]:
        code, out, errors = call(capsys, "blend", str(data), "--hedger", name)
        assert code == 2
        assert sentence in errors
        assert out == ""
    code, _, errors = call(capsys, "blend", "-", "--hedger", "hedge")
    assert code == 2
    assert "hedge needs n_experts, as in hedge:n_experts=" in errors
