"""Regimes in files and copies: they go on to the bit, and what is damaged is refused."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge._sealed import sealed
from normalhedge.latent import Regimes
from tests.test_gaps import Plain

KINDS = ("gaussian", "student", "autoregressive", "poisson", "negative_binomial", "categorical",
         "diagonal", "full")  # fmt: skip


def series(kind: str, rounds: int = 260, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    state = np.cumsum(rng.random(rounds) < 0.03) % 2
    seen = rng.normal(2.0 * state, 1.0 + state)
    if kind in {"poisson", "negative_binomial"}:
        seen = rng.poisson(2.0 + 5.0 * state).astype(float)
    elif kind == "categorical":
        seen = ((rng.random(rounds) < 0.2 + 0.6 * state) + (rng.random(rounds) < 0.1)).astype(float)
    elif kind in {"diagonal", "full"}:
        seen = rng.normal(state[:, np.newaxis], 1.0 + state[:, np.newaxis], (rounds, 2))
    seen[rng.random(rounds) < 0.05] = np.nan
    return seen


def made(kind: str, **options: Any) -> Regimes:
    symbols = 3 if kind == "categorical" else None
    return Regimes(kind, (1, 2, 3), symbols=symbols, **options)


def bits(regimes: Regimes) -> list[Any]:
    """All that can be asked, in bytes."""
    ahead = regimes.forecast(3)
    plain = [regimes.weights, regimes.probabilities, ahead.means, ahead.probabilities]
    return [
        *(part.tobytes() for part in plain),
        regimes.rounds,
        repr(regimes),
        repr(regimes.history),
        regimes.candidates(),
        regimes._rng.bit_generator.state,
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["file", "pickle", "copy"])
def test_what_was_kept_goes_on_to_the_bit(kind: str, way: str, tmp_path: Path) -> None:
    seen = series(kind)
    one = made(kind)
    one.run(seen[:123])
    for row in seen[123:137]:
        one.observe(row)
    if way == "file":
        one.save(tmp_path / "s.json")
        other = Regimes.load(tmp_path / "s.json")
    else:
        other = pickle.loads(pickle.dumps(one)) if way == "pickle" else copy.deepcopy(one)
    assert bits(one) == bits(other)
    assert any(c.online is not None for c in other._slate.candidates)  # type: ignore[union-attr]
    for row in seen[137:210]:
        one.observe(row)
        other.observe(row)
        assert one.weights.tobytes() == other.weights.tobytes()
    went = [regimes.run(seen[210:]).log_scores.tobytes() for regimes in (one, other)]
    assert went[0] == went[1]
    assert bits(one) == bits(other)
    if way == "file":
        one.save(tmp_path / "one.json")
        other.save(tmp_path / "other.json")
        texts = [(tmp_path / f"{name}.json").read_text() for name in ("one", "other")]
        assert len(texts[0]) == len(texts[1])


@pytest.mark.parametrize("rounds", [0, 1, 3, 4, 5, 49, 50, 51])
def test_early_rounds_are_kept(rounds: int, tmp_path: Path) -> None:
    seen = series("gaussian", 120)
    one = Regimes()
    for row in seen[:rounds]:
        one.observe(row)
    one.save(tmp_path / "s.json")
    other = Regimes.load(tmp_path / "s.json")
    for row in seen[rounds:]:
        one.observe(row)
        other.observe(row)
    assert bits(one) == bits(other)


def test_other_hedgers_and_generators(tmp_path: Path) -> None:
    seen = series("gaussian", 120)
    for name in ("MT19937", "Philox", "SFC64", "PCG64DXSM"):
        rng = np.random.Generator(getattr(np.random, name)(3))
        one = Regimes(hedger=NormalHedge(memory=100), rng=rng)
        one.run(seen[:60])
        one.save(tmp_path / "s.json")
        other = Regimes.load(tmp_path / "s.json")
        one.run(seen[60:])
        other.run(seen[60:])
        assert one.weights.tobytes() == other.weights.tobytes()


def test_a_hedger_of_your_own_cannot_be_written(tmp_path: Path) -> None:
    class Own(NormalHedge):
        pass

    regimes = Regimes(hedger=Own(memory=50))
    regimes.run(series("gaussian", 60))
    with pytest.raises(ValueError, match="Own is a class of your own"):
        regimes.save(tmp_path / "s.json")
    assert not list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="join and leave"):
        Regimes(hedger=Plain())


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    regimes = Regimes()
    regimes.run(series("gaussian", 90))
    path = tmp_path_factory.mktemp("kept") / "s.json"
    regimes.save(path)
    return path.read_text()


def test_damaged_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    rng = np.random.default_rng(1)
    for place in rng.integers(len(text), size=60).tolist():
        for changed in (text[:place], text[:place] + "7" + text[place + 1 :] if text[place] != "7"
                        else text[:place] + "8" + text[place + 1 :]):  # fmt: skip
            path.write_text(changed)
            with pytest.raises(ValueError, match=r"s\.json "):
                Regimes.load(path)
    for wrong, word in {
        "": "not a whole JSON file",
        "[" * 100_000: "nested too deeply",
        "[]": "does not hold regimes",
        '{"format": "normalhedge mixture"}': "does not hold regimes",
        '{"format": "normalhedge regimes", "version": 9}': "has version 9",
        '{"format": "normalhedge regimes", "version": 1}': "checksum",
    }.items():
        path.write_text(wrong)
        with pytest.raises(ValueError, match=word):
            Regimes.load(path)
    with pytest.raises(ValueError, match="there is no file"):
        Regimes.load(tmp_path / "none.json")
    with pytest.raises(ValueError, match="is a folder"):
        Regimes.load(tmp_path)


def edited(content: dict[str, Any], rng: np.random.Generator) -> None:
    """Change one thing in a file of regimes."""
    objects = content["objects"]
    one = objects[rng.integers(len(objects))]
    junk: list[Any] = [
        None,
        -1,
        1e300,
        "x",
        {"at": 0},
        {"at": 10**9},
        {"float": "nan"},
        [],
        {},
        True,
    ]
    value = junk[rng.integers(len(junk))]
    if "of" in one and rng.random() < 0.8:
        names = list(one["of"])
        name = names[rng.integers(len(names))] if names else "x"
        if rng.random() < 0.2:
            one["of"].pop(name, None)
        else:
            one["of"][name] = value
    elif "shape" in one and rng.random() < 0.6:
        one["shape"] = [[0], [10**12], [-1, 2], [1, 1], "x"][rng.integers(5)]
    else:
        keys = list(one)
        one[keys[rng.integers(len(keys))]] = value


def test_forged_files_are_refused_or_harmless(text: str, tmp_path: Path) -> None:
    path, rng = tmp_path / "s.json", np.random.default_rng(5)
    refused = 0
    for _ in range(150):
        content = json.loads(text)
        content.pop("checksum")
        edited(content, rng)
        path.write_text(sealed(content))
        said = ""
        try:
            Regimes.load(path)
        except ValueError as error:
            said = str(error)
        refused += bool(said)
        assert "\n" not in said
        assert len(said) < 2000
    assert refused > 75


def test_a_chain_of_objects_is_refused(text: str, tmp_path: Path) -> None:
    content = json.loads(text)
    content.pop("checksum")
    content["objects"] = [{"list": [{"at": k + 1}]} for k in range(50_000)] + [{"list": []}]
    content["root"] = {"at": 0}
    path = tmp_path / "s.json"
    path.write_text(sealed(content))
    with pytest.raises(ValueError, match="do not fit together"):
        Regimes.load(path)
    content["objects"] = [{"list": [{"at": 0}]}]
    path.write_text(sealed(content))
    with pytest.raises(ValueError, match="contains itself"):
        Regimes.load(path)


def test_forecasts_go_to_the_long_run() -> None:
    regimes = Regimes("gaussian", (2,))
    regimes.run(series("gaussian", 410))
    ahead = regimes.forecast(600)
    assert len(ahead) == 600
    np.testing.assert_allclose(ahead.probabilities.sum(axis=1), 1.0)
    assert ahead.means[0] == pytest.approx(regimes.predict().mean)
    assert ahead.switching[0] == pytest.approx(regimes.switching)
    assert ahead.means[599] == pytest.approx(ahead.means[598], abs=1e-6)
    low, high = ahead.interval(0.8)[0]
    assert ahead[0].cdf(high) - ahead[0].cdf(low) == pytest.approx(0.8, abs=1e-6)
    assert "600 rounds" in repr(ahead)
    for wrong in (0, -1, 1.5, 10**6):
        with pytest.raises((ValueError, TypeError), match="rounds must be"):
            regimes.forecast(wrong)  # type: ignore[arg-type]


def test_forecasts_before_anything_is_known() -> None:
    ahead = Regimes().forecast(2)
    assert np.isnan(ahead.means).all()
    assert (ahead.states == -1).all()


def test_autoregressive_forecasts_agree_with_draws() -> None:
    regimes = Regimes("autoregressive", (2,))
    regimes.run(series("autoregressive", 200))
    lineup = regimes._lineup
    assert lineup is not None
    ahead = regimes.forecast(4)
    rng, rounds = np.random.default_rng(0), 20_000
    drawn = np.zeros((4, rounds))
    beliefs, place = lineup.predicted(), rng.choice(len(regimes.weights), rounds, p=regimes.weights)
    for n in np.unique(place):
        candidate, mine = lineup.candidates[n], np.flatnonzero(place == n)
        k = candidate.recipe.states
        chances = np.repeat(beliefs[n, None, :k], len(mine), axis=0)
        last = np.full(len(mine), regimes._previous[0])
        for step in range(4):
            steps = np.cumsum(chances, axis=1)
            state = np.minimum((rng.random((len(mine), 1)) >= steps).sum(axis=1), k - 1)
            emission: Any = candidate.emission
            noise = np.sqrt(emission.variances_after(last)[np.arange(len(mine)), state])
            last = emission.means_after(last)[np.arange(len(mine)), state] + noise * rng.normal(
                size=len(mine)
            )
            drawn[step, mine] = last
            chances = candidate.transition[state]
    deviations = np.sqrt([said.variance for said in ahead])
    np.testing.assert_allclose(ahead.means, drawn.mean(axis=1), atol=5 * deviations.max() / 141)
    np.testing.assert_allclose(deviations, drawn.std(axis=1), rtol=0.03)
