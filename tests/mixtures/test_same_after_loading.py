"""A mixture that was loaded is the mixture that was saved: whatever is asked, the same answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.live.sealed_file import sealed
from normalhedge.mixtures.streams import MixtureFile, Stream
from tests.mixtures.examples import experts
from tests.mixtures.saved_examples import refused


def play(mixture: Mixture, rounds: range, *, items: int = 1) -> None:
    """Play rounds with outcomes that come late and out of order, ids, and experts that sleep."""
    rng = np.random.default_rng(rounds.start)
    for t in rounds:
        said: dict[str, Any] = {
            name: float(rng.normal(k, 1 + k))
            if items == 1
            else dict(zip("xyz", rng.normal(size=3), strict=True))
            for k, name in enumerate(("gam", "ar", "naive", f"new {t // 70}"))
            if rng.random() < 0.9 or not k
        }
        mixture.predict(said, {"gam": 0.5} if t % 11 == 3 else None, id=f"r{t}" if t % 5 else None)
        for ticket in list(mixture.pending)[:-4]:
            if rng.random() < 0.5:
                outcome: Any = float(rng.normal())
                mixture.update(ticket, outcome if items == 1 else {"x": outcome, "z": 1.0})


def with_contexts() -> Mixture:
    mixture = Mixture(interval=(0.5, 0.9), season=3)
    play(mixture, range(100))
    for t in range(150):
        made = mixture.predict({"gam": 1.0 + t % 2, "ar": 2.0}, context={"hour": t % 2})
        mixture.update(made.ticket, float(t % 2))
    return mixture


def of_items() -> Mixture:
    mixture = Mixture(history=30, max_pending=6)
    play(mixture, range(90), items=3)
    return mixture


def single() -> Mixture:
    mixture = Mixture("normal-hedge:alpha=0.1,c=2", "absolute", include="median", shared=False)
    play(mixture, range(120))
    return mixture


def with_departures() -> Mixture:
    mixture = Mixture(history=25)
    play(mixture, range(100))
    mixture.leave("ar")
    mixture.rename("gam", "gam 2")
    mixture.inherit("heir", "gam 2")
    mixture.retire("gam 2")
    play(mixture, range(200, 220))
    return mixture


def of_classes() -> Mixture:
    mixture, rng = Mixture(loss="log"), np.random.default_rng(0)
    for _ in range(120):
        p, q = rng.dirichlet(np.ones(3), 2).tolist()
        mixture.update(mixture.predict({"a": p, "b": q}).ticket, int(rng.integers(3)))
    return mixture


MADE = (with_contexts, of_items, single, with_departures, of_classes)


def answers(mixture: Mixture) -> list[Any]:
    """Return all that a mixture tells."""
    history = [
        (one.ticket, one.rounds, *map(repr, (one.outcomes, *one.round))) for one in mixture.history
    ]
    summary = mixture.summary()
    pending = [repr(round_) for round_ in mixture.pending.items()]
    told = [history, str(summary), repr(summary), pending, mixture.ids, sorted(mixture.retired)]
    return [*told, mixture.names, mixture.items, repr(mixture.weights), mixture.bound()]


def loaded(mixture: Mixture, path: Path) -> Mixture:
    mixture.save(path)
    return Mixture.load(path)


@pytest.mark.parametrize("make", MADE)
def test_it_tells_the_same_and_goes_on_in_the_same_way(
    make: Callable[[], Mixture], tmp_path: Path
) -> None:
    one = make()
    two = loaded(one, tmp_path / "state.json")
    assert answers(one) == answers(two)
    said: dict[str, Any] = dict.fromkeys(one.names, 1.0)
    if one.settings.loss.of_classes:
        said = {name: [0.5, 0.3, 0.2] for name in one.names}
    for _ in range(60):
        for mixture in (one, two):
            mixture.update(mixture.predict(said).ticket, 1)
    assert answers(one) == answers(two)
    one.save(tmp_path / "one.json")
    two.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.parametrize("make", MADE)
def test_each_round_of_the_history_can_be_corrected_as_before(
    make: Callable[[], Mixture], tmp_path: Path
) -> None:
    one = make()
    two, corrected = loaded(one, tmp_path / "state.json"), 0
    for settled in one.history[::-1][::6]:
        outcome: Any = 0 if one.settings.loss.of_classes else 7.0
        keys = settled.round.keys
        outcome = outcome if keys is None else dict.fromkeys(keys, outcome)
        results = []
        for mixture in (one, two):
            try:
                mixture.correct(settled.ticket, outcome)
                results.append("")
            except KeyError as error:
                results.append(str(error))
        assert results[0] == results[1]
        corrected += not results[0]
        assert answers(one) == answers(two)
    assert corrected > 1


def test_the_history_can_be_left_out(tmp_path: Path) -> None:
    mixture, path = of_items(), tmp_path / "state.json"
    size = mixture.save(path)
    assert size == path.stat().st_size
    assert mixture.save(path, history=False) == path.stat().st_size < 0.5 * size
    again = Mixture.load(path)
    assert again.history == []
    assert repr(again.weights) == repr(mixture.weights)
    with pytest.raises(KeyError, match="without its history"):
        again.correct(mixture.history[-1].ticket, {"x": 1.0})


def test_the_facts_of_the_last_table_come_back(tmp_path: Path) -> None:
    forecasts, y = experts(60, np.random.default_rng(0))
    table = {"t": list(range(60)), "y": [*y[:-3, 0].tolist(), None, None, None]}
    table |= {f"m{k}": forecasts[:, 0, k].tolist() for k in range(4)}
    frame = pd.DataFrame(table)
    first = blend(frame, "y", time="t", lag=2, interval=0.9)
    again = loaded(first.mixture, tmp_path / "state.json")
    assert answers(first.mixture) == answers(again)
    repeated = blend(frame, "y", time="t", lag=2, mixture=again)  # nothing is learned twice
    assert repeated.frame.equals(first.frame)


def test_a_stream_goes_on_with_its_history(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    mixture = Mixture()
    stream, file = Stream(mixture), MixtureFile(path)
    for t in range(30):
        stream.reply({"forecasts": {"a": 1.0, "b": 2.0}}, {})
        stream.reply({"ticket": t, "outcome": 1.5}, {})
    file.begin(mixture)
    file.finish(mixture)
    again = MixtureFile(path).load()
    assert again is not None
    assert answers(again) == answers(mixture)


def test_a_retired_expert_has_no_weight_in_the_summary(tmp_path: Path) -> None:
    for hedger in (None, "normal-hedge", "squint"):
        mixture = Mixture(hedger)
        for t in range(60):
            made = mixture.predict({"good": t + 0.1, "fair": t + 0.4, "poor": t - 3.0})
            mixture.update(made.ticket, float(t))
        mixture.retire("good")
        for one in (mixture, loaded(mixture, tmp_path / "state.json")):
            summary = one.summary()
            rows = {row.name: row for row in summary.experts}
            assert rows["good"].weight == one.next_weights()["good"] == 0.0
            assert sum(row.weight for row in rows.values()) == pytest.approx(1.0)
            assert [row.retired for row in rows.values()].count(True) == 1
            assert rows["good"].since is None  # a retired expert is not above the average any more
            assert "good (retired)" in str(summary)


def test_states_are_small(tmp_path: Path) -> None:
    """A state has three numbers of a component for each expert of a series, and some squares."""
    rng, path = np.random.default_rng(0), tmp_path / "state.json"
    mixture = Mixture()
    for _ in range(20):
        keys = [f"series {k}" for k in range(100)]
        said = {f"e{i}": dict(zip(keys, rng.normal(size=100), strict=True)) for i in range(5)}
        made = mixture.predict(said)
        mixture.update(made.ticket, dict.fromkeys(keys, 0.0))
    numbers = sum(getattr(mixture.live, name).size for name in ("ledgers", "totals", "ranges"))
    numbers += mixture.live.equation_squares.size + mixture.live.equation_rows.size
    assert mixture.save(path, history=False) < 8 * numbers


EDITS: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda f: f.pop("settled"), "'settled' is missing"),
    (lambda f: f["settled"].pop("departures"), "history must have"),
    (lambda f: f["settled"].update(rounds=7), "rounds must be a list"),
    (lambda f: f["settled"]["rounds"][0].pop("keys"), "block of rounds must have"),
    (lambda f: f["settled"]["rounds"][0].update(forecasts="!"), "forecasts is not an array"),
    (lambda f: f["settled"]["rounds"][0].update(forecasts="QUJD"), "forecasts is not an array"),
    (lambda f: f["settled"]["rounds"][0].update(shape=[1, 1, 9]), "must have shape"),
    (lambda f: f["settled"]["rounds"][0]["tickets"].pop(), "must be a list"),
    (lambda f: f["settled"]["rounds"][0]["settled"].__setitem__(0, 10**9), "settled must be"),
    (lambda f: f["settled"]["rounds"][0]["outcomes"].__setitem__(0, ["x"]), "outcomes must lie"),
    (lambda f: f["settled"]["rounds"][0]["ids"].__setitem__(0, "{"), "cannot be read"),
    (lambda f: f["settled"].update(departures=[10**6]), "departures must be below"),
    (lambda f: f["settled"]["checkpoints"][0].update(experts=99), "experts must be below"),
    (lambda f: f["settled"]["checkpoints"][0].update(since=-1), "since must be a whole"),
    (lambda f: f["settled"]["checkpoints"][0].update(pending=[10**6]), "cannot be read"),
    (lambda f: f["settled"]["checkpoints"][0].update(weights=f["ledgers"]), "weights must have"),
    (lambda f: f["settled"]["checkpoints"][0].pop("marks"), "'marks' is missing"),
    (lambda f: f.update(weights=f["marks"]), "weights must have shape"),
]


@pytest.mark.parametrize(("edit", "word"), EDITS)
def test_a_history_that_was_tampered_with_is_refused(
    tmp_path: Path, edit: Callable[[dict[str, Any]], object], word: str
) -> None:
    path = tmp_path / "state.json"
    single().save(path)
    found = json.loads(path.read_text())
    del found["checksum"]
    edit(found)
    assert word in refused(path, sealed(found))
