"""Files that are read entry by entry: earlier versions, and edited files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.hedgers import named
from normalhedge.live.sealed_file import sealed
from normalhedge.mixtures.files._schema import KINDS, VERSION, entries_of, write_mixture
from normalhedge.mixtures.rules import Automatic, levels_of
from normalhedge.mixtures.rules._automatic import _engine_of
from tests.mixtures.examples import busy_mixture, fed
from tests.mixtures.hedger_examples import EVERY, busy_with
from tests.mixtures.saved_examples import busy_file, of_a_table, refused, version_2, version_4
from tests.rules import either


def edit_file(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change a file as version 4 had it, with lists in place of text."""
    found = version_4(json.loads(path.read_text()))
    edit(found)
    path.write_text(sealed(found))


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (lambda f: f.update(version=VERSION + 1), f"has version {VERSION + 1}"),
        (lambda f: f["loss_regrets"][0].pop(), "loss_regrets must have shape"),
        (lambda f: f.pop("loss_regrets"), "'loss_regrets' is missing"),
        (lambda f: f["delays"][0].__setitem__(0, -1.0), "delays must lie in"),
        (lambda f: f.update(left=-1), "left must be a whole number"),
        (lambda f: f.update(seeded=1), "seeded must be true or false"),
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
        (lambda f: f["recipe"]["hedger"].update(kind="X"), "its hedger must be one of"),
        (lambda f: f["recipe"]["loss"].update(name="mine"), "must be one of absolute"),
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
    busy_mixture().save(path)
    edit_file(path, edit)
    with pytest.raises(ValueError, match=word):
        Mixture.load(path)


def of_classes(start: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "y": [0, 0, 1, 1],
            "time": [start, start, start + 1, start + 1],
            "model": ["a", "b"] * 2,
            "p": [0.5, 0.2, 0.5, 0.2],
            "q": [0.5, 0.8, 0.5, 0.8],
        }
    )


def edit_block(path: Path, **changes: Any) -> None:
    """Change the first block of pending rounds; arrays may be lists."""
    found = json.loads(path.read_text())
    del found["checksum"]
    found["pending"][0] |= changes
    path.write_text(sealed(found))


@either
@pytest.mark.parametrize("outcome", [1e9, -1.0])
def test_a_file_with_outcomes_that_are_no_class(
    tmp_path: Path, outcome: float, hedger: str | None
) -> None:
    path = tmp_path / "state.json"
    made = blend(of_classes(0), "y", classes=["p", "q"], loss="log", lag=1, hedger=hedger).mixture
    made.save(path)
    (due,) = json.loads(path.read_text())["pending"][0]["blend"]
    edit_block(path, blend=[due | {"outcomes": [outcome]}])
    with pytest.raises(ValueError, match=r"must be classes in 0\.\.1"):
        Mixture.load(path)
    values = [[[1.0] * made.live.value_count]]
    edit_block(path, shape=[1, 1, 2], forecasts=[[[[1.0, 1.0]]]], values=values)
    with pytest.raises(ValueError, match="does not fit the loss, with 1 classes"):
        Mixture.load(path)


@either
def test_numbers_in_a_file_have_no_classes(tmp_path: Path, hedger: str | None) -> None:
    mixture, path = Mixture(hedger), tmp_path / "state.json"
    mixture.predict({"a": 1.0, "b": 2.0})
    mixture.save(path)
    values = [[[0.5, 0.5] * mixture.live.value_count]]
    edit_block(path, shape=[1, 2, 2], forecasts=[[[[0.5, 0.5], [0.5, 0.5]]]], values=values)
    with pytest.raises(ValueError, match="does not fit the loss, with 2 classes"):
        Mixture.load(path)


def test_every_hedger_can_be_read() -> None:
    assert {type(hedger).__name__ for hedger in EVERY.values()} == KINDS.keys() - {"Automatic"}


def change_entries(path: Path, **changes: Any) -> None:
    path.write_text(sealed({**json.loads(path.read_text()), **changes}))


def test_a_file_whose_ledger_is_not_of_its_hedger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    busy_with(named("squint", alpha=0.1)).save(path)
    written = version_4(json.loads(path.read_text()))
    cases: list[tuple[dict[str, Any], str]] = [
        ({"commons": [[1.0]]}, "commons must have shape"),
        ({"ledgers": [written["ledgers"][0][:-1]]}, "ledgers must have shape"),
        ({"version": 1, "regrets": [[0.0] * 4]}, "is not an entry of version 1"),
        ({"recipe": written["recipe"] | {"hedger": {"kind": "AdaHedge"}}}, "must have shape"),
        ({"recipe": written["recipe"] | {"hedger": {"kind": "MLPoly"}}}, "its weights are not"),
        ({"ledgers": [[*written["ledgers"][0][:-1], [-1e9] * 4]]}, "its weights are not"),
    ]
    for changes, word in cases:
        path.write_text(json.dumps(written))
        change_entries(path, **changes)
        with pytest.raises(ValueError, match=word):
            Mixture.load(path)


def test_a_file_of_version_1_is_read() -> None:
    mixture = Mixture.load(Path(__file__).parents[1] / "data" / "mixture-1.json")
    for ticket in list(mixture.pending):
        mixture.update(ticket, [0.25, 0.5])
    expected = [  # what the version before went on with
        [0.18051605636440354, 0.7097840478992649, 0.1096998957363317],
        [0.12033051151479088, 0.3277049106263739, 0.5519645778588352],
    ]
    np.testing.assert_allclose(mixture.weights, expected, rtol=1e-12)


HERE = Path(__file__).parents[1]


OLD = [
    HERE / "data" / "mixture-1.json",
    *sorted((HERE / "frozen").glob("saved_v*.json")),
]


@pytest.mark.parametrize("old", OLD, ids=lambda path: path.stem)
def test_earlier_versions_are_read_and_become_the_newest(old: Path, tmp_path: Path) -> None:
    mixture, path = Mixture.load(old), tmp_path / "state.json"
    mixture.save(path)
    again = Mixture.load(path)
    assert json.loads(path.read_text())["version"] == VERSION
    for ticket, waiting in mixture.pending.items():
        for mine, other in zip(waiting, again.pending[ticket], strict=True):
            np.testing.assert_array_equal(mine, other)
    assert (mixture.weights == again.weights).all()


@pytest.mark.parametrize("name", ["auto", "auto_items", "items"])
def test_a_file_of_version_3_goes_on(name: str) -> None:
    """It has no regrets in units of the loss: they begin as those it has, and are bounded."""
    old = HERE / "frozen" / f"saved_v3_{name}.json"
    mixture, found = Mixture.load(old), json.loads(old.read_text())
    np.testing.assert_array_equal(mixture.weights, found["weights"])
    before = mixture.summary()
    assert before.regret <= before.bound.regret
    if name == "items":
        units = 0.5 * mixture.ranges[:, 0]
        np.testing.assert_allclose(
            mixture.live.loss_regrets, units[:, np.newaxis] * mixture.regrets
        )
    if name == "auto":
        levels = levels_of(mixture.live)
        np.testing.assert_allclose(levels.losses, mixture.live.ranges[0, -2] * levels.regrets)
    for ticket, waiting in list(mixture.pending.items()):
        outcome = 0.5 if waiting.keys is None else dict.fromkeys(waiting.keys, 0.5)
        mixture.update(ticket, outcome)
        assert mixture.summary().regret <= mixture.bound().regret


def walk(found: Any) -> list[tuple[Any, Any]]:
    """Return every place of nested lists and dicts."""
    pairs = found.items() if isinstance(found, dict) else enumerate(found)
    places = []
    for key, value in list(pairs):
        places.append((found, key))
        if isinstance(value, dict | list):
            places += walk(value)
    return places


WRONG: list[Any] = [None, True, "x", [], {}, [[]], -1, 10**30, 1e308, -0.5, [None], "1.5"]


@pytest.mark.filterwarnings("ignore:infinite forecasts")
@pytest.mark.parametrize("old", OLD[1:], ids=lambda path: path.stem)
def test_what_is_accepted_of_earlier_versions_can_be_used(old: Path, tmp_path: Path) -> None:
    text, path = old.read_text(), tmp_path / "state.json"
    rng, accepted = np.random.default_rng(0), 0
    for _ in range(150):
        found = json.loads(text)
        places = walk(found)
        where, key = places[rng.integers(len(places))]
        where[key] = WRONG[rng.integers(len(WRONG))]
        path.write_text(json.dumps(found))
        try:
            mixture = Mixture.load(path)
        except ValueError:
            continue
        accepted += 1
        str(mixture.summary())
        mixture.save(path)
        for ticket, waiting in list(mixture.pending.items()):
            keys = waiting.keys
            outcome: Any = 0.5
            if keys is not None:
                outcome = [0.5] * len(keys) if isinstance(keys, range) else dict.fromkeys(keys, 0.5)
            mixture.update(ticket, outcome)
        mixture.predict(dict.fromkeys(mixture.names, 1.0))
    assert accepted < 40  # numbers within their range


EDITS: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda f: f["pending"][0].update(confidence=[[]]), "confidence must lie in"),
    (lambda f: f["pending"][0].update(confidence=None), "confidence must have shape"),
    (lambda f: f["pending"][0]["values"][0].__setitem__(0, "1.0"), "values must lie in"),
    (lambda f: f["pending"][0].update(forecasts=[]), "has no forecasts"),
    (lambda f: f["pending"].append(f["pending"][0]), "out of order"),
    (lambda f: f["pending"][0].update(number=f["rounds"]), "number must be below"),
    (lambda f: f["pending"][0].update(number=True), "number must be a whole number"),
    (lambda f: f["pending"][0].update(more=1), "must have blend, confidence"),
    (lambda f: f["pending"][0]["blend"].update(known=[1, 2]), "times of its outcomes"),
    (lambda f: f["pending"][0]["blend"].update(time="x"), "a time must be"),
    (lambda f: f["pending"][0]["blend"].update(game=1), "game must be below 1"),
    (lambda f: f["pending"][0]["blend"].update(due=-1), "due must be a whole number"),
    (lambda f: f["last_times"].append([0, 3]), "two last times"),
    (lambda f: f["last_times"][0].__setitem__(1, "x"), "a time must be"),
    (lambda f: f["last_times"][0].__setitem__(1, float("inf")), "is not a number of JSON"),
    (lambda f: f.update(time_kind="years"), "time_kind must be"),
    (lambda f: f.update(ids={"1": 99}), "id must be below"),
    (lambda f: f.update(ids={"one": 1}), "cannot be read"),
    (lambda f: f.update(joined_late=0), "joined_late must be"),
    (lambda f: f.update(max_pending=True), "max_pending must be"),
    (lambda f: f.update(history=-1), "history must be"),
    (lambda f: f.update(items=["", ""]), "different words"),
    (lambda f: f.update(more=1), "'more' is not an entry of version 2"),
    (lambda f: f.pop("time_kind"), "'time_kind' is missing"),
    (lambda f: f["recipe"].update(gradient=1), "its gradient must not be 1"),
    (lambda f: f["recipe"].update(combine=None), "its combine must not be None"),
    (lambda f: f["marks"][0][0].__setitem__(0, 1.0), "marks must lie in"),
]


@pytest.mark.parametrize(("edit", "word"), EDITS)
def test_version_2_is_checked_entry_by_entry(
    tmp_path: Path, edit: Callable[[dict[str, Any]], object], word: str
) -> None:
    path = tmp_path / "state.json"
    found = of_a_table(path)
    path.write_text(json.dumps(found))
    assert len(Mixture.load(path).pending) == 2
    edit(found)
    assert word in refused(path, json.dumps(found))


def test_squint_was_not_in_version_1(tmp_path: Path) -> None:
    found = json.loads(OLD[0].read_text())
    found["recipe"]["hedger"] = {"kind": "Squint"}
    assert "version 1 did not have the hedger Squint" in refused(
        tmp_path / "s.json", json.dumps(found)
    )


def test_the_default_was_not_in_version_2(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    found = version_2(json.loads(busy_file(path, Mixture())))
    assert "version 2 did not have the hedger Automatic" in refused(path, json.dumps(found))


def test_components_of_another_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    found = json.loads(busy_file(path, Mixture()))
    del found["checksum"]
    found["recipe"]["hedger"]["components"].pop()
    assert "another version had other components" in refused(path, sealed(found))


def test_a_file_from_before_the_guard_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    found = version_4(json.loads(busy_file(path)))
    sums = found["sums"]
    path.write_text(sealed(found | {"sums": sums[:5]}))
    assert Mixture.load(path).live.expert_sums.tolist() == [*sums[:5], [0.0] * 4]
    assert "sums must have shape (6, 4)" in refused(path, sealed(found | {"sums": sums[:4]}))


def test_losses_of_any_size_are_read_again(tmp_path: Path) -> None:
    """The insurance of auto adds up losses, which are as large as squares of forecasts."""
    mixture = Mixture()
    for t in range(20):
        made = mixture.predict({"a": 0.0, "b": 1e90, "c": 3e89})
        mixture.update(made.ticket, 1e90 * (t % 3 == 0))
    mixture.save(tmp_path / "saved.json")
    assert Mixture.load(tmp_path / "saved.json").bound() == mixture.bound()


def test_a_file_goes_on_with_its_own_prior(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, said = tmp_path / "state.json", {"a": 5.0, "b": 1.0, "c": 2.0}
    with monkeypatch.context() as other_version:
        other_version.setattr("normalhedge.mixtures.rules._components.TRUST", 0.5)
        other_version.setattr("normalhedge.mixtures.rules._automatic.INSURED", 0.5)
        _engine_of.cache_clear()
        mixture = fed(Mixture(), "abc", 20)
        mixture.save(path)
        wanted = [mixture.predict(said).value]
        bound = mixture.bound()
        mixture.update(mixture.next_ticket - 1, 5.0)
        wanted.append(mixture.predict(said).value)
    _engine_of.cache_clear()
    again = Mixture.load(path)
    again.save(tmp_path / "again.json")
    assert path.read_text() == (tmp_path / "again.json").read_text()
    assert again.settings.hedger != Automatic()
    found = [again.predict(said).value]
    assert again.bound() == bound
    again.update(again.next_ticket - 1, 5.0)
    assert [*found, again.predict(said).value] == wanted
    usual = fed(Mixture(), "abc", 20)  # it is another with the prior of this version
    usual.predict(said)
    usual.update(usual.next_ticket - 1, 5.0)
    assert usual.predict(said).value != wanted[-1]


def test_a_file_without_a_prior_has_the_usual_one(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    found = json.loads(busy_file(path, Mixture()))
    del found["checksum"]
    assert Mixture.load(path).settings.hedger == Automatic()
    prior = found["recipe"]["hedger"].pop("prior")
    path.write_text(sealed(found))
    assert Mixture.load(path).settings.hedger == Automatic()
    wrong: list[tuple[Any, str]] = [
        ({**prior, "ways": prior["ways"][1:]}, "prior must have shape"),
        ({**prior, "ways": [1.0, *prior["ways"][1:]]}, "positive weights that sum to one"),
        ({**prior, "insured": 1.0}, "positive weights that sum to one"),
        ({**prior, "insured": None}, "insured must lie in"),
        ({"insured": 0.5}, "'ways' is missing"),
    ]
    for given, word in wrong:
        found["recipe"]["hedger"]["prior"] = given
        assert word in refused(path, sealed(found))


def test_a_file_has_the_entries_of_its_schema() -> None:
    assert write_mixture(Mixture()).keys() == entries_of(VERSION).keys()


def test_a_newer_version_is_refused_by_its_number(tmp_path: Path) -> None:
    found = json.loads(busy_file(tmp_path / "state.json"))
    del found["checksum"]
    message = refused(tmp_path / "state.json", sealed(found | {"version": VERSION + 1}))
    assert f"has version {VERSION + 1}" in message
    assert f"reads up to {VERSION}" in message
