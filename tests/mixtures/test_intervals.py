"""Intervals of a mixture: `Conformal` puts them around the blend, whatever happens in between."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.live import sealed_file
from normalhedge.mixtures.intervals import Conformal
from normalhedge.mixtures.streams._stream import Stream
from tests.mixtures.saved_examples import refused, version_4
from tests.rules import either
from tests.torture.snapshot import difference, snapshot

LEVELS = (0.5, 0.9)


def forecasts(rng: np.random.Generator, keys: list[str]) -> dict[str, dict[str, float]]:
    return {name: {key: float(rng.normal()) for key in keys} for name in ("a", "b", "c")}


def busy(seed: int = 0, **options: Any) -> Mixture:
    """Return a mixture of several items with rounds that wait."""
    rng = np.random.default_rng(seed)
    mixture = Mixture(interval=LEVELS, season=3, **options)
    for t in range(40):
        keys = ["x", "y"] if t % 3 else ["y"]
        made = mixture.predict(forecasts(rng, keys))
        if t % 4:
            mixture.update(made.ticket, {key: float(rng.normal()) for key in keys})
    return mixture


@either
def test_intervals_are_those_of_conformal_around_the_blend(hedger: str | None) -> None:
    # Outcomes come late and in any order, items come and go, some rows have no expert awake.
    rng = np.random.default_rng(1)
    conformal = Conformal(LEVELS, 5)
    games, seen = conformal.init(3), {"x": 0, "y": 0, "z": 0}
    mixture, waiting = Mixture(hedger, interval=(0.9, 0.5), season=5), []
    for t in range(200):
        keys = [key for key in ("y", "x", "z") if rng.random() < 0.8] or ["x"]
        said = forecasts(rng, keys)
        if rng.random() < 0.1:
            said = {name: dict.fromkeys(keys, np.nan) for name in said}
        made = mixture.predict(said)
        told = {}
        for key in keys:
            center = np.nan if made.value[key] is None else made.value[key]
            told[key] = conformal.predict(games, center, mixture.items.index(key), t), seen[key]
            seen[key] += 1
            for k, level in enumerate(LEVELS):
                pair = [part[key] for part in made.intervals[level]]  # type: ignore[index]
                expected = [told[key][0].low[k], told[key][0].high[k]]
                assert pair == ([None, None] if made.value[key] is None else expected)
        waiting.append((made.ticket, told))
        while len(waiting) > 4 or (waiting and rng.random() < 0.4):
            ticket, then = waiting.pop(int(rng.integers(len(waiting))))
            outcome = {key: float(rng.normal() * 3.0) for key in list(then)[: rng.integers(1, 4)]}
            mixture.update(ticket, outcome)
            for key, y in outcome.items():
                token, number = then[key][0].token, then[key][1]
                place, late = mixture.items.index(key), seen[key] - number - 1
                games = conformal.observe(games, token, y, place, late)
    np.testing.assert_array_equal(mixture.live.intervals, games[: len(mixture.items)])
    assert [share for _, share, _ in mixture.covered()] == pytest.approx(LEVELS, abs=0.1)


def test_forms_of_intervals() -> None:
    mixture = Mixture(interval=0.9)
    for outcome in range(3):
        made = mixture.predict({"a": [1.0, 2.0], "b": [3.0, 5.0]})
        mixture.update(made.ticket, [float(outcome), 4.0])
    assert made.intervals is not None
    low, high = made.intervals[0.9]
    assert made.interval == (low, high)
    assert isinstance(low, np.ndarray)
    assert (low < made.value).all()
    assert (made.value < high).all()
    several = Mixture(interval=LEVELS)
    made = several.predict({"a": 1.0})
    assert made.intervals == {0.5: (-np.inf, np.inf), 0.9: (-np.inf, np.inf)}
    assert made.interval == (-np.inf, np.inf)
    plain = Mixture().predict({"a": 1.0})
    assert plain.intervals is None
    assert plain.interval is None


def test_quantiles_are_corrected() -> None:
    levels, rng = (0.05, 0.25, 0.5, 0.75, 0.95), np.random.default_rng(2)
    mixture = Mixture(loss="crps:levels=0.05/0.25/0.5/0.75/0.95", interval=LEVELS)
    conformal = Conformal(LEVELS, quantiles=True)
    games = conformal.init()
    for t in range(100):
        said = {name: np.sort(rng.normal(size=len(levels))).tolist() for name in "ab"}
        made = mixture.predict(said)
        q = made.value
        told = conformal.predict(games, [[q[1], q[3]], [q[0], q[4]]], moment=t)
        assert made.intervals == {
            level: (told.low[k], told.high[k]) for k, level in enumerate(LEVELS)
        }
        y = float(rng.normal() * 2.0)
        mixture.update(made.ticket, y)
        games = conformal.observe(games, told.token, y)


def test_a_peek_changes_nothing() -> None:
    mixture = busy()
    before = snapshot(mixture)
    said = forecasts(np.random.default_rng(9), ["x", "new"])
    seen = mixture.peek(said).intervals
    assert difference(snapshot(mixture), before) is None
    assert mixture.predict(said).intervals == seen


def test_copies_pickles_and_files_go_on_alike(tmp_path: Path) -> None:
    mixture = busy()
    mixture.predict({"a": {"x": np.nan, "z": 2.0}})  # without a forecast, and without a scale
    mixture.save(tmp_path / "m.json")
    others = [
        Mixture.load(tmp_path / "m.json"),
        pickle.loads(pickle.dumps(mixture)),
        mixture.__copy__(),
    ]
    for other in others:
        assert difference(snapshot(other, history=False), snapshot(mixture, history=False)) is None
        for ticket, one in list(other.pending.items()):
            other.update(ticket, dict.fromkeys(one.keys or (), 1.0))
    for ticket, one in list(mixture.pending.items()):
        mixture.update(ticket, dict.fromkeys(one.keys or (), 1.0))
    for other in others:
        assert difference(snapshot(other, history=False), snapshot(mixture, history=False)) is None


def test_experts_that_come_and_go_leave_the_intervals_alone() -> None:
    mixture = busy()
    before = mixture.intervals
    mixture.rename("a", "d")
    mixture.join(["e"])
    mixture.inherit("f", "d")
    mixture.retire("b")
    mixture.leave("c")
    assert mixture.intervals is before


def test_expired_rounds_have_no_tokens() -> None:
    mixture = Mixture(interval=0.9, max_pending=2)
    for _ in range(5):
        made = mixture.predict({"a": 1.0})
    assert all(one.tokens is not None for one in mixture.pending.values())
    mixture.update(made.ticket, 2.0)
    assert mixture.expired == 3


def test_an_outcome_that_is_refused_changes_nothing() -> None:
    mixture = busy(loss=lambda x, y: np.full_like(x, np.nan) if y > 100.0 else (x - y) ** 2)
    ticket, before = next(iter(mixture.pending)), snapshot(mixture)
    with pytest.raises(ValueError, match="finite"):
        mixture.update(ticket, {"y": 101.0})
    assert difference(snapshot(mixture), before) is None


TAMPERED: list[tuple[str, Any, str]] = [
    ("levels", [0.9, 0.5], "rise"),
    ("levels", [0.5], "shape"),
    ("levels", "x", "list"),
    ("season", 1, "season"),
    ("season", "x", "season"),
    ("games", [[0.0]], "games"),
    ("predicted", [-1, 0], "predicted"),
    ("predicted", [0, 0], "earlier rounds"),
    ("tokens", [], "tokens"),
    ("tokens", [[0, [[1.0]]]], "tokens"),
    ("tokens", [[True, []]], "pending round"),
]


@pytest.mark.parametrize(("name", "value", "word"), TAMPERED)
def test_intervals_in_a_file_are_checked(tmp_path: Path, name: str, value: Any, word: str) -> None:
    path = tmp_path / "m.json"
    busy(hedger="auto:inside=true").save(path)  # as version 4 had it
    found = version_4(json.loads(path.read_text()))
    found["intervals"][name] = value
    assert word in refused(path, sealed(found))


def sealed(found: dict[str, Any]) -> str:
    return sealed_file.sealed({k: v for k, v in found.items() if k != "checksum"})


def test_numbers_in_a_file_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    busy(hedger="auto:inside=true").save(path)  # as version 4 had it
    text = json.dumps(version_4(json.loads(path.read_text())))
    memory = busy().intervals
    assert memory is not None
    first = memory.conformal.sizes[0] - 2 * (memory.conformal._sizes[2])
    for place, value, word in ((0, None, "games"), (first, -1.0, "counts"), (0, "x", "games")):
        found = json.loads(text)
        found["intervals"]["games"][0][place] = value
        assert word in refused(path, sealed(found))
    for place, value, word in ((0, 3, "phase"), (1, 2, "phase"), (-2, None, "numbers")):
        found = json.loads(text)
        found["intervals"]["tokens"][-1][1][0][place] = value
        assert word in refused(path, sealed(found))
    found = json.loads(text)
    del found["intervals"]["season"]
    assert "season" in refused(path, sealed(found))


def test_a_stream_answers_with_intervals() -> None:
    stream = Stream(Mixture(interval=LEVELS))
    lines = ['{"a": 1.0, "b": 2.0}', '{"ticket": 0, "outcome": 1.0}', '{"a": 2.0, "b": 3.0}']
    first, _, second = stream.answers(lines)
    assert first["interval"] == {"0.5": [None, None], "0.9": [None, None]}
    low, high = second["interval"]["0.9"]
    assert low < second["prediction"] < high
    several = Stream(Mixture(interval=0.9)).answers(['{"a": {"x": 1}}'])
    assert next(several)["interval"] == {"0.9": [{"x": None}, {"x": None}]}


def test_the_summary_tells_the_coverage() -> None:
    assert "50 % interval covers" in str(busy().summary())
    assert "no outcome counted yet" in str(Mixture(interval=0.975).summary())
    assert "interval covers" not in str(Mixture().summary())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"loss": "log"}, "not for class probabilities"),
        ({"loss": "zero-one"}, "not for labels"),
        ({"loss": "log-wealth"}, "not for portfolios"),
        ({"loss": "crps:levels=0.1/0.9"}, "needs the quantile of level 0.05"),
        ({"loss": "crps:levels=0.05/0.5"}, "needs the quantile of level 0.95"),
        ({"interval": 90}, "interval must be strictly between 0 and 1, got 90"),
        ({"interval": ()}, "interval must have at least one level"),
        ({"interval": (0.9, 0.9)}, "interval must differ"),
        ({"interval": None, "season": 7}, "give interval, too"),
        ({"season": 1}, "season must be at least 2 rounds"),
    ],
)
def test_what_has_no_intervals(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Mixture(**{"interval": 0.9, **options})
