"""Regimes in files: restored to the bit, and refused when damaged."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.latent import Regimes
from normalhedge.latent.models.emissions import FAMILIES
from normalhedge.latent.regimes import _series_models
from normalhedge.latent.regimes._recipes import hidden_only
from normalhedge.live.sealed_file import sealed
from tests.latent.regimes.examples import bits, series
from tests.test_own_hedgers import Own as WithoutJoin


def made(kind: str, **options: Any) -> Regimes:
    symbols = 3 if kind == "categorical" else None
    return Regimes(kind, (1, 2, 3), symbols=symbols, **options)


@pytest.mark.parametrize("kind", FAMILIES)
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
    assert any(c.online is not None for c in hidden_only(other._state.pool.candidates))
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


@pytest.mark.parametrize("kind", ["gaussian", "poisson", "full"])
def test_fits_that_were_begun_go_on_after_a_file(kind: str, tmp_path: Path) -> None:
    seen = series(kind, 420)
    one, whole = made(kind), made(kind)
    whole.run(seen)
    pending, wanted = 0, 103
    for row in seen:
        one.observe(row)
        if one._state.observed == wanted:  # in the middle of a review, and at other times
            pending += bool(one._state.pending)
            one.save(tmp_path / "s.json")
            one = Regimes.load(tmp_path / "s.json")
            wanted += 7
    assert pending > 5
    assert bits(one)[:4] == bits(whole)[:4]


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


WENT = {
    "gaussian": [-45.11945581676827, 0.7822342807483481, 0.5411446274057912, 1.0],
    "categorical": [-21.07708495609723, 0.842600748350556, 0.782276452349268, 1.0],
    "full": [-89.97368602462677, 0.18245829943154906, 0.5346980809263215, 1.0],
}
"""How files of version 1 went on in 0.2.0, before their next review: log score, mean, largest
weight, first regime."""


WENT_2 = {
    "gaussian": [-11.762676350180191, 0.7822342807483481, 0.5411446274057912, 1.0],
    "full": [-24.65469431100143, 0.18245829943154906, 0.5346980809263215, 1.0],
    "categorical": [-4.532915161134515, 0.842600748350556, 0.782276452349268, 1.0],
    "poisson": [-10.582729200339262, 2.143697015866672, 0.4862516366273075, 0.15098569710898413],
    "autoregressive": [-9.96240274893225, 0.8143075027771141, 0.5959230593611878, 1.0],
}
"""How files of version 2 went on, until their next review."""


@pytest.mark.parametrize("kind", WENT_2)
def test_files_of_version_2_go_on_as_they_did(kind: str, tmp_path: Path) -> None:
    one = Regimes.load(Path(__file__).parent / "version_2" / f"{kind}.json")
    assert one.rounds == 119
    one.save(tmp_path / "s.json")
    other = Regimes.load(tmp_path / "s.json")
    assert bits(one) == bits(other)
    one.run(series(kind)[119:140])
    course = one.run(series(kind)[140:149])
    found = [
        np.nansum(course.log_scores),
        np.ravel(one.predict().mean)[0],
        one.weights.max(),
        one.probabilities[0],
    ]
    np.testing.assert_allclose(found, WENT_2[kind], rtol=1e-7)


@pytest.mark.parametrize("kind", WENT)
def test_files_of_version_1_go_on_as_they_did(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_series_models, "TRIED", {})  # they join at a review, and came later
    one = Regimes.load(Path(__file__).parent / "version_1" / f"{kind}.json")
    assert one.rounds == 119
    one.save(tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text())["version"] == 3
    other = Regimes.load(tmp_path / "s.json")
    assert bits(one) == bits(other)
    course = one.run(series(kind)[119:149])
    found = [
        np.nansum(course.log_scores),
        np.ravel(one.predict().mean)[0],
        one.weights.max(),
        one.probabilities[0],
    ]
    np.testing.assert_allclose(found, WENT[kind], rtol=1e-6)


def test_damaged_files_of_version_1_are_refused(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "version_1" / "gaussian.json").read_text()
    path, rng, refused = tmp_path / "s.json", np.random.default_rng(6), 0
    for _ in range(60):
        content = json.loads(text)
        content.pop("checksum")
        edited(content, rng)
        path.write_text(sealed(content))
        try:
            Regimes.load(path)
        except ValueError:
            refused += 1
    assert refused > 20


def test_a_hedger_of_your_own_cannot_be_written(tmp_path: Path) -> None:
    class Own(NormalHedge):
        pass

    regimes = Regimes(hedger=Own(memory=50))
    regimes.run(series("gaussian", 60))
    with pytest.raises(ValueError, match="Own is a class of your own"):
        regimes.save(tmp_path / "s.json")
    assert not list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="join and leave"):
        Regimes(hedger=WithoutJoin())


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
